/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More than ten thousand packets, each wrong in one thing (tests/fuzz/malformed.h): each is dropped
 * or answered for that thing and no other, is counted once, and disturbs no other queue pair.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "fuzz/malformed.h"

/* The other queue pairs are in the states in which they were made. */
static void
others_are_as_they_were(const struct world *w, enum world_qp but)
{
	static const enum roce_qp_state states[WORLD_QPS] = {[WORLD_INIT] = ROCE_QPS_INIT,
		[WORLD_RTR] = ROCE_QPS_RTR,
		[WORLD_RTS] = ROCE_QPS_RTS,
		[WORLD_RTS_SRQ] = ROCE_QPS_RTS,
		[WORLD_RTS_V6] = ROCE_QPS_RTS,
		[WORLD_RTS_MOVED] = ROCE_QPS_RTS,
		[WORLD_SQD] = ROCE_QPS_SQD,
		[WORLD_ERR] = ROCE_QPS_ERR,
		[WORLD_UD] = ROCE_QPS_UD_RTS};

	for (unsigned i = 0; i < WORLD_QPS; i++)
		if (i != but)
			cr_assert_eq(roce_qp_state_get(w->q[i].qp), states[i], "queue pair %u", i);
}

/* It ends its queue pair if it is refused, and only then. */
static void
one_arrives(const struct malformed *m)
{
	static uint8_t frame[ROCE_FRAME_MAX];
	struct fuzz_in nothing = {NULL, NULL};
	enum fate wanted = malformed_fate(m), got;
	enum roce_qp_state before;
	struct world w;
	uint32_t n;

	world_new(&w, &nothing, false, false);
	before = roce_qp_state_get(w.q[m->qp].qp);
	n = malformed_build(&w, m, frame);
	got = malformed_arrives(&w, frame, n);
	cr_assert_eq(got, wanted, "opcode %02x, queue pair %u, rule %u.%u: %s instead of %s",
		m->opcode, m->qp, m->rule, m->variant,
		got < FATES ? fate_names[got] : "more than one thing", fate_names[wanted]);
	if (wanted == FATE_REFUSED)
		before = ROCE_QPS_ERR;
	cr_assert_eq(roce_qp_state_get(w.q[m->qp].qp), before);
	others_are_as_they_were(&w, m->qp);
	world_end(&w); /* memory and the neighbour are as they were */
}

Test(malformed, each_is_counted_for_what_is_wrong)
{
	struct malformed m = {0};
	unsigned n = 0, fates[FATES] = {0};

	do {
		one_arrives(&m);
		fates[malformed_fate(&m)]++;
		n++;
	} while (malformed_next(&m));
	cr_assert_geq(n, 10000);
	for (enum fate f = FATE_PARSER + ROCE_WIRE_OPCODE; f < FATES; f++)
		cr_assert_gt(fates[f], 0, "%s", fate_names[f]);
}
