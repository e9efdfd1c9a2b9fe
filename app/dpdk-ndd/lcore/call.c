/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the control thread that run on a shard's lcore. */
#include <sched.h>

#include <rte_pause.h>

#include "lcore/call.h"
#include "lcore/shard.h"
#include "platform/clock.h"

#define CALL_SPINS 64u

struct ndd_call {
	ndd_shard_fn fn;
	void *arg;
	uint32_t done;
};

/*
 * The caller waits by giving its CPU away: the lcore may need the very same one. Calls are rare
 * (objects come and go, never data), so one mailbox does what a ring would.
 */
void
ndd_shard_call(struct ndd_shard *s, ndd_shard_fn fn, void *arg)
{
	struct ndd_call c = {.fn = fn, .arg = arg};
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

bool
ndd_shard_serve(struct ndd_shard *s, uint64_t now_ns)
{
	struct ndd_call *c = __atomic_load_n(&s->call, __ATOMIC_ACQUIRE);

	if (c == NULL)
		return false;
	s->call = NULL; /* the caller sets it again only after done */
	c->fn(s, now_ns, c->arg);
	__atomic_store_n(&c->done, 1, __ATOMIC_RELEASE);
	return true;
}
