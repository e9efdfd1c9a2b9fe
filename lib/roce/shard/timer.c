/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timer wheel has one entry per queue pair. Every ACK moves a deadline forward; only the
 * deadline in the queue pair is changed then, and its entry moves when its old tick comes. A queue
 * pair with a keepalive is in the wheel as long as it is in RTS: when its tick comes without a
 * deadline, the keepalive is run. So queue pairs without a keepalive pay nothing for it.
 *
 * When all is acknowledged, the entry stays for the next request, as long as there are few entries.
 * With many queue pairs each one sends seldom: an entry left to its tick would be reached when
 * neither it nor its neighbours in the slot's list are in the cache any more. So it leaves at once,
 * while its neighbours, which were set at about the same time, still are.
 */
#include "roce/shard/timer.h"

#include "base/list.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"
#include "roce/shard/window.h"

/* Up to so many entries, one without a deadline stays until its tick. */
#define TIMERS_LAZY 512u

/* First tick at which the deadline has passed for certain. */
static uint64_t
deadline_tick(uint64_t deadline_ns)
{
	return (deadline_ns >> ROCE_WHEEL_SHIFT) + 1;
}

/* at_ns has not passed, so its tick is not behind wheel_tick, which is the next one at most. */
static void
wheel_insert(struct roce_shard *s, struct roce_qp *qp, uint64_t at_ns)
{
	uint64_t tick = deadline_tick(at_ns);
	uint64_t last = s->wheel_tick + ROCE_WHEEL_SLOTS - 1;
	uint32_t slot;

	if (tick > last) /* beyond the horizon: its deadline is compared again at that tick */
		tick = last;
	slot = (uint32_t)(tick % ROCE_WHEEL_SLOTS);
	s->wheel_map[slot / 64] |= UINT64_C(1) << slot % 64;
	qp->timer_tick = tick;
	base_list_append(&s->wheel[slot], &qp->timer_link);
	s->usage.timers++;
}

void
roce_timer_end(struct roce_shard *s, struct roce_qp *qp)
{
	if (qp->deadline_ns == 0)
		return;
	qp->deadline_ns = 0;
	roce_window_waits(s, false);
}

void
roce_timer_remove(struct roce_shard *s, struct roce_qp *qp)
{
	roce_timer_end(s, qp);
	if (!base_linked(&qp->timer_link))
		return;
	base_list_remove(&qp->timer_link);
	s->usage.timers--;
}

void
roce_timer_rest(struct roce_shard *s, struct roce_qp *qp)
{
	roce_timer_end(s, qp);
	if (s->usage.timers > TIMERS_LAZY && !(qp->tx_bits & ROCE_TXB_KEEPALIVE))
		roce_timer_remove(s, qp);
}

void
roce_timer_set(struct roce_shard *s, struct roce_qp *qp, uint64_t deadline_ns)
{
	if (qp->deadline_ns == 0 && deadline_ns != 0)
		roce_window_waits(s, true);
	qp->deadline_ns = deadline_ns;
	if (base_linked(&qp->timer_link)) {
		if (qp->timer_tick <= deadline_tick(deadline_ns))
			return;
		base_list_remove(&qp->timer_link);
		s->usage.timers--;
	}
	if (s->usage.timers == 0)
		s->wheel_tick = s->now_ns >> ROCE_WHEEL_SHIFT;
	wheel_insert(s, qp, deadline_ns);
}

void
roce_timer_watch(struct roce_shard *s, struct roce_qp *qp, uint64_t at_ns)
{
	if (base_linked(&qp->timer_link))
		return;
	if (s->usage.timers == 0)
		s->wheel_tick = s->now_ns >> ROCE_WHEEL_SHIFT;
	wheel_insert(s, qp, at_ns);
}

/* Ticks from wheel_tick to the first slot with entries, at most limit. */
static uint64_t
wheel_gap(const struct roce_shard *s, uint64_t limit)
{
	uint64_t gap = 0;

	while (gap < limit) {
		uint32_t slot = (uint32_t)((s->wheel_tick + gap) % ROCE_WHEEL_SLOTS);
		uint64_t word = s->wheel_map[slot / 64] >> slot % 64;

		if (word != 0) {
			gap += (uint64_t)__builtin_ctzll(word);
			break;
		}
		gap += 64 - slot % 64;
	}
	return gap < limit ? gap : limit;
}

/* always_inline, across files: an lcore without work calls it in every turn. */
struct roce_qp *
roce_timer_take(struct roce_shard *s)
{
	uint64_t now_tick = s->now_ns >> ROCE_WHEEL_SHIFT;

	while (s->usage.timers > 0 && s->wheel_tick <= now_tick) {
		uint64_t due = now_tick - s->wheel_tick + 1;
		uint64_t gap = wheel_gap(s, due < ROCE_WHEEL_SLOTS ? due : ROCE_WHEEL_SLOTS);
		struct base_link *l;
		uint32_t slot;

		s->wheel_tick += gap;
		if (gap == due)
			break;
		slot = (uint32_t)(s->wheel_tick % ROCE_WHEEL_SLOTS);
		l = base_list_first(&s->wheel[slot]);
		if (l != NULL)
			base_list_remove(l);
		if (base_list_empty(&s->wheel[slot]))
			s->wheel_map[slot / 64] &= ~(UINT64_C(1) << slot % 64);
		if (l != NULL) {
			s->usage.timers--;
			return base_container(l, struct roce_qp, timer_link);
		}
	}
	return NULL;
}

uint64_t
roce_timer_next(const struct roce_shard *s)
{
	if (s->usage.timers == 0)
		return UINT64_MAX;
	return (s->wheel_tick + wheel_gap(s, ROCE_WHEEL_SLOTS - 1)) << ROCE_WHEEL_SHIFT;
}
