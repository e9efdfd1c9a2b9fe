/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that are right, and frames that are wrong: each length, each rule of W-PKT. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/pcap.h"
#include "rigs/wire_rig.h"
#include "wire/aeth.h"
#include "wire/icrc.h"
#include "wire/packet.h"

/* checks W-ATOM-03[3] */
Test(parse, fields_of_vectors)
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
	cr_expect(wire_rig_sport(&p) == 0xc123 && p.tos == 2 && p.l3[8] == 64 && !p.v6);
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
	cr_expect(seen[ROCE_CNP].becn && seen[ROCE_CNP].payload_bytes == ROCE_CNP_ZEROS);
	pcap_close(&f);
}

/* checks W-PKT-03[3]: every frame cut at every length: never OK, and nothing is read outside. */
Test(parse, truncation_at_every_length)
{
	struct pcap_file f;
	const uint8_t *frame;
	size_t n;

	pcap_open(&f, "vectors.pcap");
	while ((frame = pcap_next(&f, &n)) != NULL) {
		if (wire_rig_parse(frame, n, NULL) != ROCE_WIRE_OK)
			continue;
		for (size_t cut = 0; cut < n; cut++) {
			enum roce_wire_err err = wire_rig_parse(frame, cut, NULL);

			cr_expect_eq(err, ROCE_WIRE_TRUNCATED, "%zu of %zu bytes: %d", cut, n, err);
		}
	}
	pcap_close(&f);
}

/* Whatever a frame says, what the parser accepts lies inside of it. */
Test(parse, damaged_frames_never_point_outside)
{
	struct pcap_file f;
	const uint8_t *frame;
	uint64_t rng = 1;
	size_t n;

	pcap_open(&f, "vectors.pcap");
	while ((frame = pcap_next(&f, &n)) != NULL) {
		uint8_t *copy = malloc(n);

		for (unsigned round = 0; round < 2000; round++) {
			struct roce_pkt pkt;

			memcpy(copy, frame, n);
			for (unsigned i = 0; i <= round % 4; i++) {
				rng = rng * 6364136223846793005u + 1442695040888963407u;
				copy[12 + (rng >> 40) % (n - 12)] = (uint8_t)(rng >> 32);
			}
			if (roce_wire_parse(copy, n, &pkt) != ROCE_WIRE_OK)
				continue;
			(void)roce_icrc_ok(&pkt);
			cr_assert(pkt.l3 > copy && pkt.payload > pkt.l3 &&
				  pkt.payload + pkt.payload_bytes + pkt.pad + 4 <= copy + n);
		}
		free(copy);
	}
	pcap_close(&f);
}

/* checks W-PKT-03[1,2]: lengths come from IP, whatever lies behind the packet. */
Test(parse, W_PKT_03_trailer_is_ignored)
{
	for (unsigned v6 = 0; v6 < 2; v6++)
		for (uint32_t bytes = 0; bytes < 6; bytes++) {
			uint8_t frame[128];
			uint32_t n = wire_rig_make(
				frame, v6 ? &wire_rig_v6 : &wire_rig_v4, ROCE_SEND_ONLY, bytes);

			if (!v6 && bytes == 0)
				cr_assert_eq(n, 58);
			memset(frame + n, 0xa5, sizeof(frame) - n);
			for (uint32_t trailer = 0; trailer < 32; trailer++) {
				struct roce_pkt pkt;

				cr_assert_eq(
					roce_wire_parse(frame, n + trailer, &pkt), ROCE_WIRE_OK);
				cr_assert_eq(pkt.payload_bytes, bytes);
				cr_assert(roce_icrc_ok(&pkt));
			}
		}
}

/* checks W-PKT-05[3], W-PKT-09[5]: whatever the opcode, there is room for all headers and the ICRC,
 * and for the pad that the BTH tells. */
Test(parse, W_PKT_05_room_for_all_headers)
{
	for (unsigned i = 0; i < 2 * 256; i++) {
		const bool v6 = i & 1;
		const uint8_t opcode = (uint8_t)(i / 2);
		const unsigned udp = WIRE_RIG_L3 + (v6 ? 40 : 20),
			       total = WIRE_RIG_L3 + (v6 ? 4 : 2);
		const struct roce_opcode_desc *op = &roce_opcode_info[opcode];
		uint8_t frame[256];
		uint32_t n;

		if (!(op->flags & ROCE_OPF_VALID))
			continue;
		n = wire_rig_make(frame, v6 ? &wire_rig_v6 : &wire_rig_v4, opcode, 0);
		cr_assert_eq(n, udp + 8u + op->hdr_bytes + 4u);
		cr_assert_eq(wire_rig_parse(frame, n, NULL), ROCE_WIRE_OK, "%#x", opcode);
		for (unsigned less = 1; less < op->hdr_bytes; less++) {
			uint8_t cut[256];

			memcpy(cut, frame, sizeof(cut));
			cut[udp + 5] = (uint8_t)(cut[udp + 5] - less);
			cr_assert_eq(wire_rig_parse(cut, n, NULL), ROCE_WIRE_LENGTH);
			cut[total + 1] = (uint8_t)(cut[total + 1] - less);
			if (!v6)
				wire_rig_fix_checksum(cut + WIRE_RIG_L3);
			cr_assert_eq(wire_rig_parse(cut, n, NULL), ROCE_WIRE_LENGTH, "%#x, %u less",
				opcode, less);
			cut[udp + 5] = (uint8_t)(cut[udp + 5] + less);
			cr_assert_eq(wire_rig_parse(cut, n, NULL), ROCE_WIRE_LENGTH);
		}
		for (unsigned pad = 1; pad < 4; pad++) {
			frame[udp + 8 + 1] = (uint8_t)(pad << 4);
			cr_assert_eq(wire_rig_parse(frame, n, NULL), ROCE_WIRE_LENGTH);
		}
	}
}

/* checks W-PKT-12[1,2,4]: full member or not, and no other key; that of a CNP is whatever it is. */
Test(parse, W_PKT_12_keys_of_partitions)
{
	static const uint16_t others[] = {0, 0x8000, 0x1234, 0x9234};
	uint8_t frame[256];
	uint32_t n = wire_rig_make(frame, &wire_rig_v4, ROCE_SEND_ONLY, 8);

	for (unsigned i = 0; i < 16 + 4; i++) {
		const uint16_t key = i < 16 ? (uint16_t)(0xffff ^ 1u << i) : others[i - 16];

		frame[WIRE_RIG_L3 + 30] = (uint8_t)(key >> 8);
		frame[WIRE_RIG_L3 + 31] = (uint8_t)key;
		cr_assert_eq(wire_rig_parse(frame, n, NULL),
			key == 0x7fff ? ROCE_WIRE_OK : ROCE_WIRE_PKEY, "%#x", key);
	}
	n = wire_rig_make(frame, &wire_rig_v4, ROCE_CNP, 16);
	for (unsigned i = 0; i < 4; i++) {
		frame[WIRE_RIG_L3 + 30] = (uint8_t)(others[i] >> 8);
		frame[WIRE_RIG_L3 + 31] = (uint8_t)others[i];
		cr_assert_eq(wire_rig_parse(frame, n, NULL), ROCE_WIRE_OK);
	}
}

/* One byte of a good frame changed (IPv4 checksum made right again): what the parser says. */
struct change {
	bool v6;
	uint8_t opcode;
	unsigned off; /* from the IP header */
	uint8_t value;
	enum roce_wire_err want;
};

/*
 * checks W-COMP-15[2], W-ICRC-07[1,2], W-PKT-05[1,2], W-PKT-08[3], W-PKT-09[5,7], W-PKT-11[1],
 * W-PKT-12[1,2]
 */
Test(parse, W_PKT_rules_give_the_right_error)
{
	static const struct change changes[] = {
		{false, ROCE_SEND_ONLY, 0, 0x65, ROCE_WIRE_IP_HEADER},
		{false, ROCE_SEND_ONLY, 0, 0x44, ROCE_WIRE_IP_HEADER},
		{false, ROCE_SEND_ONLY, 0, 0x55, ROCE_WIRE_IP_HEADER},
		{false, ROCE_SEND_ONLY, 9, 6, ROCE_WIRE_NOT_ROCE},
		{false, ROCE_SEND_ONLY, 6, 0x20, ROCE_WIRE_IP_HEADER}, /* more fragments */
		{false, ROCE_SEND_ONLY, 7, 0x01, ROCE_WIRE_IP_HEADER}, /* a later one */
		{false, ROCE_SEND_ONLY, 22, 0x12, ROCE_WIRE_OK},       /* UDP port, same value */
		{false, ROCE_SEND_ONLY, 23, 0xb8, ROCE_WIRE_NOT_ROCE},
		{false, ROCE_SEND_ONLY, 3, 0x33, ROCE_WIRE_LENGTH}, /* IP 1 less than UDP */
		{false, ROCE_SEND_ONLY, 3, 0x35, ROCE_WIRE_TRUNCATED},
		{false, ROCE_SEND_ONLY, 3, 19, ROCE_WIRE_LENGTH},
		{false, ROCE_SEND_ONLY, 25, 0x1f, ROCE_WIRE_LENGTH}, /* W-PKT-05 */
		{false, ROCE_SEND_ONLY, 25, 0, ROCE_WIRE_LENGTH},
		{true, ROCE_SEND_ONLY, 0, 0x40, ROCE_WIRE_IP_HEADER},
		{true, ROCE_SEND_ONLY, 5, 0x1f, ROCE_WIRE_LENGTH},
		{true, ROCE_SEND_ONLY, 5, 0x21, ROCE_WIRE_TRUNCATED},
		{true, ROCE_SEND_ONLY, 45, 0x1f, ROCE_WIRE_LENGTH},
		{true, ROCE_SEND_ONLY, 45, 0x21, ROCE_WIRE_LENGTH},
		{false, ROCE_SEND_ONLY, 25, 0x21, ROCE_WIRE_LENGTH},
		{true, ROCE_SEND_ONLY, 6, 58, ROCE_WIRE_NOT_ROCE},
		{true, ROCE_SEND_ONLY, 6, 44, ROCE_WIRE_NOT_ROCE}, /* a fragment */
		{true, ROCE_SEND_ONLY, 43, 0xb8, ROCE_WIRE_NOT_ROCE},
		{false, ROCE_SEND_ONLY, 29, 0x31, ROCE_WIRE_TVER}, /* W-PKT-11 */
		{false, ROCE_SEND_ONLY, 29, 0x32, ROCE_WIRE_TVER},
		{false, ROCE_SEND_ONLY, 29, 0x34, ROCE_WIRE_TVER},
		{false, ROCE_SEND_ONLY, 29, 0x38, ROCE_WIRE_TVER},
		{false, ROCE_SEND_ONLY, 28, 0x15, ROCE_WIRE_OK},     /* W-PKT-08: refused by NAK */
		{false, ROCE_SEND_ONLY, 28, 0x44, ROCE_WIRE_OPCODE}, /* RD */
		{false, ROCE_SEND_ONLY, 28, 0x84, ROCE_WIRE_OPCODE},
		{false, ROCE_SEND_ONLY, 28, 0xc0, ROCE_WIRE_OPCODE}, /* a manufacturer's */
		{false, ROCE_SEND_ONLY, 28, 0xff, ROCE_WIRE_OPCODE},
		{false, ROCE_SEND_ONLY, 28, 0xa4, ROCE_WIRE_OPCODE},		/* XRC */
		{false, ROCE_SEND_ONLY, 28, ROCE_WRITE_ONLY, ROCE_WIRE_LENGTH}, /* no RETH */
		{false, ROCE_SEND_ONLY, 28, ROCE_ACK, ROCE_WIRE_LENGTH}, /* ACK with payload */
		{false, ROCE_ACK, 29, 0x10, ROCE_WIRE_LENGTH},		 /* ACK with pad */
		{false, ROCE_READ_REQUEST, 28, ROCE_CNP, ROCE_WIRE_OK},	 /* 16 bytes either way */
		{false, ROCE_SEND_ONLY, 30, 0x7f, ROCE_WIRE_OK},	 /* W-PKT-12 */
		{false, ROCE_SEND_ONLY, 31, 0xfe, ROCE_WIRE_PKEY},
		{false, ROCE_SEND_ONLY, 29, 0x00, ROCE_WIRE_OK}, /* pad: W-RESP-09 */
	};

	for (unsigned i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const struct change *c = &changes[i];
		uint8_t frame[256];
		uint32_t n = wire_rig_make(frame, c->v6 ? &wire_rig_v6 : &wire_rig_v4, c->opcode,
			c->opcode == ROCE_SEND_ONLY ? 5 : 0);
		enum roce_wire_err err;

		frame[WIRE_RIG_L3 + c->off] = c->value;
		if (!c->v6 && (frame[WIRE_RIG_L3] & 15) >= 5)
			wire_rig_fix_checksum(frame + WIRE_RIG_L3);
		err = wire_rig_parse(frame, n, NULL);
		cr_expect_eq(err, c->want, "case %u: %d, not %d", i, err, c->want);
	}
}

Test(parse, ipv4_header_checksum_is_verified)
{
	uint8_t frame[128];
	uint32_t n = wire_rig_make(frame, &wire_rig_v4, ROCE_SEND_ONLY, 8);

	frame[WIRE_RIG_L3 + 8]--; /* TTL, masked in the ICRC */
	cr_expect_eq(wire_rig_parse(frame, n, NULL), ROCE_WIRE_IP_HEADER);
}

/* checks W-ICRC-07[1]: neither IPv4 options nor IPv6 extension headers in front of our UDP port. */
Test(parse, options_and_extension_headers_are_refused)
{
	uint8_t frame[256];
	uint32_t n = wire_rig_make(frame, &wire_rig_v4, ROCE_SEND_ONLY, 8);

	memmove(frame + WIRE_RIG_L3 + 24, frame + WIRE_RIG_L3 + 20, n - WIRE_RIG_L3 - 20);
	memset(frame + WIRE_RIG_L3 + 20, 1, 4);
	frame[WIRE_RIG_L3] = 0x46;
	frame[WIRE_RIG_L3 + 3] = (uint8_t)(frame[WIRE_RIG_L3 + 3] + 4);
	wire_rig_fix_checksum(frame + WIRE_RIG_L3);
	cr_expect_eq(wire_rig_parse(frame, n + 4, NULL), ROCE_WIRE_IP_HEADER);

	n = wire_rig_make(frame, &wire_rig_v6, ROCE_SEND_ONLY, 8);
	memmove(frame + WIRE_RIG_L3 + 48, frame + WIRE_RIG_L3 + 40, n - WIRE_RIG_L3 - 40);
	memset(frame + WIRE_RIG_L3 + 40, 0, 8);
	frame[WIRE_RIG_L3 + 40] = frame[WIRE_RIG_L3 + 6];
	frame[WIRE_RIG_L3 + 6] = 60;
	frame[WIRE_RIG_L3 + 5] = (uint8_t)(frame[WIRE_RIG_L3 + 5] + 8);
	cr_expect_eq(wire_rig_parse(frame, n + 8, NULL), ROCE_WIRE_IP_HEADER);
}

/* One tag or two of either kind, of which one may name a priority alone; three are too many. Where
 * the packet is sealed, no tag is looked at. checks W-PKT-02[1,2,3,4], W-ICRC-06[2] */
Test(parse, vlan_tags)
{
	static const uint16_t kinds[] = {ROCE_ETHERTYPE_VLAN, ROCE_ETHERTYPE_QINQ};
	static const struct {
		uint16_t tci[3], vlan;
		unsigned tags;
	} of[] = {{{0x6064}, 100, 1}, {{0x6000}, 0, 1}, {{0x0007, 0x6064}, ROCE_VLAN_NESTED, 2},
		{{0x6064, 0x6064}, ROCE_VLAN_NESTED, 2}, {{0x6000, 0x0007}, 7, 2},
		{{0x0007, 0x6000}, 7, 2}, {{0x6000, 0x2000}, 0, 2}, {{0, 0, 0}, 0, 3},
		{{7, 0, 0}, 0, 3}};

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]) * 8; i++) {
		const unsigned tags = of[i / 8].tags;
		uint8_t frame[256], tagged[256];
		uint32_t n = wire_rig_make(frame, &wire_rig_v4, ROCE_SEND_ONLY, 8);
		struct roce_pkt pkt;

		memcpy(tagged, frame, 12);
		memcpy(tagged + 12 + 4 * tags, frame + 12, n - 12);
		for (unsigned k = 0; k < tags; k++) {
			const uint16_t kind = kinds[i >> k & 1], tci = of[i / 8].tci[k];
			const uint8_t tag[4] = {(uint8_t)(kind >> 8), (uint8_t)kind,
				(uint8_t)(tci >> 8), (uint8_t)tci};

			memcpy(tagged + 12 + 4 * k, tag, 4);
		}
		cr_assert_eq(roce_wire_parse(tagged, n + 4 * tags, &pkt),
			tags < 3 ? ROCE_WIRE_OK : ROCE_WIRE_NOT_ROCE, "case %u", i);
		if (tags == 3)
			continue;
		cr_assert(pkt.tagged && pkt.vlan_tci == of[i / 8].tci[tags - 1]);
		cr_assert_eq(pkt.vlan, of[i / 8].vlan, "case %u: %u", i, pkt.vlan);
		cr_assert(roce_icrc_ok(&pkt));
	}
}

/* A header that is wrong in itself is counted as such, whatever it says that it carries. */
Test(parse, ipv4_headers_that_are_wrong_in_two_ways)
{
	static const struct {
		uint8_t version_ihl, protocol, fragment, port;
		enum roce_wire_err want;
	} rows[] = {
		{0x55, 6, 0, 0xb7, ROCE_WIRE_IP_HEADER},
		{0x44, 6, 0, 0xb7, ROCE_WIRE_IP_HEADER},
		{0x45, 17, 1, 0xb8, ROCE_WIRE_IP_HEADER}, /* there are no ports in it */
		{0x45, 6, 1, 0xb8, ROCE_WIRE_NOT_ROCE},
		{0x45, 17, 0, 0xb8, ROCE_WIRE_NOT_ROCE},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t frame[128], *ip = frame + WIRE_RIG_L3;
		uint32_t n = wire_rig_make(frame, &wire_rig_v4, ROCE_SEND_ONLY, 8);

		ip[0] = rows[i].version_ihl;
		ip[9] = rows[i].protocol;
		ip[7] = rows[i].fragment;
		ip[23] = rows[i].port;
		cr_expect_eq(wire_rig_parse(frame, n, NULL), rows[i].want, "row %u", i);
	}
}

/* W-ICRC-07: an extension header in front of UDP is an error; in front of others, or none of
 * those, it is another protocol. */
Test(parse, ipv6_extension_headers)
{
	static const uint8_t extensions[] = {0, 43, 44, 60};

	for (unsigned next = 0; next < 256; next++) {
		const bool is_ext = memchr(extensions, (int)next, sizeof(extensions)) != NULL;
		uint8_t frame[128], *ip = frame + WIRE_RIG_L3;
		uint32_t n = wire_rig_make(frame, &wire_rig_v6, ROCE_SEND_ONLY, 8);

		if (next == 17)
			continue;
		ip[6] = (uint8_t)next;
		ip[40] = 17;
		cr_expect_eq(wire_rig_parse(frame, n, NULL),
			is_ext ? ROCE_WIRE_IP_HEADER : ROCE_WIRE_NOT_ROCE, "%u", next);
		cr_expect_eq(wire_rig_parse(frame, WIRE_RIG_L3 + 40, NULL), ROCE_WIRE_NOT_ROCE,
			"%u, and nothing behind", next);
		ip[40] = 58;
		cr_expect_eq(wire_rig_parse(frame, n, NULL), ROCE_WIRE_NOT_ROCE, "%u", next);
	}
}

/* UDP that ends before its BTH, or within: its length is wrong, and nothing behind it is read. */
Test(parse, W_PKT_05_less_than_a_bth)
{
	for (unsigned v6 = 0; v6 < 2; v6++)
		for (unsigned udp_bytes = 8; udp_bytes < 24; udp_bytes++) {
			uint8_t frame[128], *ip = frame + WIRE_RIG_L3;
			const unsigned l3_bytes = v6 ? 40 : 20;

			wire_rig_make(frame, v6 ? &wire_rig_v6 : &wire_rig_v4, ROCE_SEND_ONLY, 8);
			memset(ip + l3_bytes + 8, 0xff, 16); /* no opcode, no version */
			ip[l3_bytes + 5] = (uint8_t)udp_bytes;
			if (v6) {
				ip[5] = (uint8_t)udp_bytes;
			} else {
				ip[3] = (uint8_t)(udp_bytes + 20);
				wire_rig_fix_checksum(ip);
			}
			cr_expect_eq(
				wire_rig_parse(frame, WIRE_RIG_L3 + l3_bytes + udp_bytes, NULL),
				ROCE_WIRE_LENGTH, "%u bytes", udp_bytes);
		}
}

/* Whatever stood in the struct, and whatever stands in the payload. */
Test(parse, fields_that_an_opcode_does_not_carry_are_0)
{
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		const uint32_t f = roce_opcode_info[opcode].flags;
		uint8_t frame[256];
		struct roce_pkt p;
		uint32_t n;

		if (!(f & ROCE_OPF_VALID))
			continue;
		n = wire_rig_make(
			frame, &wire_rig_v4, (uint8_t)opcode, f & ROCE_OPF_PAYLOAD ? 64 : 0);
		memset(frame + WIRE_RIG_L3 + 40, 0xff, n - WIRE_RIG_L3 - 40);
		memset(&p, 0xff, sizeof(p));
		cr_assert_eq(roce_wire_parse(frame, n, &p), ROCE_WIRE_OK, "%x", opcode);
		cr_expect_eq(p.va != 0, (f & (ROCE_OPF_RETH | ROCE_OPF_ATOMIC)) != 0, "%x", opcode);
		cr_expect_eq(
			p.rkey != 0, (f & (ROCE_OPF_RETH | ROCE_OPF_ATOMIC)) != 0, "%x", opcode);
		cr_expect_eq(p.dma_bytes != 0, (f & ROCE_OPF_RETH) != 0, "%x", opcode);
		cr_expect_eq(p.swap_add != 0, (f & ROCE_OPF_ATOMIC) != 0, "%x", opcode);
		cr_expect_eq(p.compare != 0, (f & ROCE_OPF_ATOMIC) != 0, "%x", opcode);
		cr_expect_eq(p.atomic_orig != 0, (f & ROCE_OPF_ATOMIC_ACK) != 0, "%x", opcode);
		cr_expect_eq(p.syndrome != 0, (f & ROCE_OPF_AETH) != 0, "%x", opcode);
		cr_expect_eq(p.msn != 0, (f & ROCE_OPF_AETH) != 0, "%x", opcode);
		cr_expect_eq(p.imm != 0, (f & ROCE_OPF_IMM) != 0, "%x", opcode);
		cr_expect_eq(p.ieth != 0, (f & ROCE_OPF_IETH) != 0, "%x", opcode);
		cr_expect_eq(p.qkey != 0, (f & ROCE_OPF_DETH) != 0, "%x", opcode);
		cr_expect_eq(p.src_qpn != 0, (f & ROCE_OPF_DETH) != 0, "%x", opcode);
		cr_expect_eq(p.feth != 0, (f & ROCE_OPF_FETH) != 0, "%x", opcode);
		cr_expect_eq(p.vlan_tci, 0);
		cr_expect_not(p.tagged);
	}
}

/* Reserved bits are ignored: they belong to none of the numbers beside them. */
Test(parse, numbers_have_24_bits)
{
	uint8_t frame[128] = {0}, *bth = frame + WIRE_RIG_L3 + 28;
	uint32_t n = wire_rig_make(frame, &wire_rig_v4, ROCE_UD_SEND_ONLY, 8);
	struct roce_pkt pkt;

	memcpy(bth + 4, "\x3f\1\2\3", 4);
	memcpy(bth + 8, "\x7f\4\5\6", 4);
	memcpy(bth + 16, "\xff\7\x8\x9", 4);
	cr_assert_eq(roce_wire_parse(frame, n, &pkt), ROCE_WIRE_OK);
	cr_expect_eq(pkt.qpn, 0x010203u);
	cr_expect_eq(pkt.psn, 0x040506u);
	cr_expect_eq(pkt.src_qpn, 0x070809u);
	cr_expect_not(pkt.becn || pkt.fecn || pkt.ackreq);
}

/* Of both families, each size of payload: the last byte that is read is the ICRC's. */
Test(parse, the_icrc_ends_a_frame)
{
	for (unsigned v6 = 0; v6 < 2; v6++)
		for (uint32_t bytes = 0; bytes < 300; bytes++) {
			uint8_t frame[512];
			const struct roce_path *path = v6 ? &wire_rig_v6 : &wire_rig_v4;
			uint32_t n = wire_rig_make(frame, path, ROCE_SEND_ONLY, bytes);
			bool ok;

			cr_expect_eq(wire_rig_parse(frame, n, &ok), ROCE_WIRE_OK);
			cr_expect(ok, "%u bytes", bytes);
			frame[n - 5] ^= 1;
			cr_expect_eq(wire_rig_parse(frame, n, &ok), ROCE_WIRE_OK);
			cr_expect_not(ok, "%u bytes", bytes);
		}
}

/* Of both families, tagged or not; each of its bits. */
Test(parse, the_UDP_source_port)
{
	for (unsigned i = 0; i < 64; i++) {
		struct roce_path path = i % 4 / 2 ? wire_rig_v6 : wire_rig_v4;
		struct roce_pkt pkt;
		uint8_t frame[512];
		uint32_t n;

		path.tagged = i % 2;
		path.udp_sport = (uint16_t)(1u << i / 4);
		n = wire_rig_make(frame, &path, ROCE_WRITE_ONLY, 64);
		cr_assert_eq(roce_wire_parse(frame, n, &pkt), ROCE_WIRE_OK);
		cr_expect_eq(roce_pkt_sport(&pkt), path.udp_sport);
	}
}
