/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an lcore does without work. Machines with two cores run two daemons and their clients on
 * them: an idle lcore first yields, then sleeps on its epoll fd (wakeup, ports' files),
 * no longer than a port that wakes nobody may stay unpolled; where yields are dear it sleeps at
 * once (giving_way.h).
 */
#include <errno.h>
#include <sched.h>
#include <sys/epoll.h>
#include <time.h>

#include <rte_pause.h>

#include "lcore/shard.h"
#include "lcore/turn.h"
#include "platform/clock.h"

#define WAKES 16

/* Ports, which the next turn polls, and the lcore's own wakeup. Kernels before 5.11 know only
 * milliseconds. */
static void
wait_ns(struct ndd_shard *s, uint64_t ns)
{
	struct timespec ts = {.tv_sec = 0, .tv_nsec = (long)ns};
	struct epoll_event ev[WAKES];
	int n = epoll_pwait2(s->epoll_fd, ev, WAKES, &ts, NULL);

	if (n < 0 && errno == ENOSYS)
		n = epoll_wait(s->epoll_fd, ev, WAKES, 1);
	for (int i = 0; i < n; i++)
		if (ev[i].data.ptr == NULL)
			ndd_wakeup_drain(&s->wakeup);
}

/* Nothing tells when a port takes frames again. */
static bool
has_unsent(const struct ndd_shard *s)
{
	for (uint32_t i = 0; i < ndd_shard_outs(s); i++)
		if (s->out[i].n != 0)
			return true;
	return false;
}

/* Until what wakes nobody is to be looked at again. */
static uint64_t
next_look_ns(const struct ndd_shard *s, uint64_t now_ns)
{
	bool unsent = has_unsent(s);
	uint64_t longest = unsent ? NDD_SLEEP_UNSENT_NS : NDD_SLEEP_MAX_NS;
	uint64_t ns = ndd_sleep_share_ns(now_ns - s->idle_since_ns);

	if (s->watched && !unsent)
		return NDD_SLEEP_WATCHED_NS;
	return ns < longest ? ns : longest;
}

uint64_t
ndd_lcore_sleep_ns(const struct ndd_shard *s, uint64_t now_ns)
{
	uint64_t deadline = roce_shard_next_deadline(s->engine);
	uint64_t ns = next_look_ns(s, now_ns);

	if (deadline <= now_ns)
		return 0;
	return deadline - now_ns < ns ? deadline - now_ns : ns;
}

static bool
must_not_sleep(const struct ndd_shard *s)
{
	return ndd_lcore_frames_waiting(s) || ndd_knocks_some(&s->knocks) ||
	       __atomic_load_n(&s->call, __ATOMIC_ACQUIRE) != NULL ||
	       __atomic_load_n(&s->stop, __ATOMIC_ACQUIRE) != 0;
}

/* Each source of work is told to wake this lcore (with a barrier) and then checked once more. */
static void
sleep_once(struct ndd_shard *s, uint64_t now_ns)
{
	uint64_t ns = ndd_lcore_sleep_ns(s, now_ns);

	if (ns == 0)
		return;
	if (!roce_shard_rest(s->engine) || !ndd_lcore_demote_all(s, now_ns) ||
		!roce_shard_movers_rest(s->engine)) {
		s->idle_since_ns = 0;
		return;
	}
	ndd_wakeup_before_sleep(&s->wakeup);
	if (must_not_sleep(s)) {
		ndd_wakeup_after_sleep(&s->wakeup);
		return;
	}
	s->count.sleeps++;
	wait_ns(s, ns);
	ndd_wakeup_after_sleep(&s->wakeup);
}

static void
yield_once(struct ndd_shard *s)
{
	uint64_t began_ns = ndd_now_ns();
	uint64_t ended_ns;

	sched_yield();
	ended_ns = ndd_now_ns();
	ndd_giving_way_yielded(&s->giving_way, ended_ns, ended_ns - began_ns);
}

enum ndd_stage
ndd_lcore_idle(struct ndd_shard *s, uint64_t now_ns)
{
	enum ndd_stage how = NDD_STAGE_idle;

	if (s->idle_since_ns == 0)
		s->idle_since_ns = now_ns;
	switch (s->plane->idle) {
	case CONFIG_IDLE_POLL:
		break;
	case CONFIG_IDLE_PAUSE:
		rte_pause();
		break;
	case CONFIG_IDLE_SLEEP:
		if (now_ns - s->idle_since_ns <= NDD_YIELD_NS) {
			rte_pause();
			break;
		}
		if (ndd_giving_way_sleeps(&s->giving_way, now_ns, now_ns - s->idle_since_ns)) {
			sleep_once(s, now_ns);
			how = NDD_STAGE_sleep;
		} else {
			yield_once(s);
			how = NDD_STAGE_yield;
		}
		break;
	}
	ndd_lcore_knocks(s, ndd_now_ns());
	return how;
}
