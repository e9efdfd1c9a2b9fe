/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an lcore does without work. Machines with two cores run two daemons and their clients on
 * them: an idle lcore first yields, then sleeps on its epoll fd (wakeup, wake fds, ports' files),
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

static void
take_wakes(struct ndd_shard *s, const struct epoll_event *ev, int n, uint64_t now_ns)
{
	for (int i = 0; i < n; i++) {
		if (ev[i].data.ptr == NULL)
			ndd_wakeup_drain(&s->wakeup);
		else if (ev[i].data.ptr != s->plane) /* else a port, which the next turn polls */
			ndd_lcore_promote(s, ev[i].data.ptr, now_ns);
	}
}

/* Kernels before 5.11 know only milliseconds. */
static int
wait_ns(int epoll_fd, struct epoll_event *ev, uint64_t ns)
{
	struct timespec ts = {.tv_sec = 0, .tv_nsec = (long)ns};
	int n = epoll_pwait2(epoll_fd, ev, WAKES, &ts, NULL);

	if (n < 0 && errno == ENOSYS)
		n = epoll_wait(epoll_fd, ev, WAKES, 1);
	return n;
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
	return ndd_lcore_frames_waiting(s) || __atomic_load_n(&s->call, __ATOMIC_ACQUIRE) != NULL ||
	       __atomic_load_n(&s->stop, __ATOMIC_ACQUIRE) != 0;
}

/* Each source of work is told to wake this lcore (with a barrier) and then checked once more. */
static void
sleep_once(struct ndd_shard *s, uint64_t now_ns)
{
	struct epoll_event ev[WAKES];
	uint64_t ns = ndd_lcore_sleep_ns(s, now_ns);
	int n;

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
	n = wait_ns(s->epoll_fd, ev, ns);
	ndd_wakeup_after_sleep(&s->wakeup);
	take_wakes(s, ev, n, ndd_now_ns());
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
			return NDD_STAGE_sleep; /* it polled the wake fds */
		}
		yield_once(s);
		how = NDD_STAGE_yield;
		break;
	}
	ndd_lcore_check_wakes(s, now_ns);
	return how;
}

void
ndd_lcore_check_wakes(struct ndd_shard *s, uint64_t now_ns)
{
	struct epoll_event ev[WAKES];

	if (s->awake == s->sessions || now_ns < s->wake_check_ns)
		return;
	s->wake_check_ns = now_ns + NDD_WAKE_CHECK_NS;
	take_wakes(s, ev, epoll_wait(s->epoll_fd, ev, WAKES, 0), now_ns);
}
