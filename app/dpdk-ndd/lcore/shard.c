/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <rte_launch.h>
#include <rte_pause.h>

#include "platform/clock.h"
#include "platform/eal.h"
#include "platform/numamem.h"
#include "lcore/shard.h"

#define CALL_SPINS	 64u
#define CALL_DRAIN_TURNS 256u /* a call waits at most so many turns for an empty RX poll */

struct ndd_call {
	ndd_shard_fn fn;
	void *arg;
	uint32_t drain_turns; /* turns that this call may still wait for an empty RX poll */
	uint32_t done;
};

struct ndd_shard *
ndd_shard_new(struct ndd_plane *plane, const struct roce_shard_cfg *cfg, unsigned lcore)
{
	int node = ndd_numa_of_cpu(ndd_lcore_cpu(lcore));
	size_t bytes = roce_shard_bytes(cfg);
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = NULL};
	struct ndd_shard *s;
	void *mem;

	if (bytes == 0)
		return NULL;
	s = ndd_numa_alloc(sizeof(*s), node);
	if (s == NULL)
		return NULL;
	mem = ndd_numa_alloc(bytes, node);
	s->plane = plane;
	s->id = cfg->shard_id;
	s->lcore = lcore;
	s->numa_node = node;
	s->engine_bytes = bytes;
	s->sleep_ns = NDD_SLEEP_MIN_NS;
	s->cycles = plane->cycles ? &s->counted : NULL;
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (mem != NULL)
		s->engine = roce_shard_init(mem, cfg);
	if (s->engine == NULL || s->epoll_fd < 0 || !ndd_wakeup_init(&s->wakeup) ||
		epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->wakeup.fd, &ev) != 0) {
		ndd_numa_free(mem, bytes);
		ndd_numa_free(s, sizeof(*s));
		return NULL;
	}
	return s;
}

void
ndd_shard_free(struct ndd_shard *s)
{
	if (s == NULL)
		return;
	ndd_lcore_tx_drop(s);
	ndd_wakeup_fini(&s->wakeup);
	close(s->epoll_fd);
	ndd_numa_free(s->engine, s->engine_bytes);
	ndd_numa_free(s, sizeof(*s));
}

bool
ndd_shard_launch(struct ndd_shard *s)
{
	s->running = rte_eal_remote_launch(ndd_lcore_main, s, s->lcore) == 0;
	return s->running;
}

void
ndd_shard_stop(struct ndd_shard *s)
{
	if (!s->running)
		return;
	__atomic_store_n(&s->stop, 1, __ATOMIC_RELEASE);
	ndd_wakeup_notify(&s->wakeup);
	rte_eal_wait_lcore(s->lcore);
	s->running = 0;
}

/*
 * The caller waits by giving its CPU away: the lcore may need the very same one. Calls are rare
 * (objects come and go, never data), so one mailbox does what a ring would.
 */
static void
shard_call(struct ndd_shard *s, ndd_shard_fn fn, void *arg, uint32_t drain_turns)
{
	struct ndd_call c = {.fn = fn, .arg = arg, .drain_turns = drain_turns};
	unsigned spins = 0;

	if (!s->running) { /* before the start and after the end the shard is the caller's */
		fn(s, ndd_now_ns(), arg);
		return;
	}
	__atomic_store_n(&s->call, &c, __ATOMIC_RELEASE);
	ndd_wakeup_notify(&s->wakeup);
	while (__atomic_load_n(&c.done, __ATOMIC_ACQUIRE) == 0) {
		if (++spins < CALL_SPINS)
			rte_pause();
		else
			sched_yield();
	}
}

void
ndd_shard_call(struct ndd_shard *s, ndd_shard_fn fn, void *arg)
{
	shard_call(s, fn, arg, 0);
}

void
ndd_shard_call_drained(struct ndd_shard *s, ndd_shard_fn fn, void *arg)
{
	shard_call(s, fn, arg, CALL_DRAIN_TURNS);
}

bool
ndd_shard_serve(struct ndd_shard *s, uint64_t now_ns, bool rx_empty)
{
	struct ndd_call *c = __atomic_load_n(&s->call, __ATOMIC_ACQUIRE);

	if (c == NULL)
		return false;
	if (!rx_empty && c->drain_turns != 0) {
		c->drain_turns--;
		return true;
	}
	s->call = NULL; /* the caller sets it again only after done */
	c->fn(s, now_ns, c->arg);
	__atomic_store_n(&c->done, 1, __ATOMIC_RELEASE);
	return true;
}
