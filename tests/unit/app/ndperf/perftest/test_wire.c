/* SPDX-License-Identifier: BSD-3-Clause */
/* The values that perftest's ends exchange, as bytes of version 4.5. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "ndperf/perftest/wire.h"

static const uint8_t gid[16] = {[10] = 0xff, [11] = 0xff, 192, 0, 2, 7};
static const struct perftest_dest dest = {.out_reads = 128,
	.number = 0x1a,
	.psn = 0xd5b09e,
	.rkey = 0x5f3,
	.address = 0x7f12a4c01000,
	.gid = {[10] = 0xff, [11] = 0xff, 192, 0, 2, 7}};
static const char line[] = "0000:0080:00001a:d5b09e:000005f3:00007f12a4c01000:"
			   "00:00:00:00:00:00:00:00:00:00:ff:ff:c0:00:02:07:00000000:";

static void
expect_dest(const struct perftest_dest *d)
{
	cr_expect_eq(d->out_reads, dest.out_reads);
	cr_expect_eq(d->number, dest.number);
	cr_expect_eq(d->psn, dest.psn);
	cr_expect_eq(d->rkey, dest.rkey);
	cr_expect_eq(d->address, dest.address);
	cr_expect_arr_eq(d->gid, gid, sizeof(gid));
}

Test(perftest_wire, line)
{
	char text[PERFTEST_LINE_BYTES];
	struct perftest_dest d;

	cr_assert_eq(sizeof(line), PERFTEST_LINE_BYTES);
	perftest_dest_to_line(&dest, text);
	cr_expect_str_eq(text, line);
	cr_assert(perftest_dest_of_line(line, &d));
	expect_dest(&d);
}

/* The peer may be any program: its line may have no end, missing fields, fields that are no numbers
 * or numbers that are too large. */
Test(perftest_wire, lines_that_are_none)
{
	char text[PERFTEST_LINE_BYTES];
	struct perftest_dest d;

	memset(text, '0', sizeof(text));
	cr_expect_not(perftest_dest_of_line(text, &d));
	memset(text, 0, sizeof(text));
	cr_expect_not(perftest_dest_of_line(text, &d));
	memcpy(text, line, sizeof(text));
	text[60] = 0;
	cr_expect_not(perftest_dest_of_line(text, &d));
	memcpy(text, line, sizeof(text));
	text[0] = 'x';
	cr_expect_not(perftest_dest_of_line(text, &d));
	memset(text, 0, sizeof(text));
	snprintf(text, sizeof(text), "0:0:1000000:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:");
	cr_expect_not(perftest_dest_of_line(text, &d));
}

Test(perftest_wire, blob)
{
	uint8_t blob[PERFTEST_BLOB_BYTES];
	struct perftest_dest d = {0};

	perftest_dest_to_blob(&dest, blob);
	cr_expect_eq(blob[11], 0x1a);
	cr_expect_eq(blob[13], 0xd5);
	cr_expect_eq(blob[24 + 2], 0x7f);
	cr_expect_arr_eq(blob + 32, gid, sizeof(gid));
	perftest_dest_of_blob(blob, &d);
	expect_dest(&d);
}

Test(perftest_wire, addresses)
{
	static const char *const texts[] = {"192.0.2.7", "2001:db8::7"};

	for (int i = 0; i < 2; i++) {
		struct app_addr a, b;
		char text[APP_ADDR_TEXT];
		uint8_t g[16];

		cr_assert_null(app_addr_parse(texts[i], 0, &a));
		perftest_gid(&a, g);
		perftest_address(g, &b);
		cr_expect_str_eq(app_addr_text(&b, false, text), texts[i]);
	}
}

Test(perftest_wire, figures)
{
	const struct perftest_bw told = {65536, 5000, 1234.5, 1200.25, 0.0192};
	uint64_t words[PERFTEST_REPORT_WORDS];
	struct perftest_bw heard;
	uint8_t first[8];

	perftest_bw_to_words(&told, words);
	memcpy(first, &words[0], sizeof(first));
	cr_expect_eq(first[5], 1); /* the network's byte order */
	perftest_bw_of_words(words, &heard);
	cr_expect_eq(heard.bytes, told.bytes);
	cr_expect_eq(heard.iterations, told.iterations);
	cr_expect_eq(heard.peak, told.peak);
	cr_expect_eq(heard.average, told.average);
	cr_expect_eq(heard.rate, told.rate);
}

Test(perftest_wire, path_mtu)
{
	for (uint32_t mtu = 256; mtu <= 4096; mtu *= 2)
		cr_expect_eq(perftest_mtu_of_digit(perftest_mtu_digit(mtu)), mtu);
	cr_expect_eq(perftest_mtu_digit(1024), '3');
	cr_expect_eq(perftest_mtu_of_digit('0'), 0);
	cr_expect_eq(perftest_mtu_of_digit('6'), 0);
}
