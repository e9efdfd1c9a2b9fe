/* SPDX-License-Identifier: BSD-3-Clause */
#include "pattern.h"

#include <endian.h>
#include <string.h>

/*
 * The contents consist of words of 8 bytes, each of which is a multiplicative hash of its place. A
 * byte from another message, another queue pair or another offset is wrong with a probability of
 * 255/256, and a whole word is wrong with practical certainty. The constants are those of
 * splitmix64.
 */
#define STEP 0x9e3779b97f4a7c15ull
#define MIX  0xbf58476d1ce4e5b9ull

static uint64_t
pattern_seed(uint32_t qp, uint64_t message)
{
	uint64_t x = (message + 1) * STEP ^ ((uint64_t)qp << 40);

	x = (x ^ x >> 30) * MIX;
	return x ^ x >> 27;
}

static inline uint64_t
pattern_word(uint64_t s, size_t index)
{
	uint64_t x = (s + index * STEP) * MIX;

	return htole64(x ^ x >> 32);
}

void
pattern_fill(void *buf, size_t bytes, uint32_t qp, uint64_t message)
{
	uint8_t *p = buf;
	uint64_t s = pattern_seed(qp, message), w;
	size_t i, words = bytes / 8;

	for (i = 0; i < words; i++) {
		w = pattern_word(s, i);
		memcpy(p + 8 * i, &w, 8);
	}
	w = pattern_word(s, words);
	memcpy(p + 8 * words, &w, bytes % 8);
}

size_t
pattern_check(const void *buf, size_t bytes, uint32_t qp, uint64_t message)
{
	const uint8_t *p = buf;
	uint64_t s = pattern_seed(qp, message), w;
	size_t i, n, at;

	for (i = 0; i < bytes; i += 8) {
		n = bytes - i < 8 ? bytes - i : 8;
		w = pattern_word(s, i / 8);
		if (memcmp(p + i, &w, n) == 0)
			continue;
		for (at = 0; p[i + at] == ((const uint8_t *)&w)[at]; at++)
			;
		return i + at;
	}
	return bytes;
}
