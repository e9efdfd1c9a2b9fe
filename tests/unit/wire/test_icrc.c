/* SPDX-License-Identifier: BSD-3-Clause */
/* The ICRC, bit by bit and at every length. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/wire_rig.h"

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
	uint32_t bytes = wire_rig_make(frame, path, ROCE_SEND_ONLY, payload_bytes);

	for (unsigned off = 0; off < bytes - WIRE_RIG_L3; off++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			uint8_t was[20];
			bool ok;

			memcpy(was, frame + WIRE_RIG_L3, sizeof(was));
			frame[WIRE_RIG_L3 + off] ^= (uint8_t)(1u << bit);
			if (!v6 && (off == 1 || off == 8))
				wire_rig_fix_checksum(frame + WIRE_RIG_L3);
			wire_rig_parse(frame, bytes, &ok);
			if (v6 || (off != 10 && off != 11))
				cr_expect_eq(
					ok, is_masked(v6, off, bit), "bit %u of byte %u", bit, off);
			if (off >= 20)
				frame[WIRE_RIG_L3 + off] ^= (uint8_t)(1u << bit);
			else
				memcpy(frame + WIRE_RIG_L3, was, sizeof(was));
		}
	}
}

Test(icrc, W_ICRC_09_single_bit_flips)
{
	flip_every_bit(&wire_rig_v4, false, 5);
	flip_every_bit(&wire_rig_v6, true, 5);
	flip_every_bit(&wire_rig_v4, false, 200); /* long enough not to go through the copy */
	flip_every_bit(&wire_rig_v6, true, 200);
}

/* checks W-ICRC-02 */
Test(icrc, W_ICRC_sizes_around_the_copy_limit)
{
	uint8_t frame[512];

	for (uint32_t n = 0; n <= 300; n++) {
		bool ok;

		wire_rig_parse(frame, wire_rig_make(frame, &wire_rig_v4, ROCE_SEND_ONLY, n), &ok);
		cr_expect(ok, "IPv4, %u bytes", n);
		wire_rig_parse(frame, wire_rig_make(frame, &wire_rig_v6, ROCE_WRITE_ONLY, n), &ok);
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
Test(icrc, W_RESP_09_wrong_pad_has_a_right_icrc)
{
	for (uint32_t n = 0; n <= 200; n++) {
		uint8_t frame[512];
		uint32_t bytes = 20 + 8 + 12 + n, crc;
		bool ok;

		wire_rig_make(frame, &wire_rig_v4, ROCE_SEND_ONLY, n);
		frame[WIRE_RIG_L3 + 29] &= 0xcf;
		frame[WIRE_RIG_L3 + 3] = (uint8_t)(bytes + 4);
		frame[WIRE_RIG_L3 + 25] = (uint8_t)(bytes + 4 - 20);
		wire_rig_fix_checksum(frame + WIRE_RIG_L3);
		crc = slow_icrc_ipv4(frame + WIRE_RIG_L3, bytes);
		memcpy(frame + WIRE_RIG_L3 + bytes, &crc, 4);
		cr_expect_eq(wire_rig_parse(frame, WIRE_RIG_L3 + bytes + 4, &ok), ROCE_WIRE_OK);
		cr_expect(ok, "%u bytes", n);
	}
}
