/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From bytes to a struct roce_pkt. Each length on the wire is believed only after
 * it was found to lie inside the one around it: Ethernet > IP > UDP > headers of
 * the opcode > payload, pad and ICRC.
 */
#include "base/bytes.h"
#include "wire/wire.h"

#define ETH_BYTES      14u
#define VLAN_TAG_BYTES 4u
#define VLAN_TAGS_MAX  2u
#define IPV4_BYTES     20u
#define IPV6_BYTES     40u
#define UDP_BYTES      8u
#define BTH_BYTES      12u
#define ETHERTYPE_IPV4 0x0800u
#define ETHERTYPE_IPV6 0x86ddu
#define ETHERTYPE_VLAN 0x8100u
#define ETHERTYPE_QINQ 0x88a8u
#define PROTO_UDP      17u
#define BTH_TVER       0x000f0000u /* in its first four bytes */
#define BTH_PAD_SHIFT  20
#define unlikely(x)    __builtin_expect(!!(x), 0)
#define OPF_ANY_EXT                                                                                \
	(ROCE_OPF_RETH | ROCE_OPF_AETH | ROCE_OPF_ATOMIC | ROCE_OPF_ATOMIC_ACK | ROCE_OPF_IMM |    \
		ROCE_OPF_IETH | ROCE_OPF_DETH | ROCE_OPF_FETH)

/* What stands behind the Ethernet header and its tags. */
static uint16_t
ethertype(const struct roce_pkt *pkt)
{
	return roce_get_be16(pkt->l3 - 2);
}

static bool
is_tag(uint16_t type)
{
	return type == ETHERTYPE_VLAN || type == ETHERTYPE_QINQ;
}

/*
 * Tags are looked through. One of VLAN 0 names a priority only. Two VLANs are one inside the other,
 * which is none of ours: else a station of the outer one would reach into the inner (W-PKT-02).
 */
static enum roce_wire_err
see_tags(const uint8_t *end, struct roce_pkt *pkt)
{
	for (unsigned tags = 0; is_tag(ethertype(pkt)); tags++, pkt->l3 += VLAN_TAG_BYTES) {
		uint16_t vlan;

		if (tags == VLAN_TAGS_MAX)
			return ROCE_WIRE_NOT_ROCE;
		if (end - pkt->l3 < (ptrdiff_t)VLAN_TAG_BYTES)
			return ROCE_WIRE_TRUNCATED;
		pkt->tagged = true;
		pkt->vlan_tci = roce_get_be16(pkt->l3);
		vlan = pkt->vlan_tci & ROCE_VLAN_MASK;
		if (vlan != 0)
			pkt->vlan = pkt->vlan == 0 ? vlan : ROCE_VLAN_NOBODYS;
	}
	return ROCE_WIRE_OK;
}

/* Order of headers as in 1.3. Their room was checked by the caller. */
static void
parse_ext(const uint8_t *h, uint32_t flags, struct roce_pkt *pkt)
{
	if (unlikely(flags & (ROCE_OPF_DETH | ROCE_OPF_FETH))) {
		if (flags & ROCE_OPF_DETH) {
			pkt->qkey = roce_get_be32(h);
			pkt->src_qpn = roce_get_be32(h + 4) & ROCE_QPN_MASK;
			h += 8;
		} else {
			pkt->feth = roce_get_be32(h);
			h += 4;
		}
	}
	if (flags & (ROCE_OPF_RETH | ROCE_OPF_ATOMIC)) {
		pkt->va = roce_get_be64(h);
		pkt->rkey = roce_get_be32(h + 8);
		if (flags & ROCE_OPF_RETH) {
			pkt->dma_bytes = roce_get_be32(h + 12);
			h += 16;
		} else {
			pkt->swap_add = roce_get_be64(h + 12);
			pkt->compare = roce_get_be64(h + 20);
			h += 28;
		}
	} else if (flags & ROCE_OPF_AETH) {
		uint32_t aeth = roce_get_be32(h);

		pkt->syndrome = (uint8_t)(aeth >> 24);
		pkt->msn = aeth & 0xffffffu;
		if (flags & ROCE_OPF_ATOMIC_ACK)
			pkt->atomic_orig = roce_get_be64(h + 4);
	}
	if (!(flags & (ROCE_OPF_IMM | ROCE_OPF_IETH)))
		return;
	if (flags & ROCE_OPF_IMM)
		memcpy(&pkt->imm, h, 4);
	else
		pkt->ieth = roce_get_be32(h);
}

/* udp has udp_bytes bytes, as IP says. The first eight are there in any case. */
static enum roce_wire_err
parse_transport(const uint8_t *udp, uint32_t udp_bytes, struct roce_pkt *pkt)
{
	const uint8_t *bth = udp + UDP_BYTES;
	const struct roce_opcode_desc *op;
	uint32_t first, pad, overhead;

	if (unlikely(roce_get_be16(udp + 4) != udp_bytes ||
		     udp_bytes < UDP_BYTES + BTH_BYTES + ROCE_ICRC_BYTES))
		return ROCE_WIRE_LENGTH; /* W-PKT-05 */
	first = roce_get_be32(bth);	 /* opcode, bits, P_Key */
	if (unlikely((first & BTH_TVER) != 0))
		return ROCE_WIRE_TVER;
	op = &roce_opcode_info[first >> 24];
	if (unlikely(!(op->flags & ROCE_OPF_VALID)))
		return ROCE_WIRE_OPCODE;
	pad = first >> BTH_PAD_SHIFT & 3;
	overhead = UDP_BYTES + op->hdr_bytes + pad + ROCE_ICRC_BYTES;
	if (unlikely(udp_bytes < overhead))
		return ROCE_WIRE_LENGTH; /* W-PKT-09 */
	if (!(op->flags & ROCE_OPF_PAYLOAD) && udp_bytes - overhead + pad != 0)
		return ROCE_WIRE_LENGTH; /* the opcode has no payload, hence no pad either */
	if (unlikely((first & 0x7fff) != (ROCE_PKEY_DEFAULT & 0x7fff)))
		return ROCE_WIRE_PKEY;

	pkt->payload = bth + op->hdr_bytes;
	pkt->payload_bytes = udp_bytes - overhead;
	pkt->qpn = roce_get_be32(bth + 4) & ROCE_QPN_MASK;
	pkt->psn = roce_get_be32(bth + 8) & ROCE_PSN_MASK;
	pkt->opflags = op->flags;
	pkt->pkey = (uint16_t)first;
	pkt->opcode = (uint8_t)(first >> 24);
	pkt->pad = (uint8_t)pad;
	pkt->becn = bth[4] >> 6 & 1;
	pkt->ackreq = bth[8] >> 7;
	pkt->bth_bits[0] = bth[1];
	pkt->bth_bits[1] = bth[4];
	pkt->syndrome = 0;
	memset(pkt->ext, 0, sizeof(pkt->ext));
	if (op->flags & OPF_ANY_EXT)
		parse_ext(bth + BTH_BYTES, op->flags, pkt);
	return ROCE_WIRE_OK;
}

static bool
is_our_port(const uint8_t *udp)
{
	return roce_get_be16(udp + 2) == ROCE_UDP_PORT;
}

/* The header has 20 bytes, is of no fragment, and RoCEv2 stands behind it. */
static bool
ipv4_plain(const uint8_t *ip)
{
	return ip[0] == 0x45 && ip[9] == PROTO_UDP && (roce_get_be16(ip + 6) & 0x3fffu) == 0 &&
	       is_our_port(ip + IPV4_BYTES);
}

/* What is wrong with one that is not plain. */
static enum roce_wire_err
ipv4_refused(const uint8_t *ip, size_t room)
{
	uint32_t ihl_bytes;

	if (room < IPV4_BYTES)
		return ROCE_WIRE_TRUNCATED;
	ihl_bytes = (uint32_t)(ip[0] & 0x0f) * 4;
	if (ip[0] >> 4 != 4 || ihl_bytes < IPV4_BYTES)
		return ROCE_WIRE_IP_HEADER;
	if (ip[9] != PROTO_UDP)
		return ROCE_WIRE_NOT_ROCE;
	if ((roce_get_be16(ip + 6) & 0x1fffu) != 0) /* a later fragment has no UDP header to ask */
		return ROCE_WIRE_IP_HEADER;
	if (room < ihl_bytes + UDP_BYTES)
		return ROCE_WIRE_TRUNCATED;
	if (!is_our_port(ip + ihl_bytes))
		return ROCE_WIRE_NOT_ROCE;
	return ROCE_WIRE_IP_HEADER; /* options, or a first fragment (W-ICRC-07) */
}

/*
 * Over a header with a right checksum the ones' complement sum of its 16-bit words is 0xffff. That
 * sum is the remainder of division by 0xffff, where 0 and 0xffff are one: of larger words as well,
 * and in either byte order. Nothing but zeros sums to 0, and the version is not 0.
 */
static bool
ipv4_checksum_ok(const uint8_t *ip)
{
	uint64_t sum = (uint64_t)roce_get_le32(ip) + roce_get_le32(ip + 4) + roce_get_le32(ip + 8) +
		       roce_get_le32(ip + 12) + roce_get_le32(ip + 16);

	return sum % 0xffffu == 0;
}

/* room: bytes from ip to the end of the frame. On OK *udp_bytes is what the IP header grants: more
 * than any UDP header can say, if its total is less than itself. */
static enum roce_wire_err
parse_ipv4(const uint8_t *ip, size_t room, struct roce_pkt *pkt, uint32_t *udp_bytes)
{
	uint32_t total;

	if (unlikely(room < IPV4_BYTES + UDP_BYTES || !ipv4_plain(ip)))
		return ipv4_refused(ip, room);
	if (unlikely(!ipv4_checksum_ok(ip)))
		return ROCE_WIRE_IP_HEADER;
	total = roce_get_be16(ip + 2);
	if (unlikely(total > room))
		return ROCE_WIRE_TRUNCATED;
	pkt->tos = ip[1];
	pkt->v6 = false;
	*udp_bytes = total - IPV4_BYTES;
	return ROCE_WIRE_OK;
}

/* Extension headers that would put UDP behind them; RoCEv2 has none (1.1). */
static bool
is_ipv6_ext(uint8_t next_header)
{
	return next_header == 0 || next_header == 43 || next_header == 44 || next_header == 60;
}

static enum roce_wire_err
parse_ipv6(const uint8_t *ip, size_t room, struct roce_pkt *pkt, uint32_t *udp_bytes)
{
	uint32_t payload;

	if (room < IPV6_BYTES)
		return ROCE_WIRE_TRUNCATED;
	if (ip[0] >> 4 != 6)
		return ROCE_WIRE_IP_HEADER;
	if (ip[6] != PROTO_UDP) {
		if (is_ipv6_ext(ip[6]) && room > IPV6_BYTES && ip[IPV6_BYTES] == PROTO_UDP)
			return ROCE_WIRE_IP_HEADER;
		return ROCE_WIRE_NOT_ROCE;
	}
	if (room < IPV6_BYTES + UDP_BYTES)
		return ROCE_WIRE_TRUNCATED;
	if (!is_our_port(ip + IPV6_BYTES))
		return ROCE_WIRE_NOT_ROCE;
	payload = roce_get_be16(ip + 4);
	if (payload > room - IPV6_BYTES)
		return ROCE_WIRE_TRUNCATED;
	pkt->tos = (uint8_t)(ip[0] << 4 | ip[1] >> 4);
	pkt->v6 = true;
	*udp_bytes = payload;
	return ROCE_WIRE_OK;
}

enum roce_wire_err
roce_wire_parse(const uint8_t *frame, size_t frame_bytes, struct roce_pkt *pkt)
{
	enum roce_wire_err err;
	uint32_t udp_bytes;
	const uint8_t *udp;
	size_t room;

	if (unlikely(frame_bytes < ETH_BYTES))
		return ROCE_WIRE_TRUNCATED;
	pkt->l3 = frame + ETH_BYTES;
	pkt->vlan_tci = pkt->vlan = 0;
	pkt->tagged = false;
	if (unlikely(ethertype(pkt) != ETHERTYPE_IPV4)) {
		err = see_tags(frame + frame_bytes, pkt);
		if (err != ROCE_WIRE_OK)
			return err;
	}
	room = (size_t)(frame + frame_bytes - pkt->l3);
	if (ethertype(pkt) == ETHERTYPE_IPV4) {
		err = parse_ipv4(pkt->l3, room, pkt, &udp_bytes);
		udp = pkt->l3 + IPV4_BYTES;
	} else if (ethertype(pkt) == ETHERTYPE_IPV6) {
		err = parse_ipv6(pkt->l3, room, pkt, &udp_bytes);
		udp = pkt->l3 + IPV6_BYTES;
	} else {
		return ROCE_WIRE_NOT_ROCE;
	}
	if (unlikely(err != ROCE_WIRE_OK))
		return err;
	return parse_transport(udp, udp_bytes, pkt);
}

void
roce_pkt_src_gid(const struct roce_pkt *pkt, struct roce_gid *gid)
{
	if (pkt->v6)
		memcpy(gid->raw, pkt->l3 + 8, 16);
	else
		roce_gid_from_v4(gid, pkt->l3 + 12);
}

void
roce_pkt_dst_gid(const struct roce_pkt *pkt, struct roce_gid *gid)
{
	if (pkt->v6)
		memcpy(gid->raw, pkt->l3 + 24, 16);
	else
		roce_gid_from_v4(gid, pkt->l3 + 16);
}
