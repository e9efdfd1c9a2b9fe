/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers that the protocols fix: sizes of headers, well-known values of their fields. The headers
 * are those of IEEE 802.3 and 802.1Q, of RFC 791, 8200 and 768, and of InfiniBand (IBTA volume 1,
 * chapter 5, and annex A17 for RoCEv2).
 */
#ifndef ROCE_PROTOCOL_H
#define ROCE_PROTOCOL_H

#define ROCE_ETH_BYTES	      14u
#define ROCE_VLAN_TAG_BYTES   4u
#define ROCE_IPV4_BYTES	      20u
#define ROCE_IPV6_BYTES	      40u
#define ROCE_UDP_BYTES	      8u
#define ROCE_BTH_BYTES	      12u
#define ROCE_RETH_BYTES	      16u
#define ROCE_AETH_BYTES	      4u
#define ROCE_ATOMIC_BYTES     28u /* AtomicETH */
#define ROCE_ATOMIC_ACK_BYTES 8u
#define ROCE_IMM_BYTES	      4u
#define ROCE_IETH_BYTES	      4u
#define ROCE_DETH_BYTES	      8u
#define ROCE_FETH_BYTES	      4u
#define ROCE_CNP_ZEROS	      16u /* behind the BTH of a congestion notification (W-CC-02) */
#define ROCE_ICRC_BYTES	      4u
#define ROCE_MAD_BYTES	      256u
#define ROCE_MTU_MAX	      4096u

/* No opcode has more than 28 bytes of extension headers (AtomicETH); there is room for 32. */
#define ROCE_HDR_MAX                                                                               \
	(ROCE_ETH_BYTES + ROCE_VLAN_TAG_BYTES + ROCE_IPV6_BYTES + ROCE_UDP_BYTES +                 \
		ROCE_BTH_BYTES + 32u)
#define ROCE_FRAME_MAX (ROCE_HDR_MAX + ROCE_MTU_MAX + 3u + ROCE_ICRC_BYTES)
#define ROCE_MSG_MAX   (1u << 31) /* bytes in one message, W-REQ-02 */

#define ROCE_ETHERTYPE_IPV4 0x0800u
#define ROCE_ETHERTYPE_IPV6 0x86ddu
#define ROCE_ETHERTYPE_VLAN 0x8100u
#define ROCE_ETHERTYPE_QINQ 0x88a8u
#define ROCE_VLAN_MASK	    0x0fffu /* of a tag: the rest is priority */
#define ROCE_PROTO_UDP	    17u
#define ROCE_UDP_PORT	    4791

/* The low bits of a traffic class; both set: congestion experienced (RFC 3168). */
#define ROCE_TOS_ECN   0x03u
#define ROCE_TOS_ECT0  0x02u /* ECN-capable: its sender slows down when told of marks */
#define ROCE_TOS_CNP   0xc2u /* DSCP 48 and ECT(0), as hardware has it (W-CC-02) */
#define ROCE_HOP_LIMIT 64u   /* unless the application or the peer wishes another */

#define ROCE_QPN_GSI	   1u
#define ROCE_QPN_MULTICAST 0xffffffu
#define ROCE_QPN_MASK	   0xffffffu
#define ROCE_PSN_MASK	   0xffffffu
#define ROCE_PKEY_DEFAULT  0xffffu
#define ROCE_QKEY_GSI	   0x80010000u

#endif
