/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that end early: what is not there is not guessed, and what is there is not lost. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/wire_rig.h"

#define ETHERTYPE_ARP 0x0806u

static void
put_be16(uint8_t *p, unsigned value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
}

/* Too short to tell what it is below this many bytes; from there on it is known. */
static void
assert_known_from(const char *name, const uint8_t *frame, size_t known, enum roce_wire_err want)
{
	for (size_t n = 0; n < known + 20; n++) {
		enum roce_wire_err err = wire_rig_parse(frame, n, NULL);

		cr_expect_eq(err, n < known ? ROCE_WIRE_TRUNCATED : want, "%s of %zu bytes: %d",
			name, n, err);
	}
}

/* The type behind the last tag says that it is another protocol, whose packets may be empty. */
Test(cut, ethernet_of_another_protocol)
{
	for (unsigned tags = 0; tags < 3; tags++) {
		uint8_t frame[64] = {0};

		for (unsigned i = 0; i < tags; i++)
			put_be16(frame + 12 + 4 * i, ROCE_ETHERTYPE_VLAN);
		put_be16(frame + 12 + 4 * tags, ETHERTYPE_ARP);
		assert_known_from("ARP", frame, 14 + 4 * tags, ROCE_WIRE_NOT_ROCE);
	}
}

/* checks W-ICRC-07[1]: the IP header decides, and where it has UDP behind it, the UDP header. */
Test(cut, ipv4_that_is_not_plain_roce)
{
	static const struct {
		const char *name;
		uint8_t version_ihl, protocol, fragment, port;
		size_t known;
		enum roce_wire_err want;
	} rows[] = {
		{"TCP", 0x45, 6, 0, 0xb7, 20, ROCE_WIRE_NOT_ROCE},
		{"a later fragment of TCP", 0x45, 6, 1, 0xb7, 20, ROCE_WIRE_NOT_ROCE},
		{"another version", 0x55, 6, 0, 0xb7, 20, ROCE_WIRE_IP_HEADER},
		{"too short a header", 0x44, 6, 0, 0xb7, 20, ROCE_WIRE_IP_HEADER},
		{"a later fragment", 0x45, 17, 1, 0xb7, 20, ROCE_WIRE_IP_HEADER},
		{"another UDP port", 0x45, 17, 0, 0xb8, 28, ROCE_WIRE_NOT_ROCE},
		{"options", 0x46, 17, 0, 0xb7, 32, ROCE_WIRE_IP_HEADER},
		{"options, another UDP port", 0x46, 17, 0, 0xb8, 32, ROCE_WIRE_NOT_ROCE},
		{"the most options", 0x4f, 17, 0, 0xb7, 68, ROCE_WIRE_IP_HEADER},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t frame[128] = {0}, *ip = frame + WIRE_RIG_L3;

		put_be16(ip - 2, ROCE_ETHERTYPE_IPV4);
		ip[0] = rows[i].version_ihl;
		ip[9] = rows[i].protocol;
		ip[7] = rows[i].fragment;
		put_be16(ip + (ip[0] & 15u) * 4 + 2, 0x1200u | rows[i].port);
		assert_known_from(rows[i].name, frame, WIRE_RIG_L3 + rows[i].known, rows[i].want);
	}
}

/* As above; of an extension header the first byte says what follows it. */
Test(cut, ipv6_that_is_not_plain_roce)
{
	static const struct {
		const char *name;
		uint8_t version, next_header, port;
		size_t known;
		enum roce_wire_err want;
	} rows[] = {
		{"ICMP", 6, 58, 0xb7, 40, ROCE_WIRE_NOT_ROCE},
		{"another version", 4, 58, 0xb7, 40, ROCE_WIRE_IP_HEADER},
		{"another UDP port", 6, 17, 0xb8, 48, ROCE_WIRE_NOT_ROCE},
	};
	uint8_t extended[128] = {0};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t frame[128] = {0}, *ip = frame + WIRE_RIG_L3;

		put_be16(ip - 2, ROCE_ETHERTYPE_IPV6);
		ip[0] = (uint8_t)(rows[i].version << 4);
		ip[6] = rows[i].next_header;
		put_be16(ip + 42, 0x1200u | rows[i].port);
		assert_known_from(rows[i].name, frame, WIRE_RIG_L3 + rows[i].known, rows[i].want);
	}
	put_be16(extended + 12, ROCE_ETHERTYPE_IPV6);
	extended[WIRE_RIG_L3] = 0x60;
	extended[WIRE_RIG_L3 + 6] = 60;
	extended[WIRE_RIG_L3 + 40] = ROCE_PROTO_UDP;
	cr_expect_eq(wire_rig_parse(extended, WIRE_RIG_L3 + 39, NULL), ROCE_WIRE_TRUNCATED);
	cr_expect_eq(wire_rig_parse(extended, WIRE_RIG_L3 + 40, NULL), ROCE_WIRE_NOT_ROCE);
	cr_expect_eq(wire_rig_parse(extended, WIRE_RIG_L3 + 41, NULL), ROCE_WIRE_IP_HEADER);
}

/* The lengths in the headers of a frame along path, as if its UDP packet had udp_bytes bytes. */
static void
set_lengths(uint8_t *frame, bool v6, unsigned udp_bytes)
{
	uint8_t *ip = frame + WIRE_RIG_L3;

	put_be16(ip + (v6 ? 40 : 20) + 4, udp_bytes);
	if (v6) {
		put_be16(ip + 4, udp_bytes);
	} else {
		put_be16(ip + 2, udp_bytes + 20);
		wire_rig_fix_checksum(ip);
	}
}

/* One opcode with this pad: of a packet whose lengths are those of its frame, what is right. */
static void
assert_shortest(uint8_t opcode, bool v6, unsigned pad)
{
	const struct roce_opcode_desc *op = &roce_opcode_info[opcode];
	const unsigned udp_at = WIRE_RIG_L3 + (v6 ? 40 : 20), least = 8u + op->hdr_bytes + pad + 4u;
	uint8_t frame[256] = {0};

	wire_rig_make(frame, v6 ? &wire_rig_v6 : &wire_rig_v4, opcode, 0);
	frame[udp_at + 8 + 1] = (uint8_t)(pad << 4);
	for (unsigned udp_bytes = 0; udp_bytes < least + 8; udp_bytes++) {
		const bool fits = (op->flags & ROCE_OPF_PAYLOAD) ? udp_bytes >= least
								 : udp_bytes == least && pad == 0;
		enum roce_wire_err err, want = udp_bytes < 8 ? ROCE_WIRE_TRUNCATED
					       : fits	     ? ROCE_WIRE_OK
							     : ROCE_WIRE_LENGTH;

		set_lengths(frame, v6, udp_bytes);
		err = wire_rig_parse(frame, udp_at + udp_bytes, NULL);
		cr_assert_eq(err, want, "opcode %#x, pad %u, UDP length %u: %d, not %d", opcode,
			pad, udp_bytes, err, want);
	}
}

/* checks W-PKT-05[3], W-PKT-09[5,7]: whatever the opcode, there is room for its headers, the pad
 * and the ICRC; for nothing more if it has no payload. */
Test(cut, W_PKT_09_lengths_that_fit_the_frame)
{
	for (unsigned opcode = 0; opcode < 256; opcode++)
		for (unsigned i = 0; i < 8; i++)
			if (roce_opcode_info[opcode].flags & ROCE_OPF_VALID)
				assert_shortest((uint8_t)opcode, i & 1, i / 2);
}
