/* SPDX-License-Identifier: BSD-3-Clause */
/* The codecs against frames that others made: published vectors and captures of stock peers. */
#include <criterion/criterion.h>
#include <glob.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/pcap.h"
#include "wire/wire.h"

#define ETHERTYPE_ROCE_V1 0x8915

static unsigned
hex_bytes(const char *hex, uint8_t *out)
{
	unsigned n = (unsigned)strlen(hex) / 2;

	for (unsigned i = 0; i < n; i++) {
		const char digits[3] = {hex[2 * i], hex[2 * i + 1], 0};

		out[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return n;
}

static unsigned
be16_at(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static uint16_t
sport_of(const struct roce_pkt *pkt)
{
	return (uint16_t)be16_at(pkt->l3 + (pkt->v6 ? 40 : 20));
}

static struct roce_path
path_of(const uint8_t *frame, const struct roce_pkt *pkt)
{
	struct roce_path path = {.vlan_tci = pkt->vlan_tci,
		.tagged = pkt->tagged,
		.tos = pkt->tos,
		.ttl = pkt->l3[pkt->v6 ? 7 : 8],
		.udp_sport = sport_of(pkt)};

	memcpy(path.dmac, frame, 6);
	memcpy(path.smac, frame + 6, 6);
	roce_pkt_src_gid(pkt, &path.sgid);
	roce_pkt_dst_gid(pkt, &path.dgid);
	if (pkt->v6)
		path.flow_label = (pkt->l3[1] & 15u) << 16 | be16_at(pkt->l3 + 2);
	return path;
}

/*
 * Encode what was decoded. The path takes over what a sender is free to choose: addresses, VLAN,
 * TOS, TTL, flow label, UDP source port; the IP identification is handed over too. The rest must
 * come out as it stood, but for a UDP checksum, which we never send.
 */
static void
assert_encodes_back(const char *name, const uint8_t *frame, const struct roce_pkt *pkt)
{
	uint8_t *buf = malloc(ROCE_FRAME_MAX), *udp;
	struct roce_path path = path_of(frame, pkt);
	struct roce_hdr_tmpl tmpl;
	uint32_t hdr, bytes;

	roce_hdr_tmpl_init(&tmpl, &path);
	memset(buf, 0xa5, ROCE_FRAME_MAX);
	hdr = roce_wire_build(buf, &tmpl, pkt, (uint16_t)be16_at(pkt->l3 + 4));
	memcpy(buf + hdr, pkt->payload, pkt->payload_bytes);
	bytes = roce_wire_seal(buf, &tmpl, hdr, pkt->payload_bytes);
	udp = buf + tmpl.len - 8;
	memcpy(udp + 6, frame + (udp - buf) + 6, 2);
	cr_expect_arr_eq(buf, frame, bytes, "%s: %s does not encode back", name,
		roce_opcode_info[pkt->opcode].name);
	cr_expect_eq(bytes, pkt->payload + pkt->payload_bytes + pkt->pad + 4 - frame, "%s", name);
	free(buf);
}

static void
check_frame(const char *name, const uint8_t *frame, size_t bytes)
{
	uint8_t *exact = malloc(bytes); /* so that a sanitizer sees the first byte too many */
	struct roce_pkt pkt;
	enum roce_wire_err err;

	memcpy(exact, frame, bytes);
	err = roce_wire_parse(exact, bytes, &pkt);
	cr_assert_eq(err, ROCE_WIRE_OK, "%s: error %d", name, err);
	cr_expect(roce_icrc_ok(&pkt), "%s: ICRC", name);
	assert_encodes_back(name, exact, &pkt);
	free(exact);
}

static json_t *
load_vectors(void)
{
	json_error_t err;
	json_t *all = json_load_file(TEST_DATA_DIR "/icrc-vectors.json", 0, &err);

	cr_assert_not_null(all, "%s", err.text);
	return all;
}

/* W-ICRC-01: the constant start of the engine's CRC is eight ff bytes through the plain one. */
static void
check_masked_input(const char *name, json_t *v, const uint8_t *frame, size_t bytes)
{
	const char *hex = json_string_value(json_object_get(v, "masked_input"));
	uint8_t input[4400];
	uint32_t crc, wire;

	if (hex == NULL)
		return;
	crc = roce_crc32(0, input, hex_bytes(hex, input));
	memcpy(&wire, frame + bytes - 4, 4);
	cr_expect_eq(crc, wire, "%s: CRC of the masked input", name);
}

/* checks W-ICRC-01, W-ICRC-04, W-PKT-09 */
Test(wire, every_vector_decodes_and_encodes_back)
{
	static const char *const groups[] = {"captured", "rc", "cm"};
	json_t *all = load_vectors(), *v;
	unsigned done = 0, v1 = 0;
	size_t i;

	for (unsigned g = 0; g < 3; g++) {
		json_array_foreach(json_object_get(all, groups[g]), i, v)
		{
			const char *name = json_string_value(json_object_get(v, "name"));
			uint8_t frame[4400];
			size_t n = hex_bytes(json_string_value(json_object_get(v, "frame")), frame);

			check_masked_input(name, v, frame, n);
			if (be16_at(frame + 12) == ETHERTYPE_ROCE_V1) {
				struct roce_pkt pkt;

				cr_expect_eq(roce_wire_parse(frame, n, &pkt), ROCE_WIRE_NOT_ROCE);
				v1++;
				continue;
			}
			check_frame(name, frame, n);
			done++;
		}
	}
	cr_assert_eq(done, 47);
	cr_assert_eq(v1, 2);
	json_decref(all);
}

/*
 * checks W-CC-02: a connection of any class and source port makes that very CNP. Of the IPv4
 * header's checksum, too: a stock station drops what has a wrong one.
 */
static void
assert_same_cnp(const char *hex)
{
	uint8_t frame[128], buf[ROCE_FRAME_MAX];
	size_t n = hex_bytes(hex, frame);
	struct roce_hdr_tmpl tmpl;
	struct roce_path path;
	struct roce_pkt pkt;
	uint32_t hdr;

	cr_assert_eq(n, 74);
	cr_assert_eq(roce_wire_parse(frame, n, &pkt), ROCE_WIRE_OK);
	path = path_of(frame, &pkt);
	path.udp_sport = 0xc123;
	for (unsigned tos = 0; tos < 256; tos++) {
		path.tos = (uint8_t)tos;
		roce_hdr_tmpl_init(&tmpl, &path);
		hdr = roce_wire_build_cnp(buf, &tmpl, pkt.qpn, (uint16_t)be16_at(pkt.l3 + 4));
		cr_assert_eq(roce_wire_seal(buf, &tmpl, hdr, 0), n);
		cr_assert_arr_eq(buf, frame, n, "traffic class %u", tos);
	}
}

Test(wire, w_cc_02_the_cnp_of_hardware)
{
	static const char *const groups[] = {"captured", "rc"};
	json_t *all = load_vectors(), *v;
	unsigned found = 0;
	size_t i;

	for (unsigned g = 0; g < 2; g++) {
		json_array_foreach(json_object_get(all, groups[g]), i, v)
		{
			const char *name = json_string_value(json_object_get(v, "name"));

			if (strcmp(name, "cnp") != 0 && strcmp(name, "cap_cx4lx_cnp") != 0)
				continue;
			assert_same_cnp(json_string_value(json_object_get(v, "frame")));
			found++;
		}
	}
	cr_assert_eq(found, 2);
	json_decref(all);
}

/* Over IPv6, and with the priority that belongs to its class, unless all have one. */
Test(wire, w_cc_02_a_cnp_in_a_vlan)
{
	static const struct {
		bool class_priority;
		uint16_t before, after;
	} of[] = {{true, 3 << 13 | 100, 6 << 13 | 100}, {false, 3 << 13 | 100, 3 << 13 | 100},
		{true, 0, 0}};

	for (unsigned i = 0; i < 3; i++) {
		struct roce_path path = {.sgid.raw = {0xfd, [15] = 1},
			.dgid.raw = {0xfd, [15] = 2},
			.ttl = 64,
			.tos = 26 << 2,
			.flow_label = 0xabcde,
			.udp_sport = 0xc123,
			.vlan_tci = of[i].before,
			.tagged = of[i].before != 0,
			.class_priority = of[i].class_priority};
		uint8_t buf[ROCE_FRAME_MAX];
		struct roce_hdr_tmpl tmpl;
		struct roce_pkt pkt;
		uint32_t n;

		roce_hdr_tmpl_init(&tmpl, &path);
		n = roce_wire_seal(buf, &tmpl, roce_wire_build_cnp(buf, &tmpl, 0x112, 0), 0);
		cr_assert_eq(roce_wire_parse(buf, n, &pkt), ROCE_WIRE_OK);
		cr_expect(roce_icrc_ok(&pkt));
		cr_expect_eq(pkt.tos, 0xc2);
		cr_expect_eq(pkt.vlan_tci, of[i].after);
		cr_expect_eq(sport_of(&pkt), 0);
		cr_expect_eq(pkt.qpn, 0x112);
		cr_expect(pkt.becn && !pkt.mig && pkt.psn == 0);
		cr_expect_eq(be16_at(pkt.l3 + 2), 0xbcde, "the flow label stays");
		cr_expect_eq(pkt.l3[1] & 15, 0xa);
	}
}

Test(wire, fields_of_vectors)
{
	struct pcap_file f;
	const uint8_t *frame;
	struct roce_pkt p, seen[256] = {0};
	size_t n;

	pcap_open(&f, "vectors.pcap");
	while ((frame = pcap_next(&f, &n)) != NULL) {
		if (roce_wire_parse(frame, n, &p) != ROCE_WIRE_OK)
			continue;
		if (seen[p.opcode].l3 == NULL)
			seen[p.opcode] = p;
	}
	p = seen[ROCE_SEND_ONLY]; /* the worked example of the reference */
	cr_expect(p.qpn == 0x112 && p.psn == 0xabc && p.ackreq && p.mig && !p.se && p.pad == 3);
	cr_expect(p.payload_bytes == 5 && memcmp(p.payload, "hello", 5) == 0);
	cr_expect(sport_of(&p) == 0xc123 && p.tos == 2 && p.l3[8] == 64 && !p.v6);
	p = seen[ROCE_SEND_LAST_IMM];
	cr_expect(memcmp(&p.imm, "\xde\xad\xbe\xef", 4) == 0, "ImmDt stays in wire order");
	p = seen[ROCE_WRITE_FIRST];
	cr_expect(p.va == 0x7f1234560000 && p.rkey == 0x1e01 && p.dma_bytes == 0x300);
	p = seen[ROCE_READ_RESP_ONLY];
	cr_expect(p.syndrome == ROCE_SYN_ACK && p.msn == 7 && p.payload_bytes == 3);
	p = seen[ROCE_CMP_SWAP];
	cr_expect(p.va == 0x7f1234560008 && p.swap_add == 0x1122334455667788 &&
		  p.compare == 0x8877665544332211);
	cr_expect_eq(seen[ROCE_ATOMIC_ACK].atomic_orig, 0x8877665544332211);
	cr_expect_eq(seen[ROCE_SEND_ONLY_INV].ieth, 0x1e01u);
	cr_expect_eq(seen[ROCE_FLUSH].feth, 1u);
	p = seen[ROCE_UD_SEND_ONLY];
	cr_expect(p.qpn == 1 && p.src_qpn == 1 && p.qkey == ROCE_QKEY_GSI);
	cr_expect(seen[ROCE_CNP].becn && seen[ROCE_CNP].payload_bytes == 0);
	pcap_close(&f);
}

/* W-PKT-10: what is not RC can't be taken for a request or response. */
Test(wire, W_PKT_10_only_rc_is_request_or_response)
{
	for (unsigned op = 0; op < 256; op++) {
		unsigned f = roce_opcode_info[op].flags;
		bool rc = (f & (ROCE_OPF_REQUEST | ROCE_OPF_RESPONSE)) != 0;

		cr_expect_eq(rc, op < 0x20 && (f & ROCE_OPF_VALID), "opcode %#x", op);
		cr_expect_eq(roce_opcode_info[op].name != NULL, (f & ROCE_OPF_VALID) != 0);
	}
}

Test(wire, every_frame_of_a_stock_peer_decodes_and_encodes_back)
{
	unsigned files = 0, frames = 0;
	glob_t g;

	cr_assert_eq(glob(TEST_DATA_DIR "/rxe/*.pcap", 0, NULL, &g), 0);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		const char *name = g.gl_pathv[i] + strlen(TEST_DATA_DIR) + 1;
		struct pcap_file f;
		const uint8_t *frame;
		size_t n;

		pcap_open(&f, name);
		while ((frame = pcap_next(&f, &n)) != NULL) {
			struct roce_pkt pkt;

			if (roce_wire_parse(frame, n, &pkt) == ROCE_WIRE_NOT_ROCE)
				continue; /* ARP, the programs' TCP, multicast membership */
			check_frame(name, frame, n);
			frames++;
		}
		pcap_close(&f);
		files++;
	}
	globfree(&g);
	cr_assert_eq(files, 39);
	cr_assert_eq(frames, 2471);
}

/* An IPv6 address is its own GID, an IPv4 address in its mapped form; so on the way in and out. */
Test(wire, W_GID_01_addresses_are_gids)
{
	static const uint8_t v4[] = {192, 0, 2, 1};
	static const struct roce_gid mapped = {{[10] = 0xff, 0xff, 192, 0, 2, 1}},
				     six = {{0x20, 0x01, 0x0d, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
					     11, 12}};
	const struct roce_pkt out = {.opcode = ROCE_ACK, .qpn = 5, .pkey = ROCE_PKEY_DEFAULT};
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_hdr_tmpl tmpl;
	struct roce_gid gid;
	struct roce_pkt in;

	roce_gid_from_v4(&gid, v4);
	cr_assert(roce_gid_equal(&gid, &mapped));
	cr_assert(roce_gid_is_v4(&mapped) && !roce_gid_is_v4(&six));
	for (unsigned v6 = 0; v6 < 2; v6++) {
		struct roce_path path = {
			.sgid = v6 ? six : mapped, .dgid = v6 ? six : mapped, .ttl = 64};
		const uint8_t *address = v6 ? six.raw : v4;
		uint32_t n, at = v6 ? 14 + 8 : 14 + 12, bytes = v6 ? 16 : 4;

		path.dgid.raw[15]++;
		roce_hdr_tmpl_init(&tmpl, &path);
		n = roce_wire_build(frame, &tmpl, &out, 0);
		n = roce_wire_seal(frame, &tmpl, n, 0);
		cr_assert_arr_eq(frame + at, address, bytes);
		cr_assert_arr_eq(frame + at + bytes, address, bytes - 1);
		cr_assert_eq(roce_wire_parse(frame, n, &in), ROCE_WIRE_OK);
		cr_assert_eq(in.v6, v6);
		roce_pkt_src_gid(&in, &gid);
		cr_assert(roce_gid_equal(&gid, &path.sgid));
		roce_pkt_dst_gid(&in, &gid);
		cr_assert(roce_gid_equal(&gid, &path.dgid));
	}
}
