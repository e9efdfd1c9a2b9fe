/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pair numbers: {shard, generation, index} behind a keyed permutation of 24 bits, so that
 * a number found on the wire says nothing about its neighbours, and costs no table to look up.
 */
#include "roce/internal.h"

#define HALF_BITS 12u
#define HALF_MASK 0xfffu
#define ROUNDS	  4u

static uint32_t
round_function(const struct roce_qpn_key *key, unsigned round, uint32_t half)
{
	uint64_t k = ndsh_rotl64(key->word[round & 1], 13 * round);
	uint64_t x = (half + k) * 0x9e3779b97f4a7c15ull;

	x ^= x >> 32;
	return (uint32_t)((x + k) * 0xd6e8feb86659fd93ull >> 52);
}

static uint32_t
permute(const struct roce_qpn_key *key, uint32_t x)
{
	uint32_t l = x >> HALF_BITS, r = x & HALF_MASK;

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint32_t t = l ^ round_function(key, i, r);

		l = r;
		r = t;
	}
	return l << HALF_BITS | r;
}

/* The round function is quick, not strong: it gets keys from which the secret does not follow. */
void
roce_qpn_key_init(struct roce_qpn_key *key, const uint64_t secret[2])
{
	key->word[0] = ndsh_siphash(secret, UINT64_MAX, 0);
	key->word[1] = ndsh_siphash(secret, UINT64_MAX, 1);
}

uint32_t
roce_qpn_make(
	const struct roce_qpn_key *key, uint32_t shard, uint32_t generation, uint32_t index)
{
	return permute(key, shard << (ROCE_GEN_BITS + ROCE_INDEX_BITS) |
				    (generation & ((1u << ROCE_GEN_BITS) - 1)) << ROCE_INDEX_BITS |
				    index);
}

uint32_t
roce_qpn_place(const struct roce_qpn_key *key, uint32_t qpn)
{
	uint32_t l = (qpn & ROCE_QPN_MASK) >> HALF_BITS, r = qpn & HALF_MASK;

	for (unsigned i = ROUNDS; i-- > 0;) {
		uint32_t t = r ^ round_function(key, i, l);

		r = l;
		l = t;
	}
	return l << HALF_BITS | r;
}
