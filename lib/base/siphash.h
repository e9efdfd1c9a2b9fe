/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash-2-4 (Aumasson, Bernstein) of two 64-bit words: the pseudo-random function behind
 * tokens, QPNs and first PSNs. */
#ifndef NDSH_SIPHASH_H
#define NDSH_SIPHASH_H

#include <stdint.h>
#include <string.h>

static inline uint64_t
ndsh_rotl64(uint64_t x, unsigned n)
{
	return x << n | x >> (-n & 63);
}

static inline void
ndsh_sipround(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = ndsh_rotl64(v[1], 13) ^ v[0];
	v[0] = ndsh_rotl64(v[0], 32);
	v[2] += v[3];
	v[3] = ndsh_rotl64(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = ndsh_rotl64(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = ndsh_rotl64(v[1], 17) ^ v[2];
	v[2] = ndsh_rotl64(v[2], 32);
}

/* The 16-byte message a, b in little-endian order. */
static inline uint64_t
ndsh_siphash(const uint64_t key[2], uint64_t a, uint64_t b)
{
	const uint64_t block[3] = {a, b, (uint64_t)16 << 56};
	uint64_t v[4] = {
		key[0] ^ 0x736f6d6570736575ull,
		key[1] ^ 0x646f72616e646f6dull,
		key[0] ^ 0x6c7967656e657261ull,
		key[1] ^ 0x7465646279746573ull,
	};

	for (unsigned i = 0; i < 3; i++) {
		v[3] ^= block[i];
		ndsh_sipround(v);
		ndsh_sipround(v);
		v[0] ^= block[i];
	}
	v[2] ^= 0xff;
	for (unsigned i = 0; i < 4; i++)
		ndsh_sipround(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Of an IPv6 address, a GID, or whatever else has 16 bytes. */
static inline uint64_t
ndsh_siphash_address(const uint64_t key[2], const void *address)
{
	uint64_t half[2];

	memcpy(half, address, sizeof(half));
	return ndsh_siphash(key, half[0], half[1]);
}

#endif
