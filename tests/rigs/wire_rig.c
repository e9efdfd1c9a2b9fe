/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rigs/wire_rig.h"
#include "wire/build.h"
#include "wire/icrc.h"

unsigned
wire_rig_hex(const char *hex, uint8_t *out)
{
	unsigned n = (unsigned)strlen(hex) / 2;

	for (unsigned i = 0; i < n; i++) {
		const char digits[3] = {hex[2 * i], hex[2 * i + 1], 0};

		out[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return n;
}

unsigned
wire_rig_be16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

uint16_t
wire_rig_sport(const struct roce_pkt *pkt)
{
	return (uint16_t)wire_rig_be16(pkt->l3 + (pkt->v6 ? 40 : 20));
}

struct roce_path
wire_rig_path(const uint8_t *frame, const struct roce_pkt *pkt)
{
	struct roce_path path = {.vlan_tci = pkt->vlan_tci,
		.tagged = pkt->tagged,
		.tos = pkt->tos,
		.ttl = pkt->l3[pkt->v6 ? 7 : 8],
		.udp_sport = wire_rig_sport(pkt)};

	memcpy(path.dmac, frame, 6);
	memcpy(path.smac, frame + 6, 6);
	roce_pkt_src_gid(pkt, &path.sgid);
	roce_pkt_dst_gid(pkt, &path.dgid);
	if (pkt->v6)
		path.flow_label = (pkt->l3[1] & 15u) << 16 | wire_rig_be16(pkt->l3 + 2);
	return path;
}

json_t *
wire_rig_vectors(void)
{
	json_error_t err;
	json_t *all = json_load_file(TEST_DATA_DIR "/icrc-vectors.json", 0, &err);

	cr_assert_not_null(all, "%s", err.text);
	return all;
}

const struct roce_path wire_rig_v4 = {
	.sgid.raw = {[10] = 0xff, 0xff, 192, 0, 2, 1},
	.dgid.raw = {[10] = 0xff, 0xff, 192, 0, 2, 2},
	.smac = {2, 0, 0, 0, 0, 1},
	.dmac = {2, 0, 0, 0, 0, 2},
	.tos = 2,
	.ttl = 64,
	.udp_sport = 0xc123,
};
const struct roce_path wire_rig_v6 = {
	.sgid.raw = {0x20, 0x01, 0x0d, 0xb8, [15] = 1},
	.dgid.raw = {0x20, 0x01, 0x0d, 0xb8, [15] = 2},
	.smac = {2, 0, 0, 0, 0, 1},
	.dmac = {2, 0, 0, 0, 0, 2},
	.tos = 2,
	.ttl = 64,
	.udp_sport = 0xc123,
	.flow_label = 0x12345,
};

uint32_t
wire_rig_make(uint8_t *buf, const struct roce_path *path, uint8_t opcode, uint32_t payload_bytes)
{
	const struct roce_pkt pkt = {.opcode = opcode,
		.qpn = 0x112,
		.psn = 0xabc,
		.pkey = ROCE_PKEY_DEFAULT,
		.ackreq = true,
		.payload_bytes = payload_bytes};
	struct roce_hdr_tmpl tmpl;
	uint32_t hdr;

	roce_hdr_tmpl_init(&tmpl, path);
	hdr = roce_wire_build(buf, &tmpl, &pkt, 0x1234);
	for (uint32_t i = 0; i < payload_bytes; i++)
		buf[hdr + i] = (uint8_t)(i * 7);
	return roce_wire_seal(buf, &tmpl, hdr, payload_bytes);
}

/* A copy that ends with a page behind which there is nothing. */
static uint8_t *
copy_at_the_edge(const uint8_t *frame, size_t bytes)
{
	const size_t room = 4 * (size_t)sysconf(_SC_PAGESIZE), page = room / 4;
	static uint8_t *pages;

	cr_assert_leq(bytes, room);
	if (pages == NULL) {
		pages = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
		cr_assert_neq(pages, MAP_FAILED);
		cr_assert_eq(mprotect(pages + room, page, PROT_NONE), 0);
	}
	memcpy(pages + room - bytes, frame, bytes);
	return pages + room - bytes;
}

enum roce_wire_err
wire_rig_parse(const uint8_t *frame, size_t bytes, bool *icrc_ok)
{
	struct roce_pkt pkt;
	enum roce_wire_err err = roce_wire_parse(copy_at_the_edge(frame, bytes), bytes, &pkt);

	if (icrc_ok != NULL)
		*icrc_ok = err == ROCE_WIRE_OK && roce_icrc_ok(&pkt);
	return err;
}

void
wire_rig_fix_checksum(uint8_t *ip)
{
	uint32_t sum = 0;

	ip[10] = ip[11] = 0;
	for (unsigned i = 0; i < (ip[0] & 15u) * 4; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	ip[10] = (uint8_t)(~sum >> 8);
	ip[11] = (uint8_t)~sum;
}
