/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of a turn that are no packets: flushing, polled rings, movers, timers; and when the
 * next turn is needed.
 */
#include "base/compiler.h"
#include "base/list.h"
#include "roce/cc/pace.h"
#include "roce/lost.h"
#include "roce/mem/moved.h"
#include "roce/mem/mover.h"
#include "roce/qp/keepalive.h"
#include "roce/qp/qp.h"
#include "roce/queue/doorbell.h"
#include "roce/queue/flush.h"
#include "roce/queue/send_ring.h"
#include "roce/requester/requester.h"
#include "roce/roce.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"
#include "roce/shard/timer.h"

#define MOVER_CHECKS 64u /* queue pairs that a turn checks per mover */

unsigned
roce_shard_poll_rings(struct roce_shard *s, uint64_t now_ns, unsigned budget)
{
	unsigned found;

	s->now_ns = now_ns;
	found = roce_flush_some(s);
	return found + roce_send_rings_poll(s, budget);
}

/* Queue pairs that have to wait on go to the end of the list. */
static void
mover_serve_waiting(struct roce_shard *s, struct roce_mover *m)
{
	struct roce_moved *moved;

	for (unsigned n = 0; n < MOVER_CHECKS && (moved = roce_mover_waiter(m)) != NULL; n++) {
		if (base_unlikely(moved->lost.of != NULL))
			roce_lost(s, moved);
		if (roce_moved_progress(s, moved))
			roce_req_go_back(s, moved->qp);
	}
}

unsigned
roce_shard_movers(struct roce_shard *s, uint64_t now_ns)
{
	struct base_link *l, *next;
	unsigned work = 0;

	s->now_ns = now_ns;
	for (l = s->movers.next; l != &s->movers; l = next) {
		struct roce_mover *m = base_container(l, struct roce_mover, active);

		next = l->next;
		work += roce_mover_poll(m) || m->checks > 0;
		mover_serve_waiting(s, m);
		if (m->done == roce_mover_posted(m) && m->checks == 0)
			base_list_remove(l);
	}
	return work;
}

/* The tick of the queue pair has come; its deadline may have moved since it was put there. */
static void
qp_timer_run(struct roce_shard *s, struct roce_qp *qp)
{
	if (qp->deadline_ns > s->now_ns) {
		roce_timer_set(s, qp, qp->deadline_ns);
		return;
	}
	if (qp->deadline_ns != 0) {
		qp->deadline_ns = 0;
		roce_req_timeout(s, qp);
	}
	if (base_unlikely(qp->keepalive_ms != 0))
		roce_keepalive_run(s, qp);
}

unsigned
roce_shard_timers(struct roce_shard *s, uint64_t now_ns, unsigned budget)
{
	uint64_t now_tick = now_ns >> ROCE_WHEEL_SHIFT;
	struct roce_qp *qp;
	unsigned ran = 0;

	s->now_ns = now_ns;
	roce_flush_some(s);
	for (; ran < budget && s->wheel_tick <= now_tick; ran++) {
		qp = roce_timer_take(s);
		if (qp == NULL)
			break;
		qp_timer_run(s, qp);
	}
	return ran;
}

uint64_t
roce_shard_next_deadline(const struct roce_shard *s)
{
	uint64_t paced = roce_pace_next(&s->pace), timer = roce_timer_next(s);

	return timer < paced ? timer : paced;
}

bool
roce_shard_tx_pending(const struct roce_shard *s, uint64_t now_ns)
{
	return !base_list_empty(&s->acks_owed) || !base_list_empty(&s->senders) ||
	       !base_list_empty(&s->cnps) || !roce_doorbells_empty(&s->doorbells) ||
	       roce_pace_next(&s->pace) <= now_ns ||
	       (!base_list_empty(&s->starved) && roce_wqe_for_send(s));
}
