/* SPDX-License-Identifier: BSD-3-Clause */
/* The codecs against frames that are wrong: each bit, each length, each rule of W-PKT. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/pcap.h"
#include "wire/wire.h"

#define L3 14u /* offset of IP in an untagged frame */

static const struct roce_path v4_path = {
	.sgid.raw = {[10] = 0xff, 0xff, 192, 0, 2, 1},
	.dgid.raw = {[10] = 0xff, 0xff, 192, 0, 2, 2},
	.smac = {2, 0, 0, 0, 0, 1},
	.dmac = {2, 0, 0, 0, 0, 2},
	.tos = 2,
	.ttl = 64,
	.udp_sport = 0xc123,
};
static const struct roce_path v6_path = {
	.sgid.raw = {0x20, 0x01, 0x0d, 0xb8, [15] = 1},
	.dgid.raw = {0x20, 0x01, 0x0d, 0xb8, [15] = 2},
	.smac = {2, 0, 0, 0, 0, 1},
	.dmac = {2, 0, 0, 0, 0, 2},
	.tos = 2,
	.ttl = 64,
	.udp_sport = 0xc123,
	.flow_label = 0x12345,
};

static uint32_t
make(uint8_t *buf, const struct roce_path *path, uint8_t opcode, uint32_t payload_bytes)
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

/* Parse an exact-size copy, so that a sanitizer sees every byte read outside. */
static enum roce_wire_err
parse_exact(const uint8_t *frame, size_t bytes, bool *icrc_ok)
{
	uint8_t *copy = malloc(bytes ? bytes : 1);
	struct roce_pkt pkt;
	enum roce_wire_err err;

	memcpy(copy, frame, bytes);
	err = roce_wire_parse(bytes ? copy : copy + 1, bytes, &pkt);
	if (icrc_ok != NULL)
		*icrc_ok = err == ROCE_WIRE_OK && roce_icrc_ok(&pkt);
	free(copy);
	return err;
}

static void
fix_ipv4_checksum(uint8_t *ip)
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

/* The masked bytes, as offsets from the IP header; for IPv6 byte 0 only the low nibble. */
static bool
is_masked(bool v6, unsigned off, unsigned bit)
{
	static const uint8_t v4[] = {1, 8, 10, 11, 26, 27, 32};
	static const uint8_t v6o[] = {1, 2, 3, 7, 46, 47, 52};

	if (v6 && off == 0)
		return bit < 4;
	return off < 64 && memchr(v6 ? v6o : v4, (int)off, sizeof(v4)) != NULL;
}

/*
 * checks W-ICRC-03, W-ICRC-06, W-CM-72, W-PKT-04: a flip of any single bit is caught but in the
 * masked fields. The parser may refuse what is flipped first; a masked field must be accepted (the
 * IPv4 header checksum, which we check as well, is made right again).
 */
static void
flip_every_bit(const struct roce_path *path, bool v6, uint32_t payload_bytes)
{
	uint8_t frame[512];
	uint32_t bytes = make(frame, path, ROCE_SEND_ONLY, payload_bytes);

	for (unsigned off = 0; off < bytes - L3; off++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			uint8_t was[20];
			bool ok;

			memcpy(was, frame + L3, sizeof(was));
			frame[L3 + off] ^= (uint8_t)(1u << bit);
			if (!v6 && (off == 1 || off == 8))
				fix_ipv4_checksum(frame + L3);
			parse_exact(frame, bytes, &ok);
			if (v6 || (off != 10 && off != 11))
				cr_expect_eq(
					ok, is_masked(v6, off, bit), "bit %u of byte %u", bit, off);
			if (off >= 20)
				frame[L3 + off] ^= (uint8_t)(1u << bit);
			else
				memcpy(frame + L3, was, sizeof(was));
		}
	}
}

Test(wire_bounds, W_ICRC_09_single_bit_flips)
{
	flip_every_bit(&v4_path, false, 5);
	flip_every_bit(&v6_path, true, 5);
	flip_every_bit(&v4_path, false, 200); /* long enough not to go through the copy */
	flip_every_bit(&v6_path, true, 200);
}

/* checks W-ICRC-02 */
Test(wire_bounds, W_ICRC_sizes_around_the_copy_limit)
{
	uint8_t frame[512];

	for (uint32_t n = 0; n <= 300; n++) {
		bool ok;

		parse_exact(frame, make(frame, &v4_path, ROCE_SEND_ONLY, n), &ok);
		cr_expect(ok, "IPv4, %u bytes", n);
		parse_exact(frame, make(frame, &v6_path, ROCE_WRITE_ONLY, n), &ok);
		cr_expect(ok, "IPv6, %u bytes", n);
	}
}

/* The rules of 1.5 bit by bit, as slowly as they can be written down. */
static uint32_t
slow_icrc_ipv4(const uint8_t *ip, uint32_t bytes)
{
	uint32_t crc = 0xffffffff;

	for (uint32_t i = 0; i < 8 + bytes; i++) {
		uint8_t b = i < 8 || is_masked(false, i - 8, 0) ? 0xff : ip[i - 8];

		for (unsigned bit = 0; bit < 8; bit++, b >>= 1)
			crc = crc >> 1 ^ ((crc ^ b) & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

/* W-RESP-09: a wrong pad is refused with a nak, so its ICRC must first be found right. */
Test(wire_bounds, W_RESP_09_wrong_pad_has_a_right_icrc)
{
	for (uint32_t n = 0; n <= 200; n++) {
		uint8_t frame[512];
		uint32_t bytes = 20 + 8 + 12 + n, crc;
		bool ok;

		make(frame, &v4_path, ROCE_SEND_ONLY, n);
		frame[L3 + 29] &= 0xcf;
		frame[L3 + 3] = (uint8_t)(bytes + 4);
		frame[L3 + 25] = (uint8_t)(bytes + 4 - 20);
		fix_ipv4_checksum(frame + L3);
		crc = slow_icrc_ipv4(frame + L3, bytes);
		memcpy(frame + L3 + bytes, &crc, 4);
		cr_expect_eq(parse_exact(frame, L3 + bytes + 4, &ok), ROCE_WIRE_OK);
		cr_expect(ok, "%u bytes", n);
	}
}

/* Every frame cut at every length: never OK, and nothing is read outside. */
Test(wire_bounds, truncation_at_every_length)
{
	struct pcap_file f;
	const uint8_t *frame;
	size_t n;

	pcap_open(&f, "vectors.pcap");
	while ((frame = pcap_next(&f, &n)) != NULL) {
		if (parse_exact(frame, n, NULL) != ROCE_WIRE_OK)
			continue;
		for (size_t cut = 0; cut < n; cut++) {
			enum roce_wire_err err = parse_exact(frame, cut, NULL);

			cr_expect_eq(err, ROCE_WIRE_TRUNCATED, "%zu of %zu bytes: %d", cut, n, err);
		}
	}
	pcap_close(&f);
}

/* Whatever a frame says, what the parser accepts lies inside of it. */
Test(wire_bounds, damaged_frames_never_point_outside)
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

/* W-PKT-03: lengths come from IP, whatever lies behind the frame. */
Test(wire_bounds, W_PKT_03_trailer_is_ignored)
{
	uint8_t frame[128] = {0};
	uint32_t n = make(frame, &v4_path, ROCE_SEND_ONLY, 0);
	bool ok;

	cr_assert_eq(n, 58);
	for (uint32_t trailer = 0; trailer < 32; trailer++) {
		cr_expect_eq(parse_exact(frame, n + trailer, &ok), ROCE_WIRE_OK);
		cr_expect(ok);
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

/* checks W-PKT-05, W-PKT-08, W-PKT-11, W-PKT-12 */
Test(wire_bounds, W_PKT_rules_give_the_right_error)
{
	static const struct change changes[] = {
		{false, ROCE_SEND_ONLY, 0, 0x65, ROCE_WIRE_IP_HEADER},
		{false, ROCE_SEND_ONLY, 0, 0x44, ROCE_WIRE_IP_HEADER},
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
		{true, ROCE_SEND_ONLY, 6, 58, ROCE_WIRE_NOT_ROCE},
		{true, ROCE_SEND_ONLY, 6, 44, ROCE_WIRE_NOT_ROCE},   /* a fragment */
		{false, ROCE_SEND_ONLY, 29, 0x31, ROCE_WIRE_TVER},   /* W-PKT-11 */
		{false, ROCE_SEND_ONLY, 28, 0x15, ROCE_WIRE_OPCODE}, /* W-PKT-08 */
		{false, ROCE_SEND_ONLY, 28, 0x18, ROCE_WIRE_OPCODE},
		{false, ROCE_SEND_ONLY, 28, 0x44, ROCE_WIRE_OPCODE},		/* RD */
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
		uint32_t n = make(frame, c->v6 ? &v6_path : &v4_path, c->opcode,
			c->opcode == ROCE_SEND_ONLY ? 5 : 0);
		enum roce_wire_err err;

		frame[L3 + c->off] = c->value;
		if (!c->v6 && (frame[L3] & 15) >= 5)
			fix_ipv4_checksum(frame + L3);
		err = parse_exact(frame, n, NULL);
		cr_expect_eq(err, c->want, "case %u: %d, not %d", i, err, c->want);
	}
}

Test(wire_bounds, ipv4_header_checksum_is_verified)
{
	uint8_t frame[128];
	uint32_t n = make(frame, &v4_path, ROCE_SEND_ONLY, 8);

	frame[L3 + 8]--; /* TTL, masked in the ICRC */
	cr_expect_eq(parse_exact(frame, n, NULL), ROCE_WIRE_IP_HEADER);
}

/* checks W-ICRC-07: neither IPv4 options nor IPv6 extension headers in front of our UDP port. */
Test(wire_bounds, options_and_extension_headers_are_refused)
{
	uint8_t frame[256];
	uint32_t n = make(frame, &v4_path, ROCE_SEND_ONLY, 8);

	memmove(frame + L3 + 24, frame + L3 + 20, n - L3 - 20);
	memset(frame + L3 + 20, 1, 4);
	frame[L3] = 0x46;
	frame[L3 + 3] = (uint8_t)(frame[L3 + 3] + 4);
	fix_ipv4_checksum(frame + L3);
	cr_expect_eq(parse_exact(frame, n + 4, NULL), ROCE_WIRE_IP_HEADER);

	n = make(frame, &v6_path, ROCE_SEND_ONLY, 8);
	memmove(frame + L3 + 48, frame + L3 + 40, n - L3 - 40);
	memset(frame + L3 + 40, 0, 8);
	frame[L3 + 40] = frame[L3 + 6];
	frame[L3 + 6] = 60;
	frame[L3 + 5] = (uint8_t)(frame[L3 + 5] + 8);
	cr_expect_eq(parse_exact(frame, n + 8, NULL), ROCE_WIRE_IP_HEADER);
}

Test(wire_bounds, vlan_tags_the_innermost_counts)
{
	uint8_t frame[256], tagged[256];
	uint32_t n = make(frame, &v4_path, ROCE_SEND_ONLY, 8);
	static const uint8_t tags[12] = {0x88, 0xa8, 0x00, 0x07, 0x81, 0x00, 0x60, 0x64, 0x81};
	struct roce_pkt pkt;

	for (unsigned count = 1; count <= 3; count++) {
		memcpy(tagged, frame, 12);
		memcpy(tagged + 12, tags, 12);
		memcpy(tagged + 12 + 4 * count, frame + 12, n - 12);
		if (count == 3) {
			cr_expect_eq(roce_wire_parse(tagged, n + 12, &pkt), ROCE_WIRE_NOT_ROCE);
			break;
		}
		cr_expect_eq(roce_wire_parse(tagged, n + 4 * count, &pkt), ROCE_WIRE_OK);
		cr_expect(pkt.tagged && pkt.vlan_tci == (count == 1 ? 0x0007 : 0x6064));
		cr_expect_eq(pkt.vlan, count == 1 ? 7 : ROCE_VLAN_NOBODYS);
		cr_expect(roce_icrc_ok(&pkt)); /* W-PKT-02 */
	}
}

Test(wire_bounds, W_PSN_01_arithmetic)
{
	cr_expect_eq(roce_psn_diff(0, 0xffffff), 1);
	cr_expect_eq(roce_psn_diff(0xffffff, 0), -1);
	cr_expect_eq(roce_psn_diff(5, 5), 0);
	cr_expect_eq(roce_psn_diff(0x7fffff, 0), 0x7fffff);
	cr_expect_eq(roce_psn_diff(0x800000, 0), -0x800000);
	cr_expect_eq(roce_psn_add(0xfffffe, 3), 1u);
}

Test(wire_bounds, rnr_timer_codes)
{
	cr_expect_eq(roce_rnr_ns(0), 655360000u);
	cr_expect_eq(roce_rnr_ns(1), 10000u);
	cr_expect_eq(roce_rnr_ns(14), 1280000u);
	cr_expect_eq(roce_rnr_ns(25), 61440000u);
	cr_expect_eq(roce_rnr_ns(31), 491520000u);
}

Test(wire_bounds, W_CM_71_source_port_of_a_flow)
{
	cr_expect_eq(roce_flow_sport(0x12345, 0, 0), 0xc000 | ((0x12345 & 0x3fff) ^ 4));
	for (uint32_t a = 0x111; a < 0x1000000; a = a * 3 + 1) {
		cr_expect_eq(roce_flow_sport(0, a, 0x112), roce_flow_sport(0, 0x112, a));
		cr_expect_geq(roce_flow_sport(0, a, 0x112), 0xc000);
	}
}
