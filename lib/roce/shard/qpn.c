/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pair numbers: {shard, generation, index} behind a keyed permutation of 24 bits, so that
 * a number found on the wire says nothing about its neighbours, and costs no table to look up.
 */
#include "roce/shard/qpn.h"

#include "base/siphash.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"

#define HALF_BITS 12u
#define HALF_MASK 0xfffu
#define ROUNDS	  4u
static_assert(sizeof(((struct roce_qpn_key *)0)->mul) == ROUNDS * sizeof(uint64_t), "one for each");

/*
 * Two multiplications. While factor and addend are secret, the values for any two halves are as
 * good as random and independent, so a queue pair's number says nothing of another's. Without the
 * square, regular distances between indices would show in the numbers.
 */
static inline uint32_t
qpn_round(const struct roce_qpn_key *key, unsigned round, uint32_t half)
{
	uint64_t x = half * key->mul[round] + key->add[round];

	return (uint32_t)(x * x >> (64 - HALF_BITS));
}

static uint32_t
qpn_permute(const struct roce_qpn_key *key, uint32_t x)
{
	uint32_t l = x >> HALF_BITS, r = x & HALF_MASK;

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint32_t t = l ^ qpn_round(key, i, r);

		l = r;
		r = t;
	}
	return l << HALF_BITS | r;
}

/*
 * The permutation is quick, not cryptographically strong: from many numbers, and the order in which
 * they were made, the key could be found, and from it all other numbers. The secret does not follow
 * from the key, and a number alone gives access to nothing. The factors are odd, so that different
 * halves stay different in every round.
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
	return qpn_permute(
		key, shard << (ROCE_GEN_BITS + ROCE_INDEX_BITS) |
			     (generation & ((1u << ROCE_GEN_BITS) - 1)) << ROCE_INDEX_BITS | index);
}

uint32_t
roce_qpn_place(const struct roce_qpn_key *key, uint32_t qpn)
{
	uint32_t l = (qpn & ROCE_QPN_MASK) >> HALF_BITS, r = qpn & HALF_MASK;

	for (unsigned i = ROUNDS; i-- > 0;) {
		uint32_t t = r ^ qpn_round(key, i, l);

		r = l;
		l = t;
	}
	return l << HALF_BITS | r;
}

struct roce_qp *
roce_qp_find(struct roce_shard *s, uint32_t qpn)
{
	uint32_t index = roce_place_index(roce_qpn_place(&s->qpn_key, qpn));

	if (qpn == 0 || index >= s->cfg.max_qps || s->qps[index].qpn != qpn)
		return NULL;
	return &s->qps[index];
}
