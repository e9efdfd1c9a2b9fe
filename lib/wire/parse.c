/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From bytes to a struct roce_pkt. Each length on the wire is believed only after
 * it was found to lie inside the one around it: Ethernet > IP > UDP > headers of
 * the opcode > payload, pad and ICRC.
 */
#include "base/bytes.h"
#include "base/compiler.h"
#include "wire/packet.h"

#define VLAN_TAGS_MAX 2u
#define BTH_TVER      0x000f0000u /* in its first four bytes */
#define BTH_PAD_SHIFT 20
#define OPF_ANY_EXT                                                                                \
	(ROCE_OPF_RETH | ROCE_OPF_AETH | ROCE_OPF_ATOMIC | ROCE_OPF_ATOMIC_ACK | ROCE_OPF_IMM |    \
		ROCE_OPF_IETH | ROCE_OPF_DETH | ROCE_OPF_FETH)

/* The type field in front of pkt->l3: of the Ethernet header or of the last tag passed. */
static uint16_t
pkt_ethertype(const struct roce_pkt *pkt)
{
	return roce_get_be16(pkt->l3 - 2);
}

static bool
is_tag(uint16_t type)
{
	return type == ROCE_ETHERTYPE_VLAN || type == ROCE_ETHERTYPE_QINQ;
}

/*
 * Move pkt->l3 behind the VLAN tags. A tag of VLAN 0 names a priority only. A packet with two VLANs
 * is in one that is inside the other. No address here is in such a VLAN, and it must not count as
 * the inner one, or stations of the outer VLAN could reach that one (W-PKT-02).
 */
static enum roce_wire_err
skip_tags(const uint8_t *end, struct roce_pkt *pkt)
{
	for (unsigned tags = 0; is_tag(pkt_ethertype(pkt));
		tags++, pkt->l3 += ROCE_VLAN_TAG_BYTES) {
		uint16_t vlan;

		if (tags == VLAN_TAGS_MAX)
			return ROCE_WIRE_NOT_ROCE;
		if (end - pkt->l3 < (ptrdiff_t)ROCE_VLAN_TAG_BYTES)
			return ROCE_WIRE_TRUNCATED;
		pkt->tagged = true;
		pkt->vlan_tci = roce_get_be16(pkt->l3);
		vlan = pkt->vlan_tci & ROCE_VLAN_MASK;
		if (vlan != 0)
			pkt->vlan = pkt->vlan == 0 ? vlan : ROCE_VLAN_NESTED;
	}
	return ROCE_WIRE_OK;
}

/* The extension headers in the order of IBTA volume 1, chapter 5. The caller checked their room. */
static void
parse_ext(const uint8_t *h, uint32_t flags, struct roce_pkt *pkt)
{
	if (base_unlikely(flags & (ROCE_OPF_DETH | ROCE_OPF_FETH))) {
		if (flags & ROCE_OPF_DETH) {
			pkt->qkey = roce_get_be32(h);
			pkt->src_qpn = roce_get_be32(h + 4) & ROCE_QPN_MASK;
			h += ROCE_DETH_BYTES;
		} else {
			pkt->feth = roce_get_be32(h);
			h += ROCE_FETH_BYTES;
		}
	}
	if (flags & (ROCE_OPF_RETH | ROCE_OPF_ATOMIC)) {
		pkt->va = roce_get_be64(h);
		pkt->rkey = roce_get_be32(h + 8);
		if (flags & ROCE_OPF_RETH) {
			pkt->dma_bytes = roce_get_be32(h + 12);
			h += ROCE_RETH_BYTES;
		} else {
			pkt->swap_add = roce_get_be64(h + 12);
			pkt->compare = roce_get_be64(h + 20); /* nothing follows */
		}
	} else if (flags & ROCE_OPF_AETH) {
		uint32_t aeth = roce_get_be32(h);

		pkt->syndrome = (uint8_t)(aeth >> 24);
		pkt->msn = aeth & 0xffffffu;
		if (flags & ROCE_OPF_ATOMIC_ACK)
			pkt->atomic_orig = roce_get_be64(h + ROCE_AETH_BYTES);
	}
	if (!(flags & (ROCE_OPF_IMM | ROCE_OPF_IETH)))
		return;
	if (flags & ROCE_OPF_IMM)
		memcpy(&pkt->imm, h, 4);
	else
		pkt->ieth = roce_get_be32(h);
}

/* The IP header says that udp has udp_bytes bytes. The first eight are there in any case. */
static enum roce_wire_err
parse_transport(const uint8_t *udp, uint32_t udp_bytes, struct roce_pkt *pkt)
{
	const uint8_t *bth = udp + ROCE_UDP_BYTES;
	const struct roce_opcode_desc *op;
	uint32_t first, pad, overhead;

	if (base_unlikely(roce_get_be16(udp + 4) != udp_bytes ||
			  udp_bytes < ROCE_UDP_BYTES + ROCE_BTH_BYTES + ROCE_ICRC_BYTES))
		return ROCE_WIRE_LENGTH; /* W-PKT-05 */
	first = roce_get_be32(bth);	 /* opcode, bits, P_Key */
	if (base_unlikely((first & BTH_TVER) != 0))
		return ROCE_WIRE_TVER;
	op = &roce_opcode_info[first >> 24];
	if (base_unlikely(!(op->flags & ROCE_OPF_VALID)))
		return ROCE_WIRE_OPCODE;
	pad = first >> BTH_PAD_SHIFT & 3;
	overhead = ROCE_UDP_BYTES + op->hdr_bytes + pad + ROCE_ICRC_BYTES;
	if (base_unlikely(udp_bytes < overhead))
		return ROCE_WIRE_LENGTH; /* W-PKT-09 */
	if (!(op->flags & ROCE_OPF_PAYLOAD) && udp_bytes - overhead + pad != 0)
		return ROCE_WIRE_LENGTH; /* the opcode has no payload, hence no pad either */
	if (base_unlikely((first & 0x7fff) != (ROCE_PKEY_DEFAULT & 0x7fff)) &&
		first >> 24 != ROCE_CNP) /* W-PKT-12, W-CC-03 */
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
		parse_ext(bth + ROCE_BTH_BYTES, op->flags, pkt);
	return ROCE_WIRE_OK;
}

static bool
is_our_port(const uint8_t *udp)
{
	return roce_get_be16(udp + 2) == ROCE_UDP_PORT;
}

/* The header has 20 bytes, the packet is no fragment, and RoCEv2 follows. */
static bool
ipv4_is_plain(const uint8_t *ip)
{
	return ip[0] == 0x45 && ip[9] == ROCE_PROTO_UDP && (roce_get_be16(ip + 6) & 0x3fffu) == 0 &&
	       is_our_port(ip + ROCE_IPV4_BYTES);
}

/* What is wrong with an IPv4 header that is not plain. */
static enum roce_wire_err
ipv4_fault(const uint8_t *ip, size_t room)
{
	uint32_t ihl_bytes;

	if (room < ROCE_IPV4_BYTES)
		return ROCE_WIRE_TRUNCATED;
	ihl_bytes = (uint32_t)(ip[0] & 0x0f) * 4;
	if (ip[0] >> 4 != 4 || ihl_bytes < ROCE_IPV4_BYTES)
		return ROCE_WIRE_IP_HEADER;
	if (ip[9] != ROCE_PROTO_UDP)
		return ROCE_WIRE_NOT_ROCE;
	if ((roce_get_be16(ip + 6) & 0x1fffu) != 0) /* a later fragment has no UDP header */
		return ROCE_WIRE_IP_HEADER;
	if (room < ihl_bytes + ROCE_UDP_BYTES)
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

/* room: bytes from ip to the end of the frame. On OK *udp_bytes is what the IP header leaves for
 * UDP. If its total length is less than the header itself, that wraps to more than any UDP header
 * can say, and parse_transport() refuses it. */
static enum roce_wire_err
parse_ipv4(const uint8_t *ip, size_t room, struct roce_pkt *pkt, uint32_t *udp_bytes)
{
	uint32_t total;

	if (base_unlikely(room < ROCE_IPV4_BYTES + ROCE_UDP_BYTES || !ipv4_is_plain(ip)))
		return ipv4_fault(ip, room);
	if (base_unlikely(!ipv4_checksum_ok(ip)))
		return ROCE_WIRE_IP_HEADER;
	total = roce_get_be16(ip + 2);
	if (base_unlikely(total > room))
		return ROCE_WIRE_TRUNCATED;
	pkt->tos = ip[1];
	pkt->v6 = false;
	*udp_bytes = total - ROCE_IPV4_BYTES;
	return ROCE_WIRE_OK;
}

/* Extension headers that UDP could follow; RoCEv2 has none (IBTA annex A17). */
static bool
is_ipv6_ext(uint8_t next_header)
{
	return next_header == 0 || next_header == 43 || next_header == 44 || next_header == 60;
}

static enum roce_wire_err
parse_ipv6(const uint8_t *ip, size_t room, struct roce_pkt *pkt, uint32_t *udp_bytes)
{
	uint32_t payload;

	if (room < ROCE_IPV6_BYTES)
		return ROCE_WIRE_TRUNCATED;
	if (ip[0] >> 4 != 6)
		return ROCE_WIRE_IP_HEADER;
	if (ip[6] != ROCE_PROTO_UDP) {
		if (is_ipv6_ext(ip[6]) && room > ROCE_IPV6_BYTES &&
			ip[ROCE_IPV6_BYTES] == ROCE_PROTO_UDP)
			return ROCE_WIRE_IP_HEADER;
		return ROCE_WIRE_NOT_ROCE;
	}
	if (room < ROCE_IPV6_BYTES + ROCE_UDP_BYTES)
		return ROCE_WIRE_TRUNCATED;
	if (!is_our_port(ip + ROCE_IPV6_BYTES))
		return ROCE_WIRE_NOT_ROCE;
	payload = roce_get_be16(ip + 4);
	if (payload > room - ROCE_IPV6_BYTES)
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
	uint32_t udp_bytes = 0; /* fewer than any packet has */
	const uint8_t *udp;
	size_t room;

	if (base_unlikely(frame_bytes < ROCE_ETH_BYTES))
		return ROCE_WIRE_TRUNCATED;
	pkt->l3 = frame + ROCE_ETH_BYTES;
	pkt->vlan_tci = pkt->vlan = 0;
	pkt->tagged = false;
	pkt->icrc_checked = false;
	if (base_unlikely(pkt_ethertype(pkt) != ROCE_ETHERTYPE_IPV4)) {
		err = skip_tags(frame + frame_bytes, pkt);
		if (err != ROCE_WIRE_OK)
			return err;
	}
	room = (size_t)(frame + frame_bytes - pkt->l3);
	if (pkt_ethertype(pkt) == ROCE_ETHERTYPE_IPV4) {
		err = parse_ipv4(pkt->l3, room, pkt, &udp_bytes);
		udp = pkt->l3 + ROCE_IPV4_BYTES;
	} else if (pkt_ethertype(pkt) == ROCE_ETHERTYPE_IPV6) {
		err = parse_ipv6(pkt->l3, room, pkt, &udp_bytes);
		udp = pkt->l3 + ROCE_IPV6_BYTES;
	} else {
		return ROCE_WIRE_NOT_ROCE;
	}
	if (base_unlikely(err != ROCE_WIRE_OK))
		return err;
	return parse_transport(udp, udp_bytes, pkt);
}

uint16_t
roce_pkt_sport(const struct roce_pkt *pkt)
{
	return roce_get_be16(pkt->l3 + (pkt->v6 ? ROCE_IPV6_BYTES : ROCE_IPV4_BYTES));
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
