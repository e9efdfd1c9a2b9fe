/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pair numbers: a keyed permutation of shard, generation and index. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "roce/shard/qpn.h"

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
