/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pair numbers: {shard, generation, index} behind a keyed permutation. */
#ifndef ROCE_QPN_H
#define ROCE_QPN_H

#include <assert.h>

#include "roce/roce.h"

#define ROCE_SHARD_BITS 3u
#define ROCE_GEN_BITS	4u
#define ROCE_INDEX_BITS 17u
static_assert(ROCE_PLACE_SHARD_SHIFT == ROCE_GEN_BITS + ROCE_INDEX_BITS, "the shard is on top");

uint32_t roce_qpn_make(
	const struct roce_qpn_key *key, uint32_t shard, uint32_t generation, uint32_t index);

/* The index of a roce_qpn_place(). */
static inline uint32_t
roce_place_index(uint32_t place)
{
	return place & ((1u << ROCE_INDEX_BITS) - 1);
}

/* The queue pair of the shard with this number; NULL: there is none. */
struct roce_qp *roce_qp_find(struct roce_shard *s, uint32_t qpn);

#endif
