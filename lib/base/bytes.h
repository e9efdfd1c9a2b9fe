/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Network byte order for codecs: each function is one load or store. (gcc 12 makes the same of
 * shifts and bytes, unless several stand side by side: those it gathers byte by byte in a vector.)
 * Machines are little-endian (ndsh_abi.h).
 */
#ifndef ROCE_BYTES_H
#define ROCE_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint16_t
roce_get_be16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap16(v);
}

static inline uint32_t
roce_get_be32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap32(v);
}

static inline uint64_t
roce_get_be64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap64(v);
}

/* The ICRC alone goes least significant byte first (IBTA volume 1, chapter 7). */
static inline uint32_t
roce_get_le32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void
roce_put_be16(uint8_t *p, uint16_t v)
{
	v = __builtin_bswap16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void
roce_put_be32(uint8_t *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void
roce_put_be64(uint8_t *p, uint64_t v)
{
	v = __builtin_bswap64(v);
	memcpy(p, &v, sizeof(v));
}

static inline void
roce_put_le32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

#endif
