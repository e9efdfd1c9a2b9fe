/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <string.h>

#include "wire/build.h"
#include "wire/icrc.h"
#include "wire/packet.h"

/*
 * checks W-GID-01[1]: an IPv6 address is its own GID, an IPv4 address in its mapped form; so on
 * the way in and out.
 */
Test(gid, W_GID_01_addresses_are_gids)
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

/* What a packet's addresses are written to has 16 bytes, and more is not written. */
Test(gid, addresses_of_a_packet_fill_a_gid)
{
	for (unsigned v6 = 0; v6 < 2; v6++) {
		static const uint8_t l3[ROCE_IPV6_BYTES];
		const struct roce_pkt pkt = {.l3 = l3, .v6 = v6};
		struct roce_gid gids[2];

		memset(gids, 0xa5, sizeof(gids));
		roce_pkt_src_gid(&pkt, &gids[0]);
		cr_expect_eq(gids[0].raw[15], 0);
		cr_expect_eq(gids[1].raw[0], 0xa5);
		memset(gids, 0xa5, sizeof(gids));
		roce_pkt_dst_gid(&pkt, &gids[0]);
		cr_expect_eq(gids[0].raw[15], 0);
		cr_expect_eq(gids[1].raw[0], 0xa5);
	}
}
