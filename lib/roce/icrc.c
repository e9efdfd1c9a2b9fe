/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The invariant CRC (1.5): CRC-32 over everything from the IP header to the pad,
 * with the fields that routers may change replaced by ones. Only the headers up
 * to the BTH are copied for that; a short packet is copied whole, since one call
 * of the CRC costs less than two.
 */
#include <isa-l/crc.h>

#include "roce/bytes.h"
#include "roce/wire.h"

#define UDP_BYTES 8u
#define BTH_BYTES 12u
#define IPV4_BYTES 20u
#define IPV6_BYTES 40u
#define COPY_MAX  128u /* packets up to this size go through the copy */
/* CRC register after the eight ff bytes that stand for the LRH: ~0xdebb20e3 (W-ICRC-01). */
#define ICRC_SEED 0x2144df1cu

uint32_t
roce_crc32(uint32_t crc, const void *buf, size_t bytes)
{
	return crc32_gzip_refl(crc, buf, bytes);
}

static void
mask_ipv4(uint8_t *h)
{
	h[1] = 0xff;		  /* TOS */
	h[8] = 0xff;		  /* TTL */
	memset(h + 10, 0xff, 2); /* checksum */
}

static void
mask_ipv6(uint8_t *h)
{
	h[0] |= 0x0f; /* traffic class and flow label */
	memset(h + 1, 0xff, 3);
	h[7] = 0xff; /* hop limit */
}

/* bytes: from the IP header to the pad, ICRC excluded; at least all headers up to the BTH. */
static uint32_t
icrc(const uint8_t *l3, bool v6, uint32_t bytes)
{
	_Alignas(16) uint8_t h[COPY_MAX];
	uint32_t l3_bytes = v6 ? IPV6_BYTES : IPV4_BYTES;
	uint32_t hdr = l3_bytes + UDP_BYTES + BTH_BYTES;
	uint32_t copy = bytes <= COPY_MAX ? bytes : hdr;
	uint32_t crc;

	memcpy(h, l3, copy);
	if (v6)
		mask_ipv6(h);
	else
		mask_ipv4(h);
	memset(h + l3_bytes + 6, 0xff, 2);	  /* UDP checksum */
	h[l3_bytes + UDP_BYTES + 4] = 0xff; /* FECN, BECN, reserved */
	crc = roce_crc32(ICRC_SEED, h, copy);
	if (copy < bytes)
		crc = roce_crc32(crc, l3 + copy, bytes - copy);
	return crc;
}

bool
roce_icrc_ok(const struct roce_pkt *pkt)
{
	const uint8_t *end = pkt->payload + pkt->payload_bytes + pkt->pad;

	return icrc(pkt->l3, pkt->v6, (uint32_t)(end - pkt->l3)) == roce_get_le32(end);
}

uint32_t
roce_wire_seal(uint8_t *buf, const struct roce_hdr_tmpl *tmpl, uint32_t hdr_bytes,
	uint32_t payload_bytes)
{
	uint32_t pad = -payload_bytes & 3u;
	uint32_t end = hdr_bytes + payload_bytes;

	memset(buf + end, 0, 4); /* the pad; its spare bytes are overwritten by the ICRC */
	end += pad;
	roce_put_le32(buf + end, icrc(buf + tmpl->l3_off, tmpl->v6, end - tmpl->l3_off));
	return end + ROCE_ICRC_BYTES;
}
