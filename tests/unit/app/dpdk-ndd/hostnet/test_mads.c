/* SPDX-License-Identifier: BSD-3-Clause */
/* MADs that wait for their next hop: a few places for all. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "hostnet/mads.h"
#include "platform/clock.h"
#include "rigs/cm_crowd.h"

/* MADs to the n-th stranger until there is no room for one: how many were kept. */
static unsigned
keep_all(struct ndd_mads *m, uint64_t now_ns, uint32_t n, bool ours)
{
	const struct roce_cm_tx tx = {.dgid = cm_crowd_v4(n), .ours = ours};
	const uint32_t before = m->waiting;
	uint32_t last;

	do {
		last = m->waiting;
		ndd_mads_keep(m, now_ns, &tx);
	} while (m->waiting != last);
	return m->waiting - before;
}

/* MADs to an address that never answers leave places for MADs to others, and for our own. */
Test(ndd_mads, no_destination_takes_all)
{
	struct ndd_mads *m = calloc(1, sizeof(*m));

	cr_expect_eq(keep_all(m, 1, 1, false), 24);
	cr_expect_eq(keep_all(m, 1, 2, false), 12);
	cr_expect_gt(keep_all(m, 1, 3, false), 0);
	for (uint32_t n = 4; n < 100; n++)
		(void)keep_all(m, 1, n, false);
	cr_expect_eq(keep_all(m, 1, 100, false), 0);
	cr_expect_eq(m->waiting, NDD_MADS_WAITING - NDD_MADS_OURS);
	cr_expect_eq(keep_all(m, 1, 101, true), NDD_MADS_OURS);
	cr_expect_eq(m->waiting, NDD_MADS_WAITING);
	free(m);
}

/* A destination that never answers has its places for three seconds, and no longer. */
Test(ndd_mads, places_come_back)
{
	struct ndd_mads *m = calloc(1, sizeof(*m));

	cr_expect_eq(keep_all(m, 1, 1, true), NDD_MADS_WAITING);
	cr_expect_eq(keep_all(m, 3 * NDD_S, 2, true), 0);
	ndd_mads_free(m, &m->mad[7]);
	cr_expect_eq(keep_all(m, 3 * NDD_S, 3, true), 1);
	ndd_mads_keep(m, 3 * NDD_S + 1, &(struct roce_cm_tx){.ours = false});
	cr_expect_eq(m->waiting, 2, "the last two");
	free(m);
}
