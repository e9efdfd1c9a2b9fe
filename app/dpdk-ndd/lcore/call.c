/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the control thread that run on a shard's lcore. */
#include <sched.h>

#include <rte_pause.h>

#include "lcore/call.h"
#include "lcore/shard.h"
#include "platform/clock.h"

#define CALL_SPINS	 64u
#define CALL_DRAIN_TURNS 256u /* a call waits at most so many turns for an empty RX poll */

struct ndd_call {
	ndd_shard_fn fn;
	void *arg;
	uint32_t drain_turns; /* turns that this call may still wait for an empty RX poll */
	uint32_t done;
};

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
