/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pair numbers: {shard, generation, index} behind a keyed permutation of 24 bits, so that
 * a number found on the wire says nothing about its neighbours, and costs no table to look up.
 */
#include "roce/shard/qpn.h"

#include "base/siphash.h"

#define HALF_BITS 12u
#define HALF_MASK 0xfffu
#define ROUNDS	  4u
static_assert(sizeof(((struct roce_qpn_key *)0)->mul) == ROUNDS * sizeof(uint64_t), "one for each");

/*
 * Two multiplications. With factor and addend unknown the values for any two halves are as good as
 * random and as independent of each other, so whoever knows one queue pair's number knows nothing
 * of another's. The square is there because without it neighbours of neighbours would show.
 */
static inline uint32_t
round_function(const struct roce_qpn_key *key, unsigned round, uint32_t half)
{
	uint64_t x = half * key->mul[round] + key->add[round];

	return (uint32_t)(x * x >> (64 - HALF_BITS));
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

/*
 * Quick is not strong: from many numbers and the order in which they were made the key could be
 * found, and then all numbers. No more than that: the secret does not follow from it, and a number
 * opens nothing. Odd factors, so that all halves differ in every round.
 */
void
roce_qpn_key_init(struct roce_qpn_key *key, const uint64_t secret[2])
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		key->mul[i] = ndsh_siphash(secret, UINT64_MAX, 2 * i) | 1;
		key->add[i] = ndsh_siphash(secret, UINT64_MAX, 2 * i + 1);
	}
}

uint32_t
roce_qpn_make(const struct roce_qpn_key *key, uint32_t shard, uint32_t generation, uint32_t index)
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
