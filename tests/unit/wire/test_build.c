/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that others made, published vectors and captures of stock peers: parsed, built again. */
#include <criterion/criterion.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/pcap.h"
#include "rigs/wire_rig.h"
#include "wire/build.h"
#include "wire/icrc.h"

#define ETHERTYPE_ROCE_V1 0x8915

/*
 * Encode what was decoded. The path takes over what a sender is free to choose: addresses, VLAN,
 * TOS, TTL, flow label, UDP source port; the IP identification is handed over too. The rest must
 * come out as it stood, but for a UDP checksum, which we never send.
 */
static void
assert_encodes_back(const char *name, const uint8_t *frame, const struct roce_pkt *pkt)
{
	uint8_t *buf = malloc(ROCE_FRAME_MAX), *udp;
	struct roce_path path = wire_rig_path(frame, pkt);
	struct roce_hdr_tmpl tmpl;
	uint32_t hdr, bytes;

	roce_hdr_tmpl_init(&tmpl, &path);
	memset(buf, 0xa5, ROCE_FRAME_MAX);
	hdr = roce_wire_build(buf, &tmpl, pkt, (uint16_t)wire_rig_be16(pkt->l3 + 4));
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

/* W-ICRC-01: the constant start of the engine's CRC is eight ff bytes through the plain one. */
static void
check_masked_input(const char *name, json_t *v, const uint8_t *frame, size_t bytes)
{
	const char *hex = json_string_value(json_object_get(v, "masked_input"));
	uint8_t input[4400];
	uint32_t crc, wire;

	if (hex == NULL)
		return;
	crc = roce_crc32(0, input, wire_rig_hex(hex, input));
	memcpy(&wire, frame + bytes - 4, 4);
	cr_expect_eq(crc, wire, "%s: CRC of the masked input", name);
}

/* checks W-GID-02, W-ICRC-01, W-ICRC-03[1,2], W-ICRC-04[1,2], W-PKT-09[1,2] */
Test(build, every_vector_decodes_and_encodes_back)
{
	static const char *const groups[] = {"captured", "rc", "cm"};
	json_t *all = wire_rig_vectors(), *v;
	unsigned done = 0, v1 = 0;
	size_t i;

	for (unsigned g = 0; g < 3; g++) {
		json_array_foreach(json_object_get(all, groups[g]), i, v)
		{
			const char *name = json_string_value(json_object_get(v, "name"));
			uint8_t frame[4400];
			size_t n =
				wire_rig_hex(json_string_value(json_object_get(v, "frame")), frame);

			check_masked_input(name, v, frame, n);
			if (wire_rig_be16(frame + 12) == ETHERTYPE_ROCE_V1) {
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

/* checks W-RXE-03 */
Test(build, every_frame_of_a_stock_peer_decodes_and_encodes_back)
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

/* checks W-PKT-04[3], W-PKT-09[1,2,6]: no UDP checksum, and as many zeros as make whole words, over
 * whatever lay there; none where there is no payload. */
Test(build, W_PKT_09_the_pad)
{
	static const uint8_t bare[] = {
		ROCE_READ_REQUEST, ROCE_ACK, ROCE_CMP_SWAP, ROCE_FETCH_ADD, ROCE_ATOMIC_ACK};

	for (unsigned i = 0; i < 2 * (9 + sizeof(bare)); i++) {
		const struct roce_path *path = i & 1 ? &wire_rig_v6 : &wire_rig_v4;
		const uint32_t n = i / 2 < 9 ? i / 2 : 0, pad = (4 - n % 4) % 4;
		const uint8_t opcode = i / 2 < 9 ? ROCE_SEND_ONLY : bare[i / 2 - 9];
		const struct roce_pkt pkt = {
			.opcode = opcode, .pkey = ROCE_PKEY_DEFAULT, .payload_bytes = n};
		uint8_t buf[ROCE_FRAME_MAX];
		struct roce_hdr_tmpl tmpl;
		uint32_t hdr, bytes;

		roce_hdr_tmpl_init(&tmpl, path);
		hdr = roce_wire_build(buf, &tmpl, &pkt, 0);
		memset(buf + hdr, 0xa5, sizeof(buf) - hdr);
		cr_assert_eq(hdr, tmpl.len + (uint32_t)roce_opcode_info[opcode].hdr_bytes);
		bytes = roce_wire_seal(buf, &tmpl, hdr, n);
		cr_assert_eq(bytes, hdr + n + pad + 4);
		cr_assert_eq(buf[tmpl.len + 1] >> 4 & 3, pad);
		for (uint32_t k = 0; k < n; k++)
			cr_assert_eq(buf[hdr + k], 0xa5);
		for (uint32_t k = 0; k < pad; k++)
			cr_assert_eq(buf[hdr + n + k], 0);
		cr_assert_eq(buf[bytes], 0xa5, "nothing is written behind the frame");
		cr_assert_eq(wire_rig_be16(buf + tmpl.len - 2), 0, "checksum");
	}
}

/*
 * checks W-CC-02: a connection of any class and source port makes that very CNP. Of the IPv4
 * header's checksum, too: a stock station drops what has a wrong one.
 */
static void
assert_same_cnp(const char *hex)
{
	uint8_t frame[128], buf[ROCE_FRAME_MAX];
	size_t n = wire_rig_hex(hex, frame);
	struct roce_hdr_tmpl tmpl;
	struct roce_path path;
	struct roce_pkt pkt;
	uint32_t hdr;

	cr_assert_eq(n, 74);
	cr_assert_eq(roce_wire_parse(frame, n, &pkt), ROCE_WIRE_OK);
	path = wire_rig_path(frame, &pkt);
	path.udp_sport = 0xc123;
	for (unsigned tos = 0; tos < 256; tos++) {
		path.tos = (uint8_t)tos;
		roce_hdr_tmpl_init(&tmpl, &path);
		hdr = roce_wire_build_cnp(buf, &tmpl, pkt.qpn, (uint16_t)wire_rig_be16(pkt.l3 + 4));
		cr_assert_eq(roce_wire_seal(buf, &tmpl, hdr, ROCE_CNP_ZEROS), n);
		cr_assert_arr_eq(buf, frame, n, "traffic class %u", tos);
	}
}

/* checks W-CC-02[1,3,4,5] */
Test(build, w_cc_02_the_cnp_of_hardware)
{
	static const char *const groups[] = {"captured", "rc"};
	json_t *all = wire_rig_vectors(), *v;
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

/*
 * checks W-CC-02[4,5,6]: over IPv6, and with the priority that belongs to its class, unless all
 * have one.
 */
Test(build, w_cc_02_a_cnp_in_a_vlan)
{
	static const struct {
		bool class_priority;
		uint16_t before, after;
	} of[] = {{true, 3 << 13 | 100, 6 << 13 | 100}, {false, 3 << 13 | 100, 3 << 13 | 100},
		{true, 0, 0}};

	for (unsigned i = 0; i < 3; i++) {
		struct roce_path path = {.sgid.raw = {0xfd, [15] = 1},
			.dgid.raw = {0xfd, [15] = 2},
			.ttl = 7,
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
		n = roce_wire_seal(
			buf, &tmpl, roce_wire_build_cnp(buf, &tmpl, 0x112, 0), ROCE_CNP_ZEROS);
		cr_assert_eq(roce_wire_parse(buf, n, &pkt), ROCE_WIRE_OK);
		cr_expect(roce_icrc_ok(&pkt));
		cr_expect_eq(pkt.tos, 0xc2);
		cr_expect_eq(pkt.vlan_tci, of[i].after);
		cr_expect_eq(wire_rig_sport(&pkt), 0);
		cr_expect_eq(pkt.qpn, 0x112);
		cr_expect(pkt.becn && !pkt.mig && pkt.psn == 0);
		cr_expect_eq(wire_rig_be16(pkt.l3 + 2), 0xbcde, "the flow label stays");
		cr_expect_eq(pkt.l3[1] & 15, 0xa);
		cr_expect_eq(pkt.l3[7], 7, "nor does the hop limit change");
	}
}

/* Every sum that a header can have, with every carry. */
Test(build, ipv4_checksums_are_right)
{
	static const uint8_t classes[] = {0, 1, 2, 0x88, 0xc0, 0xff};

	for (unsigned from = 0; from < sizeof(classes); from++)
		for (uint32_t id = 0; id < 65536; id++) {
			struct roce_path path = wire_rig_v4;
			const struct roce_pkt pkt = {.opcode = ROCE_ACK, .pkey = ROCE_PKEY_DEFAULT};
			const unsigned to = id % sizeof(classes);
			uint8_t frame[ROCE_FRAME_MAX];
			struct roce_hdr_tmpl tmpl;
			struct roce_pkt seen;

			path.tos = classes[from];
			roce_hdr_tmpl_init(&tmpl, &path);
			cr_assert_eq(tmpl.tos, classes[from]);
			(void)roce_wire_build(frame, &tmpl, &pkt, (uint16_t)id);
			cr_assert_eq(roce_wire_parse(frame, 62, &seen), ROCE_WIRE_OK, "%u", id);
			for (unsigned k = 0; k <= to; k++)
				roce_wire_set_tos(
					frame, &tmpl, classes[(from + k) % sizeof(classes)]);
			cr_assert_eq(roce_wire_parse(frame, 62, &seen), ROCE_WIRE_OK, "%u", id);
			cr_assert_eq(seen.tos, classes[(from + to) % sizeof(classes)]);
		}
}

/* QPNs, PSNs and MSNs have 24 bits, whatever is above: reserved bits beside them are sent 0. */
Test(build, numbers_have_24_bits)
{
	const struct roce_pkt datagram = {.opcode = ROCE_UD_SEND_ONLY,
				      .qpn = 0xff000112,
				      .psn = 0xff000abc,
				      .src_qpn = 0xff000113},
			      ack = {.opcode = ROCE_ACK, .msn = 0xff000007, .syndrome = 0x1f};
	uint8_t buf[ROCE_HDR_MAX], *bth;
	struct roce_hdr_tmpl tmpl;

	roce_hdr_tmpl_init(&tmpl, &wire_rig_v4);
	bth = buf + tmpl.len;
	(void)roce_wire_build(buf, &tmpl, &datagram, 0);
	cr_expect_arr_eq(bth + 4, "\0\0\1\x12", 4, "destination QPN");
	cr_expect_arr_eq(bth + 8, "\0\0\x0a\xbc", 4, "PSN");
	cr_expect_arr_eq(bth + 16, "\0\0\1\x13", 4, "source QPN");
	(void)roce_wire_build(buf, &tmpl, &ack, 0);
	cr_expect_arr_eq(bth + 12, "\x1f\0\0\7", 4, "syndrome and MSN");
}

/* 20 bits of a flow label, whatever is above: version and class stay what they are. */
Test(build, flow_labels_have_20_bits)
{
	struct roce_path path = wire_rig_v6;
	struct roce_hdr_tmpl tmpl;

	path.tos = 0x5a;
	path.flow_label = 0xfff12345;
	roce_hdr_tmpl_init(&tmpl, &path);
	cr_expect_arr_eq(tmpl.bytes + WIRE_RIG_L3, "\x65\xa1\x23\x45", 4);
}
