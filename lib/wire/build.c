/* SPDX-License-Identifier: BSD-3-Clause */
/* From a struct roce_pkt to bytes. The lower headers of a flow are prepared once. */
#include "wire/headers.h"

static uint32_t
ipv4_header_sum(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < ROCE_IPV4_BYTES; i += 2)
		sum += roce_get_be16(ip + i);
	return sum;
}

static uint32_t
tmpl_init_ipv4(uint8_t *ip, const struct roce_path *path)
{
	ip[0] = 0x45;
	ip[1] = path->tos;
	roce_put_be16(ip + 6, 0x4000); /* DF: RoCE is never fragmented */
	ip[8] = path->ttl;
	ip[9] = ROCE_PROTO_UDP;
	memcpy(ip + 12, path->sgid.raw + 12, 4);
	memcpy(ip + 16, path->dgid.raw + 12, 4);
	return ROCE_IPV4_BYTES;
}

static uint32_t
tmpl_init_ipv6(uint8_t *ip, const struct roce_path *path)
{
	roce_put_be32(ip, 6u << 28 | (uint32_t)path->tos << 20 | (path->flow_label & 0xfffffu));
	ip[6] = ROCE_PROTO_UDP;
	ip[7] = path->ttl;
	memcpy(ip + 8, path->sgid.raw, 16);
	memcpy(ip + 24, path->dgid.raw, 16);
	return ROCE_IPV6_BYTES;
}

void
roce_hdr_tmpl_init(struct roce_hdr_tmpl *tmpl, const struct roce_path *path)
{
	uint8_t *p = tmpl->bytes;

	*tmpl = (struct roce_hdr_tmpl){.v6 = !roce_gid_is_v4(&path->dgid),
		.tos = path->tos,
		.class_priority = path->class_priority};
	memcpy(p, path->dmac, 6);
	memcpy(p + 6, path->smac, 6);
	p += 12;
	if (path->tagged) {
		roce_put_be16(p, ROCE_ETHERTYPE_VLAN);
		roce_put_be16(p + 2, path->vlan_tci);
		tmpl->vlan = path->vlan_tci & ROCE_VLAN_MASK;
		p += 4;
	}
	roce_put_be16(p, tmpl->v6 ? ROCE_ETHERTYPE_IPV6 : ROCE_ETHERTYPE_IPV4);
	p += 2;
	tmpl->l3_off = (uint8_t)(p - tmpl->bytes);
	if (tmpl->v6) {
		p += tmpl_init_ipv6(p, path);
	} else {
		p += tmpl_init_ipv4(p, path);
		tmpl->csum = ipv4_header_sum(tmpl->bytes + tmpl->l3_off);
	}
	roce_put_be16(p, path->udp_sport);
	roce_put_be16(p + 2, ROCE_UDP_PORT);
	p += ROCE_UDP_BYTES; /* the checksum stays 0 in both families, as stock peers send it */
	tmpl->len = (uint8_t)(p - tmpl->bytes);
}

uint32_t
roce_wire_build(
	uint8_t *buf, const struct roce_hdr_tmpl *tmpl, const struct roce_pkt *pkt, uint16_t ip_id)
{
	return roce_headers_build(buf, tmpl, pkt, ip_id, ~0u);
}

void
roce_wire_set_tos(uint8_t *buf, const struct roce_hdr_tmpl *tmpl, uint8_t tos)
{
	uint8_t *ip = buf + tmpl->l3_off;
	uint32_t sum;

	if (tmpl->v6) {
		ip[0] = (uint8_t)((ip[0] & 0xf0u) | tos >> 4);
		ip[1] = (uint8_t)((ip[1] & 0x0fu) | tos << 4);
		return;
	}
	/* The checksum moves by as much as its word (RFC 1624). */
	sum = (~roce_get_be16(ip + 10) & 0xffffu) + (0xffffu - ip[1]) + tos;
	sum = (sum & 0xffffu) + (sum >> 16);
	sum += sum >> 16;
	ip[1] = tos;
	roce_put_be16(ip + 10, (uint16_t)~sum);
}

uint32_t
roce_wire_build_cnp(uint8_t *buf, const struct roce_hdr_tmpl *tmpl, uint32_t qpn, uint16_t ip_id)
{
	const struct roce_pkt pkt = {.opcode = ROCE_CNP,
		.qpn = qpn,
		.pkey = ROCE_PKEY_DEFAULT,
		.becn = true,
		.payload_bytes = ROCE_CNP_ZEROS};
	uint32_t hdr_bytes = roce_wire_build(buf, tmpl, &pkt, ip_id);

	memset(buf + hdr_bytes, 0, ROCE_CNP_ZEROS);
	roce_wire_set_tos(buf, tmpl, ROCE_TOS_CNP);
	/* No source port, as hardware has none. */
	roce_put_be16(buf + tmpl->len - ROCE_UDP_BYTES, 0);
	if (tmpl->vlan != 0 && tmpl->class_priority)
		buf[14] = (uint8_t)((buf[14] & 0x1fu) | (ROCE_TOS_CNP & 0xe0u));
	return hdr_bytes;
}
