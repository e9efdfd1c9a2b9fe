/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host does to objects while packets and requests are under way: time, states, memory. */
#include <string.h>

#include "world.h"

static void
time_passes(struct world *w)
{
	w->now_ns += fuzz_time(w->in, 8, 23);
	(void)roce_shard_timers(w->s, w->now_ns, 16);
}

static void
state_changes(struct world *w)
{
	unsigned i = fuzz_below(w->in, WORLD_QPS);
	enum roce_qp_state to = world_state(w, i, fuzz_below(w->in, 6));
	struct roce_qp *qp = w->q[i].qp;
	struct roce_qp_attr a;

	world_attr(w, i, &a);
	if (to == roce_qp_state_get(qp)) /* attributes alone */
		(void)roce_qp_modify(w->s, qp, w->now_ns, to, 1u << fuzz_below(w->in, 13), &a);
	else
		world_bring(w, i, to);
}

/* The client's view begins anew with the queue pair. */
static void
queue_pair_begins_anew(struct world *w)
{
	unsigned i = fuzz_below(w->in, WORLD_UD);
	struct world_qp_side *q = &w->q[i];
	const struct ndsh_qp_page *page = q->block;

	if (roce_qp_modify(w->s, q->qp, w->now_ns, ROCE_QPS_RESET, 0, NULL) != ROCE_MODIFY_OK)
		return;
	q->sq.next = page->sq_done;
	q->rq.next = page->rq_done;
	world_bring(w, i, world_state(w, i, ROCE_QPS_RTS));
}

static void
memory_changes(struct world *w)
{
	unsigned what = fuzz_below(w->in, 3 + WORLD_KEYED);

	switch (what) {
	case 0: /* a segment with no regions goes, and comes back */
		if (roce_admin_remove_range(w->admin, WORLD_VA + WORLD_AT_RW * WORLD_PAGE))
			(void)roce_admin_add_range(w->admin, WORLD_VA + WORLD_AT_RW * WORLD_PAGE,
				4 * WORLD_PAGE, w->arena + WORLD_AT_RW * WORLD_PAGE);
		break;
	case 1: /* the segment of the fast-register region goes, and comes back */
		w->fr_arena.count ^= 1;
		break;
	case 2:
		if (w->mw != NULL)
			roce_mw_destroy(w->s, w->mw);
		w->mw = roce_mw_create(w->s, w->pd, &w->mw_token.slot, &w->mw_token.secret);
		break;
	default:
		roce_mw_destroy(w->s, w->keyed[what - 3].mw);
		world_keyed_new(w, what - 3);
	}
}

static void
attributes_change(struct world *w)
{
	const uint8_t mac[6] = {2, 0, 0, 0, 0, 7};

	switch (fuzz_below(w->in, 5)) {
	case 0:
		roce_srq_arm(w->s, w->srq, fuzz_below(w->in, WORLD_SRQ_DEPTH));
		break;
	case 1:
		(void)roce_ud_modify(w->s, w->q[WORLD_UD].qp, w->now_ns, WORLD_Q_KEY);
		break;
	case 2:
		roce_qp_set_macs(w->q[fuzz_below(w->in, WORLD_UD)].qp, mac, mac);
		break;
	case 3:
		w->ah[WORLD_AH % WORLD_AHS].live ^= 1;
		break;
	default:
		(void)roce_qp_flush(w->s, w->q[fuzz_below(w->in, WORLD_QPS)].qp);
	}
}

static void
shard_rests(struct world *w)
{
	(void)roce_shard_rest(w->s);
	(void)roce_shard_movers_rest(w->s);
	(void)roce_shard_next_deadline(w->s);
}

void
world_host(struct world *w)
{
	static void (*const actions[])(struct world *) = {time_passes, time_passes, time_passes,
		state_changes, queue_pair_begins_anew, memory_changes, attributes_change,
		shard_rests};

	actions[fuzz_below(w->in, sizeof(actions) / sizeof(actions[0]))](w);
}
