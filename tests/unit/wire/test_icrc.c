/* SPDX-License-Identifier: BSD-3-Clause */
/* The ICRC, bit by bit and at every length. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/wire_rig.h"
#include "wire/icrc.h"

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
 * checks W-CM-72, W-ICRC-03[1,2], W-ICRC-06[1,3], W-PKT-04[1,2,4], W-PKT-09[4]: a flip of any
 * single bit is caught but in the masked fields. The parser may refuse what is flipped first; a
 * masked field must be accepted (the IPv4 header checksum, which we check as well, is made right
 * again).
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

/* The rules of W-ICRC bit by bit, as slowly as they can be written down. */
static uint32_t
slow_icrc(const uint8_t *ip, bool v6, uint32_t bytes)
{
	uint32_t crc = 0xffffffff;

	for (uint32_t i = 0; i < 8 + bytes; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			uint32_t b = i < 8 || is_masked(v6, i - 8, bit) ? 1 : ip[i - 8] >> bit & 1;

			crc = crc >> 1 ^ ((crc ^ b) & 1 ? 0xedb88320 : 0);
		}
	return ~crc;
}

/* checks W-ICRC-01, W-ICRC-02, W-ICRC-04[1]: short packets and long ones, in one piece or in two,
 * sealed and found right. */
Test(icrc, W_ICRC_02_every_length)
{
	for (unsigned v6 = 0; v6 < 2; v6++)
		for (uint32_t n = 0; n <= 300; n++) {
			uint8_t frame[512];
			uint32_t bytes = wire_rig_make(
				frame, v6 ? &wire_rig_v6 : &wire_rig_v4, ROCE_SEND_ONLY, n);
			uint32_t crc = slow_icrc(frame + WIRE_RIG_L3, v6, bytes - 4 - WIRE_RIG_L3);
			bool ok;

			cr_assert_arr_eq(frame + bytes - 4, (uint8_t *)&crc, 4, "%u bytes", n);
			wire_rig_parse(frame, bytes, &ok);
			cr_assert(ok, "%u bytes", n);
		}
}

/* Each number of bytes of pad, whatever they are. checks W-PKT-09[3] */
Test(icrc, W_PKT_09_a_pad_that_is_not_zero)
{
	for (uint32_t n = 1; n < 200; n++) {
		uint8_t frame[512];
		uint32_t bytes = wire_rig_make(frame, &wire_rig_v4, ROCE_SEND_ONLY, n) - 4, crc;
		struct roce_pkt pkt;

		memset(frame + bytes - (-n & 3), 0xff, -n & 3);
		crc = slow_icrc(frame + WIRE_RIG_L3, false, bytes - WIRE_RIG_L3);
		memcpy(frame + bytes, &crc, 4);
		cr_assert_eq(roce_wire_parse(frame, bytes + 4, &pkt), ROCE_WIRE_OK);
		cr_assert(roce_icrc_ok(&pkt));
		cr_assert_eq(pkt.payload_bytes, n);
		cr_assert_eq(pkt.pad, -n & 3);
	}
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
		crc = slow_icrc(frame + WIRE_RIG_L3, false, bytes);
		memcpy(frame + WIRE_RIG_L3 + bytes, &crc, 4);
		cr_expect_eq(wire_rig_parse(frame, WIRE_RIG_L3 + bytes + 4, &ok), ROCE_WIRE_OK);
		cr_expect(ok, "%u bytes", n);
	}
}
