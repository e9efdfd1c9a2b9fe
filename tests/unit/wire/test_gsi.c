/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <string.h>

#include "wire/gsi.h"
#include "wire/icrc.h"
#include "wire/packet.h"

static struct roce_path
path_of(bool v6)
{
	struct roce_path path = {.tos = 0x68,
		.ttl = 64,
		.udp_sport = 0xdead,
		.smac = {2, 0, 0, 0, 0, 1},
		.dmac = {2, 0, 0, 0, 0, 2}};

	if (v6) {
		path.sgid.raw[0] = path.dgid.raw[0] = 0xfd;
		path.dgid.raw[15] = 1;
	} else {
		roce_gid_from_v4(&path.sgid, (const uint8_t[]){192, 0, 2, 1});
		roce_gid_from_v4(&path.dgid, (const uint8_t[]){192, 0, 2, 2});
	}
	return path;
}

static void
check(bool v6, bool tagged, uint32_t want_bytes)
{
	struct roce_path path = path_of(v6);
	uint8_t mad[ROCE_MAD_BYTES], frame[ROCE_GSI_FRAME_MAX];
	struct roce_gid gid;
	struct roce_pkt pkt;
	const uint8_t *udp;
	uint32_t bytes;

	path.tagged = tagged;
	path.vlan_tci = 5;
	path.flow_label = 0x12345; /* of the connection: its MADs have none */
	memset(mad, 0x5a, sizeof(mad));
	bytes = roce_gsi_build(frame, &path, 0x1000002, mad);
	cr_assert_eq(bytes, want_bytes);
	cr_assert_eq(roce_wire_parse(frame, bytes, &pkt), ROCE_WIRE_OK);
	cr_assert(roce_icrc_ok(&pkt));
	cr_assert(roce_gsi_is_mad(&pkt));
	cr_expect_arr_eq(pkt.payload, mad, sizeof(mad));
	cr_expect_eq(pkt.psn, 2);
	cr_expect_eq(pkt.src_qpn, ROCE_QPN_GSI);
	cr_expect_eq(pkt.pkey, ROCE_PKEY_DEFAULT);
	udp = pkt.l3 + (v6 ? 40 : 20);
	cr_expect_eq(udp[0] << 8 | udp[1], ROCE_GSI_SPORT);
	if (v6)
		cr_expect_arr_eq(pkt.l3, "\x66\x80\0\0", 4, "class, and no flow label");
	cr_expect_eq(pkt.tos, 0x68);
	cr_expect_not(pkt.ackreq);
	cr_expect_not(pkt.se);
	roce_pkt_dst_gid(&pkt, &gid);
	cr_expect(roce_gid_equal(&gid, &path.dgid));
}

/* checks W-CM-02[2] */
Test(gsi, a_mad_is_one_frame)
{
	check(false, false, 322);
	check(true, false, 342);
	check(true, true, ROCE_GSI_FRAME_MAX);
}

/* checks W-CM-01[3], W-PKT-13[2,3] */
Test(gsi, w_cm_01_what_is_no_mad)
{
	const struct roce_pkt good = {.opcode = ROCE_UD_SEND_ONLY,
		.qpn = 1,
		.qkey = ROCE_QKEY_GSI,
		.payload_bytes = ROCE_MAD_BYTES};
	struct roce_pkt pkt = good;

	cr_expect(roce_gsi_is_mad(&pkt));
	pkt.payload_bytes = 255;
	cr_expect_not(roce_gsi_is_mad(&pkt));
	pkt = good;
	pkt.qkey = 0x01234567;
	cr_expect_not(roce_gsi_is_mad(&pkt));
	pkt = good;
	pkt.qpn = 2;
	cr_expect_not(roce_gsi_is_mad(&pkt));
	pkt = good;
	pkt.opcode = ROCE_SEND_ONLY;
	cr_expect_not(roce_gsi_is_mad(&pkt));
	pkt.opcode = ROCE_UD_SEND_ONLY_IMM;
	cr_expect_not(roce_gsi_is_mad(&pkt));
	pkt.opcode = ROCE_CNP;
	cr_expect_not(roce_gsi_is_mad(&pkt));
}

/* Of a datagram that the network quotes, perhaps not in full. */
Test(gsi, the_mad_in_a_datagram)
{
	const uint32_t at = ROCE_ETH_BYTES + ROCE_IPV4_BYTES + ROCE_UDP_BYTES,
		       whole = ROCE_BTH_BYTES + ROCE_DETH_BYTES + ROCE_MAD_BYTES;
	const struct roce_path path = path_of(false);
	uint8_t mad[ROCE_MAD_BYTES], frame[ROCE_GSI_FRAME_MAX];
	const uint8_t *found;

	memset(mad, 0x5a, sizeof(mad));
	(void)roce_gsi_build(frame, &path, 7, mad);
	found = roce_gsi_mad_of(frame + at, whole);
	cr_assert_not_null(found);
	cr_expect_arr_eq(found, mad, sizeof(mad));
	cr_expect_null(roce_gsi_mad_of(frame + at, whole - 1));
	cr_expect_null(roce_gsi_mad_of(frame + at, 0));
	frame[at + 7] ^= 2; /* of another queue pair */
	cr_expect_null(roce_gsi_mad_of(frame + at, whole));
	frame[at + 7] ^= 2;
	frame[at] = ROCE_SEND_ONLY;
	cr_expect_null(roce_gsi_mad_of(frame + at, whole));
	frame[at] = ROCE_UD_SEND_ONLY_IMM;
	cr_expect_null(roce_gsi_mad_of(frame + at, whole));
}
