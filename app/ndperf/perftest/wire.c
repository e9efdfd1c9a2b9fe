/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire.h"

#include <endian.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MTU_MIN	   256u
#define MTU_DIGITS 5

static const uint8_t v4_mapped[12] = {[10] = 0xff, [11] = 0xff};

/* LID, reads, number, PSN, key, address, 16 bytes of GID, number of a shared receive queue */
#define FIELDS 23

void
perftest_dest_to_line(const struct perftest_dest *d, char line[PERFTEST_LINE_BYTES])
{
	int at = snprintf(line, PERFTEST_LINE_BYTES,
		"0000:%04x:%06x:%06x:%08x:%016llx:", d->out_reads & 0xffff, d->number & 0xffffff,
		d->psn & 0xffffff, d->rkey, (unsigned long long)d->address);

	for (int i = 0; i < 16; i++)
		at += snprintf(line + at, PERFTEST_LINE_BYTES - (size_t)at, "%02x:", d->gid[i]);
	snprintf(line + at, PERFTEST_LINE_BYTES - (size_t)at, "%08x:", 0);
}

/* Each field ends with a colon. The widths of the fields may differ between perftest's versions, so
 * any width is accepted. */
bool
perftest_dest_of_line(const char line[PERFTEST_LINE_BYTES], struct perftest_dest *d)
{
	unsigned long long v[FIELDS];
	char text[PERFTEST_LINE_BYTES + 1], *at = text, *end;

	memcpy(text, line, PERFTEST_LINE_BYTES);
	text[PERFTEST_LINE_BYTES] = 0;
	for (int i = 0; i < FIELDS; i++) {
		v[i] = strtoull(at, &end, 16);
		if (end == at || *end != ':')
			return false;
		at = end + 1;
	}
	*d = (struct perftest_dest){.out_reads = (uint32_t)v[1],
		.number = (uint32_t)v[2],
		.psn = (uint32_t)v[3],
		.rkey = (uint32_t)v[4],
		.address = v[5]};
	for (int i = 0; i < 16; i++)
		d->gid[i] = (uint8_t)v[6 + i];
	return d->number <= 0xffffff && d->psn <= 0xffffff;
}

/* Offsets in perftest's struct pingpong_dest, which begins with a LID. */
enum { AT_READS = 4, AT_NUMBER = 8, AT_PSN = 12, AT_RKEY = 16, AT_ADDRESS = 24, AT_GID = 32 };

static void
blob_put32(uint8_t *at, uint32_t v)
{
	v = htobe32(v);
	memcpy(at, &v, sizeof(v));
}

static uint32_t
blob_get32(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return be32toh(v);
}

void
perftest_dest_to_blob(const struct perftest_dest *d, uint8_t blob[PERFTEST_BLOB_BYTES])
{
	uint64_t address = htobe64(d->address);

	memset(blob, 0, PERFTEST_BLOB_BYTES);
	blob_put32(blob + AT_READS, d->out_reads);
	blob_put32(blob + AT_NUMBER, d->number);
	blob_put32(blob + AT_PSN, d->psn);
	blob_put32(blob + AT_RKEY, d->rkey);
	memcpy(blob + AT_ADDRESS, &address, sizeof(address));
	memcpy(blob + AT_GID, d->gid, sizeof(d->gid));
}

void
perftest_dest_of_blob(const uint8_t blob[PERFTEST_BLOB_BYTES], struct perftest_dest *d)
{
	memcpy(&d->address, blob + AT_ADDRESS, sizeof(d->address));
	d->address = be64toh(d->address);
	d->out_reads = blob_get32(blob + AT_READS);
	d->number = blob_get32(blob + AT_NUMBER);
	d->psn = blob_get32(blob + AT_PSN);
	d->rkey = blob_get32(blob + AT_RKEY);
	memcpy(d->gid, blob + AT_GID, sizeof(d->gid));
}

void
perftest_gid(const struct app_addr *addr, uint8_t gid[16])
{
	const struct sockaddr_in6 *v6 = (const void *)&addr->ss;
	const struct sockaddr_in *v4 = (const void *)&addr->ss;

	if (addr->ss.ss_family == AF_INET6) {
		memcpy(gid, &v6->sin6_addr, 16);
		return;
	}
	memcpy(gid, v4_mapped, sizeof(v4_mapped));
	memcpy(gid + sizeof(v4_mapped), &v4->sin_addr, 4);
}

void
perftest_address(const uint8_t gid[16], struct app_addr *addr)
{
	struct sockaddr_in6 *v6 = (void *)&addr->ss;
	struct sockaddr_in *v4 = (void *)&addr->ss;

	if (memcmp(gid, v4_mapped, sizeof(v4_mapped)) == 0) {
		app_addr_any(AF_INET, 0, addr);
		memcpy(&v4->sin_addr, gid + sizeof(v4_mapped), 4);
	} else {
		app_addr_any(AF_INET6, 0, addr);
		memcpy(&v6->sin6_addr, gid, 16);
	}
}

static uint64_t
word_of(double v)
{
	uint64_t w;

	memcpy(&w, &v, sizeof(w));
	return htobe64(w);
}

static double
double_of(uint64_t w)
{
	double v;

	w = be64toh(w);
	memcpy(&v, &w, sizeof(v));
	return v;
}

void
perftest_bw_to_words(const struct perftest_bw *b, uint64_t words[PERFTEST_REPORT_WORDS])
{
	words[0] = htobe64(b->bytes);
	words[1] = htobe64(b->iterations);
	words[2] = word_of(b->peak);
	words[3] = word_of(b->average);
	words[4] = word_of(b->rate);
}

void
perftest_bw_of_words(const uint64_t words[PERFTEST_REPORT_WORDS], struct perftest_bw *b)
{
	*b = (struct perftest_bw){.bytes = be64toh(words[0]),
		.iterations = be64toh(words[1]),
		.peak = double_of(words[2]),
		.average = double_of(words[3]),
		.rate = double_of(words[4])};
}

char
perftest_mtu_digit(uint32_t mtu)
{
	int digit = 1;

	while (digit < MTU_DIGITS && MTU_MIN << digit <= mtu)
		digit++;
	return (char)('0' + digit);
}

uint32_t
perftest_mtu_of_digit(char digit)
{
	return digit >= '1' && digit <= '0' + MTU_DIGITS ? MTU_MIN << (digit - '1') : 0;
}
