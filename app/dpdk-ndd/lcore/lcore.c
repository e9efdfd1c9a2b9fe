/* SPDX-License-Identifier: BSD-3-Clause */
/* One turn of an lcore. Everything in it is bounded by a constant of turn.h. */
#include "courier/bell.h"
#include "lcore/call.h"
#include "lcore/caught_up.h"
#include "lcore/shard.h"
#include "lcore/turn.h"
#include "platform/clock.h"

/* A wake-up costs a system call, and an interrupt of another CPU, if the courier sleeps: the ones
 * above the budget stay with the engine for the next turn. */
static unsigned
wake_clients(struct ndd_shard *s, uint64_t now_ns)
{
	unsigned n = 0;
	struct roce_cq *cq;

	while (n < NDD_WAKEUPS && (n == 0 || ndd_turn_is_within(now_ns, NDD_WAKE_MORE_NS)) &&
		(cq = roce_shard_fired_cq(s->engine, now_ns)) != NULL) {
		const struct ndd_owner *owner = roce_cq_owner(cq);

		n++;
		ndd_bell_ring(owner->bell);
	}
	return n;
}

/* A full ring leaves the event in its object: it comes again in the next turn. */
static unsigned
pass_events(struct ndd_shard *s)
{
	struct rte_ring *ring = s->plane->rings.event[s->id];
	struct roce_event ev;
	unsigned n = 0;

	while (n < NDD_EVENTS && !rte_ring_full(ring) && roce_shard_event(s->engine, &ev)) {
		const struct ndd_owner *owner = ev.owner;
		struct ndd_event out = {
			.session = owner->session,
			.object = owner->object,
			.handle = owner->handle,
			.type = (uint8_t)ev.type,
			.reason = ev.reason,
			.syndrome = ev.syndrome,
		};

		ndd_event_put(ring, &out);
		n++;
	}
	if (n != 0)
		ndd_wakeup_notify(s->plane->control_wakeup);
	return n;
}

/*
 * Frames from this shard to itself, and the responses to them. Behind the publishing: its barrier
 * waits for the entries that were made last to reach the clients' cache lines, and entries that are
 * made here have until the next turn for that. That turn comes, as frames are work.
 */
static unsigned
lcore_turn_inner(struct ndd_shard *s, uint64_t now_ns)
{
	unsigned n = ndd_lcore_inner(s, now_ns);

	if (n == 0 || !ndd_turn_is_within(now_ns, NDD_INNER_MORE_NS))
		return n;
	n += ndd_lcore_tx(s, now_ns);
	return n + ndd_lcore_inner(s, now_ns);
}

unsigned
ndd_lcore_turn(struct ndd_shard *s, uint64_t now_ns)
{
	struct ndd_cycles *c = s->cycles;
	unsigned n, rang, advance, work = ndd_lcore_rx(s, now_ns, &advance);
	bool caught_up = ndd_lcore_catches_up(s, advance);

	work += n = ndd_shard_serve(s, now_ns);
	ndd_cycles_mark_work(c, NDD_STAGE_control, n);
	work += n = roce_shard_movers(s->engine, now_ns);
	ndd_cycles_mark_work(c, NDD_STAGE_movers, n);
	rang = ndd_lcore_doorbells(s, now_ns, &n);
	n += roce_shard_poll_rings(s->engine, now_ns, NDD_POLL_RINGS);
	work += n;
	ndd_cycles_mark(c, NDD_STAGE_doorbells, rang + n);
	/* An acknowledgement that lies in the RX queue must not be judged late; but a flood must
	 * not keep timers from running. */
	if (caught_up) {
		work += n = roce_shard_timers(s->engine, now_ns, NDD_TIMERS);
		ndd_cycles_mark(c, NDD_STAGE_timers, n);
	}
	work += ndd_lcore_tx(s, now_ns);
	roce_shard_publish(s->engine);
	ndd_cycles_mark(c, NDD_STAGE_completion, 0);
	work += lcore_turn_inner(s, now_ns);
	work += n = wake_clients(s, now_ns);
	ndd_cycles_mark_work(c, NDD_STAGE_wakeups, n);
	work += n = pass_events(s);
	ndd_cycles_mark_work(c, NDD_STAGE_control, n);
	return work;
}

/* Completions that the engine has made so far. */
static uint64_t
completions_so_far(const struct ndd_shard *s)
{
	const struct roce_counters *n = roce_shard_counters(s->engine);

	return n->requests_completed + n->receives_completed + n->requests_failed;
}

int
ndd_lcore_main(void *arg)
{
	struct ndd_shard *s = arg;
	uint64_t had_cpu_ns;

	ndd_sleep_precisely();
	if (s->cycles != NULL)
		ndd_cycles_start(s->cycles, rte_get_tsc_hz());
	had_cpu_ns = ndd_now_ns();
	while (__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE) == 0) {
		uint64_t now_ns = ndd_now_ns();

		s->count.crowded += ndd_crowd_notice(&s->plane->crowd, had_cpu_ns, now_ns);
		had_cpu_ns = now_ns;
		if (ndd_lcore_turn(s, now_ns) == 0) {
			enum ndd_stage waited = ndd_lcore_idle(s, now_ns);

			if (unlikely(s->cycles != NULL))
				ndd_cycles_idle(s->cycles, waited);
			if (waited == NDD_STAGE_sleep)
				had_cpu_ns = ndd_now_ns();
			continue;
		}
		s->idle_since_ns = 0;
		ndd_lcore_knocks(s, now_ns);
		if (unlikely(s->cycles != NULL)) {
			ndd_cycles_mark(s->cycles, NDD_STAGE_doorbells, 0);
			ndd_cycles_turn(s->cycles, completions_so_far(s));
		}
	}
	return 0;
}
