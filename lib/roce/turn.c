/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of a turn that are no packets: flushing, polled rings, movers, timers; and when the
 * next turn is needed.
 */
#include "base/compiler.h"
#include "base/list.h"
#include "roce/cc/pace.h"
#include "roce/held.h"
#include "roce/lost.h"
#include "roce/mem/moved.h"
#include "roce/mem/mover.h"
#include "roce/mem/mw.h"
#include "roce/qp/keepalive.h"
#include "roce/qp/qp.h"
#include "roce/queue/flush.h"
#include "roce/queue/send_ring.h"
#include "roce/requester/requester.h"
#include "roce/roce.h"
#include "roce/shard/line.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"
#include "roce/shard/timer.h"
#include "roce/shard/turns.h"
#include "roce/starved.h"
#include "roce/wakeups.h"

/* What a turn does for movers: some 40 us if none is in the cache. */
#define MOVER_LOOKS   64u
#define MOVER_CHECKS  128u /* of queue pairs that wait for one */
#define CHECKS_OF_ONE 64u  /* ... before it is another principal's turn */

unsigned
roce_shard_poll_rings(struct roce_shard *s, uint64_t now_ns, unsigned budget)
{
	unsigned found;

	s->now_ns = now_ns;
	found = roce_flush_some(s) + roce_wqes_drop_some(s) + roce_mw_unbind_some(s);
	return found + roce_send_rings_poll(s, budget);
}

/* Queue pairs that have to wait on go to the end of the list. Returns how many were checked. */
static unsigned
mover_serve_waiting(struct roce_shard *s, struct roce_mover *m, unsigned most)
{
	struct roce_moved *moved;
	unsigned n;

	for (n = 0; n < most && (moved = roce_mover_waiter(m)) != NULL; n++) {
		if (base_unlikely(moved->lost.of != NULL))
			roce_lost(s, moved);
		if (roce_moved_progress(s, moved))
			roce_req_go_back(s, moved->qp);
	}
	return n;
}

/* The next one of the next client of the next principal: many movers are as good as one. */
static unsigned
movers_serve_next(struct roce_shard *s, unsigned most, unsigned *work)
{
	struct roce_mover *m =
		base_container(roce_line_next(s, ROCE_LINE_MOVERS), struct roce_mover, active);
	unsigned checked;

	*work += roce_mover_poll(m) || m->checks > 0;
	checked = mover_serve_waiting(s, m, most < CHECKS_OF_ONE ? most : CHECKS_OF_ONE);
	roce_mover_seen(s, m);
	return checked;
}

unsigned
roce_shard_movers(struct roce_shard *s, uint64_t now_ns)
{
	unsigned looks = s->movers < MOVER_LOOKS ? s->movers : MOVER_LOOKS;
	unsigned checks = MOVER_CHECKS, work = 0;

	s->now_ns = now_ns;
	for (; looks > 0 && checks > 0 && s->movers > 0; looks--)
		checks -= movers_serve_next(s, checks, &work);
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
		roce_timer_end(s, qp);
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
	uint64_t first = timer < paced ? timer : paced, wakeup = roce_wakeups_next(s);

	return first < wakeup ? first : wakeup;
}

bool
roce_shard_tx_pending(const struct roce_shard *s, uint64_t now_ns)
{
	return !base_list_empty(&s->acks_owed) || !base_list_empty(&s->cnps) || s->farewells > 0 ||
	       roce_turns_pending(s) || roce_pace_next(&s->pace) <= now_ns ||
	       roce_starved_may_go_on(s) || roce_held_may_go_on(s);
}
