/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The invariant CRC (IBTA volume 1, chapter 7, and annex A17): CRC-32 over everything from the IP
 * header to the pad, with the fields that routers may change replaced by ones. Only the headers up
 * to the BTH are copied for that; a short packet is copied whole, since one call of the CRC costs
 * less than two. The copy is made of whole 16-byte stores: the CRC reads such blocks back at once,
 * and narrower stores would stall it.
 */
#include <isa-l/crc.h>

#include "base/bytes.h"
#include "wire/build.h"
#include "wire/icrc.h"
#include "wire/packet.h"

#define BLOCK	 16u
#define COPY_MAX 128u /* packets up to this size go through the copy */
/* CRC register after the eight ff bytes that stand for the LRH: ~0xdebb20e3 (W-ICRC-01). */
#define ICRC_SEED 0x2144df1cu

typedef uint64_t block_t __attribute__((vector_size(BLOCK)));

/* Ones over what is masked: of the 40 bytes up to the BTH's end in IPv4, of the 60 in IPv6. */
static const uint8_t mask_ipv4[3 * BLOCK] = {
	[1] = 0xff,
	[8] = 0xff,
	[10] = 0xff,
	[11] = 0xff, /* TOS, TTL, checksum */
	[26] = 0xff,
	[27] = 0xff, /* UDP checksum */
	[32] = 0xff, /* FECN, BECN, reserved */
};
static const uint8_t mask_ipv6[4 * BLOCK] = {
	[0] = 0x0f,
	[1] = 0xff,
	[2] = 0xff,
	[3] = 0xff, /* traffic class, flow label */
	[7] = 0xff, /* hop limit */
	[46] = 0xff,
	[47] = 0xff, /* UDP checksum */
	[52] = 0xff, /* FECN, BECN, reserved */
};

/*
 * ISA-L's AVX-512 code returns with the upper halves of the vector registers in use, and the SSE
 * instructions of all other code are slow from then on: 300 cycles a packet, measured.
 */
static void
release_vectors(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx"))
		__asm__ volatile("vzeroupper");
#endif
}

uint32_t
roce_crc32(uint32_t crc, const void *buf, size_t bytes)
{
	crc = crc32_gzip_refl(crc, buf, bytes);
	if (bytes > COPY_MAX)
		release_vectors();
	return crc;
}

static void
copy_block(uint8_t *dst, const uint8_t *src)
{
	block_t v;

	memcpy(&v, src, BLOCK);
	memcpy(dst, &v, BLOCK);
}

static void
copy_masked(uint8_t *dst, const uint8_t *src, const uint8_t *mask, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i += BLOCK) {
		block_t v, m;

		memcpy(&v, src + i, BLOCK);
		memcpy(&m, mask + i, BLOCK);
		v |= m;
		memcpy(dst + i, &v, BLOCK);
	}
}

/*
 * An IPv4 packet that ends with its BTH (or with 1 to 3 bytes and a wrong pad): even with its ICRC
 * it is shorter than the masked blocks. In IPv6 the smallest packet fills them exactly.
 */
static uint32_t
icrc_tiny_ipv4(const uint8_t *l3, uint32_t bytes)
{
	uint8_t h[sizeof(mask_ipv4)];

	memcpy(h, l3, bytes);
	for (unsigned i = 0; i < bytes; i++)
		h[i] |= mask_ipv4[i];
	return roce_crc32(ICRC_SEED, h, bytes);
}

/* bytes: from the IP header to the pad; the ICRC behind them may be read too. */
static uint32_t
icrc_of(const uint8_t *l3, bool v6, uint32_t bytes)
{
	_Alignas(BLOCK) uint8_t h[COPY_MAX + BLOCK];
	uint32_t masked = v6 ? sizeof(mask_ipv6) : sizeof(mask_ipv4);
	uint32_t readable = bytes + ROCE_ICRC_BYTES, at = masked;

	if (readable < masked)
		return icrc_tiny_ipv4(l3, bytes);
	if (v6)
		copy_masked(h, l3, mask_ipv6, sizeof(mask_ipv6));
	else
		copy_masked(h, l3, mask_ipv4, sizeof(mask_ipv4));
	if (bytes > COPY_MAX)
		return roce_crc32(roce_crc32(ICRC_SEED, h, masked), l3 + masked, bytes - masked);
	for (; at < bytes && at + BLOCK <= readable; at += BLOCK)
		copy_block(h + at, l3 + at);
	if (at < bytes) /* at most 11 bytes again, none of which is masked */
		copy_block(h + readable - BLOCK, l3 + readable - BLOCK);
	return roce_crc32(ICRC_SEED, h, bytes);
}

uint32_t
roce_icrc_difference_at(const uint8_t *l3, bool v6, uint32_t bytes)
{
	return icrc_of(l3, v6, bytes) ^ roce_get_le32(l3 + bytes);
}

uint32_t
roce_icrc_difference(const struct roce_pkt *pkt)
{
	const uint8_t *end = pkt->payload + pkt->payload_bytes + pkt->pad;

	return roce_icrc_difference_at(pkt->l3, pkt->v6, (uint32_t)(end - pkt->l3));
}

bool
roce_icrc_ok(const struct roce_pkt *pkt)
{
	return pkt->icrc_checked || roce_icrc_difference(pkt) == 0;
}

uint32_t
roce_wire_seal(
	uint8_t *buf, const struct roce_hdr_tmpl *tmpl, uint32_t hdr_bytes, uint32_t payload_bytes)
{
	uint32_t pad = -payload_bytes & 3u;
	uint32_t end = hdr_bytes + payload_bytes;

	memset(buf + end, 0, 4); /* the pad; its spare bytes are overwritten by the ICRC */
	end += pad;
	roce_put_le32(buf + end, icrc_of(buf + tmpl->l3_off, tmpl->v6, end - tmpl->l3_off));
	return end + ROCE_ICRC_BYTES;
}
