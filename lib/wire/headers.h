/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * roce_wire_build() for the paths that build a packet each: within its caller the struct roce_pkt
 * dissolves into registers, so that fields that a packet does not have are neither cleared nor
 * tested.
 */
#ifndef ROCE_HEADERS_H
#define ROCE_HEADERS_H

#include "base/bytes.h"
#include "base/compiler.h"
#include "wire/build.h"

/* The extension headers in the order of IBTA volume 1, chapter 5. */
BASE_INLINE void
roce_headers_ext(uint8_t *h, uint32_t flags, const struct roce_pkt *pkt)
{
	if (flags & ROCE_OPF_DETH) {
		roce_put_be32(h, pkt->qkey);
		roce_put_be32(h + 4, pkt->src_qpn & ROCE_QPN_MASK);
		h += ROCE_DETH_BYTES;
	}
	if (flags & ROCE_OPF_FETH) {
		roce_put_be32(h, pkt->feth);
		h += ROCE_FETH_BYTES;
	}
	if (flags & (ROCE_OPF_RETH | ROCE_OPF_ATOMIC)) {
		roce_put_be64(h, pkt->va);
		roce_put_be32(h + 8, pkt->rkey);
		h += 12;
	}
	if (flags & ROCE_OPF_RETH) {
		roce_put_be32(h, pkt->dma_bytes);
		h += 4;
	} else if (flags & ROCE_OPF_ATOMIC) {
		roce_put_be64(h, pkt->swap_add);
		roce_put_be64(h + 8, pkt->compare); /* nothing follows */
	} else if (flags & ROCE_OPF_AETH) {
		roce_put_be32(h, (uint32_t)pkt->syndrome << 24 | (pkt->msn & 0xffffffu));
		h += ROCE_AETH_BYTES;
	}
	if (flags & ROCE_OPF_ATOMIC_ACK)
		roce_put_be64(h, pkt->atomic_orig);
	if (flags & ROCE_OPF_IMM)
		memcpy(h, &pkt->imm, 4);
	else if (flags & ROCE_OPF_IETH)
		roce_put_be32(h, pkt->ieth);
}

BASE_INLINE void
roce_headers_lengths(
	uint8_t *buf, const struct roce_hdr_tmpl *tmpl, uint32_t udp_bytes, uint16_t ip_id)
{
	uint8_t *ip = buf + tmpl->l3_off;
	uint32_t sum;

	roce_put_be16(buf + tmpl->len - 4, (uint16_t)udp_bytes);
	if (tmpl->v6) {
		roce_put_be16(ip + 4, (uint16_t)udp_bytes);
		return;
	}
	sum = tmpl->csum + udp_bytes + ROCE_IPV4_BYTES + ip_id;
	sum = (sum & 0xffffu) + (sum >> 16);
	sum += sum >> 16;
	roce_put_be16(ip + 2, (uint16_t)(udp_bytes + ROCE_IPV4_BYTES));
	roce_put_be16(ip + 4, ip_id);
	roce_put_be16(ip + 10, (uint16_t)~sum);
}

/* possible: extension headers (ROCE_OPF_*) that packets of this caller may have. */
BASE_INLINE uint32_t
roce_headers_build(uint8_t *buf, const struct roce_hdr_tmpl *tmpl, const struct roce_pkt *pkt,
	uint16_t ip_id, uint32_t possible)
{
	const struct roce_opcode_desc *op = &roce_opcode_info[pkt->opcode];
	uint32_t pad = -pkt->payload_bytes & 3u;
	uint8_t *bth = buf + tmpl->len;

	/* All of the template, at a constant size: the BTH overwrites what is too much. */
	memcpy(buf, tmpl->bytes, sizeof(tmpl->bytes));
	roce_headers_lengths(buf, tmpl,
		ROCE_UDP_BYTES + op->hdr_bytes + pkt->payload_bytes + pad + ROCE_ICRC_BYTES, ip_id);

	bth[0] = pkt->opcode;
	bth[1] = (uint8_t)(pkt->se << 7 | pkt->mig << 6 | pad << 4);
	roce_put_be16(bth + 2, pkt->pkey);
	roce_put_be32(bth + 4,
		(uint32_t)pkt->fecn << 31 | (uint32_t)pkt->becn << 30 | (pkt->qpn & ROCE_QPN_MASK));
	roce_put_be32(bth + 8, (uint32_t)pkt->ackreq << 31 | (pkt->psn & ROCE_PSN_MASK));
	roce_headers_ext(bth + ROCE_BTH_BYTES, op->flags & possible, pkt);
	return tmpl->len + op->hdr_bytes;
}

#endif
