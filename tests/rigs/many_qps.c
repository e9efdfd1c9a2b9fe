/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "rigs/many_qps.h"

struct pair *
many_new(void)
{
	return pair_new(&(struct pair_opts){.qps = MANY_QPS, .sq_depth = 8, .rq_depth = 1});
}

void
many_write(struct pair *p)
{
	for (unsigned i = 0; i < MANY_QPS; i++)
		pair_write(p, 0, i, i, 0, MANY_AT + 64 * i, 64, 0);
}

unsigned
many_completions(struct pair *p)
{
	struct ndsh_cqe cqe;
	unsigned n = 0;

	for (; pair_poll(p, 0, &cqe); n++)
		cr_assert_eq(cqe.status, NDSH_WC_SUCCESS);
	return n;
}

void
many_go_on(struct pair *p, uint64_t ns)
{
	for (uint64_t end = p->now_ns + ns; p->now_ns < end; p->now_ns += MANY_WIRE_NS) {
		pair_turn(p, 0);
		pair_turn(p, 1);
	}
}
