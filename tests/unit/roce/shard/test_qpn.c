/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pair numbers: a keyed permutation of shard, generation and index. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/lone_shard.h"
#include "roce/qp/qp.h"
#include "roce/shard/qpn.h"
#include "roce/shard/shard.h"

Test(qpn, the_permutation_of_numbers_is_one)
{
	const uint64_t secret[2] = {0x123456789abcdef0, 0x0fedcba987654321};
	uint8_t *seen = calloc(1u << 24, 1);
	struct roce_qpn_key key;
	uint32_t close = 0, last = 0;

	roce_qpn_key_init(&key, secret);
	for (uint32_t i = 0; i < 1u << 24; i++) {
		uint32_t qpn = roce_qpn_make(&key, i >> 21, i >> 17 & 15, i & 0x1ffff);

		cr_assert_lt(qpn, 1u << 24);
		cr_assert_eq(seen[qpn]++, 0);
		close += qpn - last + 256 < 512;
		last = qpn;
		if (i % 65537 == 0) {
			cr_assert_eq(roce_qpn_place(&key, qpn), i);
			cr_assert_eq(roce_place_shard(i), i >> 21);
		}
	}
	cr_assert_lt(close, 2000, "neighbours are no neighbours: %u", close);
	free(seen);
}

/* For any key the way back leads to where the number was made; a generation has four bits. */
Test(qpn, the_way_back_of_every_number)
{
	static const uint64_t secrets[][2] = {{0, 0}, {1, 0}, {0, 1}, {UINT64_MAX, UINT64_MAX}};

	for (size_t k = 0; k < sizeof(secrets) / sizeof(secrets[0]); k++) {
		struct roce_qpn_key key;
		uint32_t wrong = 0;

		roce_qpn_key_init(&key, secrets[k]);
		for (uint32_t qpn = 0; qpn < 1u << 24; qpn++) {
			uint32_t place = roce_qpn_place(&key, qpn);
			uint32_t shard = roce_place_shard(place), index = roce_place_index(place);
			uint32_t generation = place >> ROCE_INDEX_BITS & 15;

			wrong += shard > 7 || index >= 1u << ROCE_INDEX_BITS ||
				 roce_qpn_make(&key, shard, generation, index) != qpn ||
				 roce_qpn_make(&key, shard, generation + 16, index) != qpn;
		}
		cr_assert_eq(wrong, 0, "%u numbers with key %zu", wrong, k);
	}
}

/* The other bits of a word do not count: a packet's number has 24. */
Test(qpn, bits_above_a_number_are_not_looked_at)
{
	const uint64_t secret[2] = {7, 8};
	struct roce_qpn_key key;

	roce_qpn_key_init(&key, secret);
	for (uint32_t qpn = 1; qpn < 1u << 24; qpn = qpn * 3 + 1)
		cr_assert_eq(roce_qpn_place(&key, qpn), roce_qpn_place(&key, qpn | 0xa5000000));
}

/*
 * checks W-CM-53[1]: numbers of one secret tell nothing of another's: hardly any place has the
 * same one twice.
 */
Test(qpn, each_bit_of_the_secret_counts)
{
	const uint64_t secret[2] = {0x5555, 0xaaaa};
	struct roce_qpn_key key;

	roce_qpn_key_init(&key, secret);
	for (unsigned bit = 0; bit < 128; bit++) {
		uint64_t other[2] = {secret[0], secret[1]};
		struct roce_qpn_key changed;
		uint32_t same = 0;

		other[bit / 64] ^= UINT64_C(1) << bit % 64;
		roce_qpn_key_init(&changed, other);
		for (uint32_t i = 0; i < 4096; i++)
			same += roce_qpn_make(&key, 0, 1, i) == roce_qpn_make(&changed, 0, 1, i);
		cr_assert_lt(same, 4, "bit %u", bit);
	}
}

/* A factor and an addend for each round, and nothing behind them. */
Test(qpn, the_key_ends_where_it_ends)
{
	const uint64_t secret[2] = {1, 2};
	struct {
		struct roce_qpn_key key;
		uint64_t behind[2];
	} k = {.behind = {3, 4}};

	roce_qpn_key_init(&k.key, secret);
	cr_assert_eq(k.behind[0], 3);
	cr_assert_eq(k.behind[1], 4);
}

/* A number that leads beyond the table is of no queue pair, whatever lies there. */
Test(qpn, a_number_beyond_the_table)
{
	struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s;

	cfg.max_qps = 8;
	cfg.max_mrs = 4096; /* which lie behind the queue pairs */
	s = lone_shard_new(&cfg);
	for (uint32_t index = cfg.max_qps; index < cfg.max_qps + 4; index++) {
		uint32_t qpn = roce_qpn_make(&s->qpn_key, cfg.shard_id, 0, index);

		s->qps[index].qpn = qpn;
		cr_assert_null(roce_qp_find(s, qpn), "index %u", index);
	}
	free(s);
}

/* Number 0 is of no queue pair of ours; a place without one has that number. */
Test(qpn, number_0)
{
	struct roce_shard_cfg cfg = lone_config();
	bool met = false;

	cfg.max_qps = 4096;
	for (uint64_t n = 0; n < 512; n++) {
		struct roce_shard *s;

		cfg.secret[0] = n;
		s = lone_shard_new(&cfg);
		met |= roce_place_index(roce_qpn_place(&s->qpn_key, 0)) < cfg.max_qps;
		cr_assert_null(roce_qp_find(s, 0));
		free(s);
	}
	cr_assert(met, "the number led to a place in none of them");
}
