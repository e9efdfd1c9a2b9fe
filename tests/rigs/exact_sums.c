/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/exact_sums.h"

#define LONG UINT64_C(100000000000)

uint32_t
exact_sums(struct pair *p, const struct sums *s)
{
	const char *many = getenv("ATOMICS");
	const uint32_t n = many != NULL ? (uint32_t)strtoul(many, NULL, 0) : 20000;
	uint8_t *seen = calloc(n + s->adders, 1);
	uint64_t dice = 1, done = 0;
	struct ndsh_cqe c;

	cr_assert_not_null(seen);
	p->tap = fault_tap_dice;
	p->tap_ctx = &dice;
	for (uint32_t i = 0; i < s->adders; i++)
		s->add(p, i);
	while (done < n) {
		cr_assert(p->now_ns < UINT64_C(1000) * LONG);
		(void)pair_run(p, 1000000);
		while (done < n && pair_poll(p, 0, &c)) {
			uint64_t old = s->found(p, (uint32_t)c.context);

			cr_assert_eq(c.status, NDSH_WC_SUCCESS);
			cr_assert_lt(old, n + s->adders, "more was added than was asked for");
			cr_assert_eq(seen[old]++, 0, "two found %lu", (unsigned long)old);
			if (++done + s->adders <= n)
				s->add(p, (uint32_t)c.context);
		}
	}
	cr_assert(pair_run(p, LONG));
	for (uint32_t i = 0; i < n; i++)
		cr_assert_eq(seen[i], 1, "no atomic found %u", i);
	p->tap = NULL;
	free(seen);
	return n;
}
