/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the control thread that run on a shard's lcore. */
#include <errno.h>
#include <semaphore.h>

#include <rte_pause.h>

#include "lcore/call.h"
#include "lcore/shard.h"
#include "platform/clock.h"

#define CALL_SPINS 64u

struct ndd_call {
	ndd_shard_fn fn;
	void *arg;
	sem_t done;
};

/*
 * A busy lcore answers in the time of a turn; for others the caller sleeps. It must not yield for
 * ever instead: it gives its CPU to threads of its own group only (a session, a cgroup), and Linux
 * divides the group's share among the CPUs by what runs there. A caller that runs takes the share
 * away from the lcore that it waits for, if that has another CPU; two daemons on two CPUs stood
 * still for half a second, each one's caller before the other one's lcore.
 */
static void
wait_until_done(struct ndd_call *c)
{
	for (unsigned spins = 0; spins < CALL_SPINS; spins++) {
		if (sem_trywait(&c->done) == 0)
			return;
		rte_pause();
	}
	while (sem_wait(&c->done) != 0 && errno == EINTR)
		;
}

/* Calls are rare (objects come and go, never data), so one mailbox does what a ring would. */
void
ndd_shard_call(struct ndd_shard *s, ndd_shard_fn fn, void *arg)
{
	struct ndd_call c = {.fn = fn, .arg = arg};

	if (!s->running) { /* before the start and after the end the shard is the caller's */
		fn(s, ndd_now_ns(), arg);
		return;
	}
	sem_init(&c.done, 0, 0);
	__atomic_store_n(&s->call, &c, __ATOMIC_RELEASE);
	ndd_wakeup_notify(&s->wakeup);
	wait_until_done(&c);
	sem_destroy(&c.done);
}

/* The call is the caller's again with sem_post(), which makes a system call if that one sleeps. */
bool
ndd_shard_serve(struct ndd_shard *s, uint64_t now_ns)
{
	struct ndd_call *c = __atomic_load_n(&s->call, __ATOMIC_ACQUIRE);

	if (c == NULL)
		return false;
	s->call = NULL; /* the caller sets it again only after done */
	c->fn(s, now_ns, c->arg);
	sem_post(&c->done);
	return true;
}
