/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the control thread that a shard's lcore runs between two turns. */
#include "lcore/call.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lcore/shard.h"

static struct ndd_shard *
shard_new(bool running)
{
	struct ndd_shard *s = aligned_alloc(64, (sizeof(*s) + 63) & ~(size_t)63);

	memset(s, 0, sizeof(*s));
	cr_assert(ndd_wakeup_init(&s->wakeup));
	s->running = running;
	return s;
}

struct caller {
	struct ndd_shard *s;
	unsigned runs; /* of the call */
	pid_t tid;
	uint64_t at_ns;
	bool returned;
};

static void
on_shard_count(struct ndd_shard *s, uint64_t now_ns, void *arg)
{
	struct caller *c = arg;

	cr_assert(eq(ptr, s, c->s));
	c->runs++;
	c->at_ns = now_ns;
}

static void *
call(void *arg)
{
	struct caller *c = arg;

	__atomic_store_n(&c->tid, gettid(), __ATOMIC_RELEASE);
	ndd_shard_call(c->s, on_shard_count, c);
	__atomic_store_n(&c->returned, true, __ATOMIC_RELEASE);
	return NULL;
}

/* A thread has made the call, and waits. */
static pthread_t
begin_call(struct caller *c)
{
	pthread_t t;

	cr_assert(eq(int, pthread_create(&t, NULL, call, c), 0));
	while (__atomic_load_n(&c->s->call, __ATOMIC_ACQUIRE) == NULL)
		sched_yield();
	return t;
}

Test(call, is_made_at_once_while_the_shard_does_not_run)
{
	struct caller c = {.s = shard_new(false)};

	call(&c);
	cr_expect(eq(u32, c.runs, 1));
	cr_expect(not(ndd_shard_serve(c.s, 1)), "no call waits");
}

Test(call, waits_for_the_lcore)
{
	struct caller c = {.s = shard_new(true)};
	pthread_t t = begin_call(&c);

	cr_expect(eq(u32, c.runs, 0));
	cr_expect(not(__atomic_load_n(&c.returned, __ATOMIC_ACQUIRE)));
	cr_expect(ndd_shard_serve(c.s, 5));
	cr_assert(eq(int, pthread_join(t, NULL), 0));
	cr_expect(eq(u32, c.runs, 1));
	cr_expect(eq(u64, c.at_ns, 5));
	cr_expect(not(ndd_shard_serve(c.s, 6)), "it is served once");
	cr_expect(eq(u32, c.runs, 1));
}

Test(call, wakes_an_lcore_that_sleeps)
{
	struct caller c = {.s = shard_new(true)};
	uint64_t n;
	pthread_t t;

	ndd_wakeup_before_sleep(&c.s->wakeup);
	t = begin_call(&c);
	while (read(c.s->wakeup.fd, &n, sizeof(n)) < 0) /* the call is there before it */
		sched_yield();
	cr_expect(ndd_shard_serve(c.s, 1));
	cr_assert(eq(int, pthread_join(t, NULL), 0));
}

/* As the kernel says it: 'S' is asleep, 'R' runs, or would if it had a CPU. */
static char
state_of_thread(pid_t tid)
{
	char path[64], state;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = fopen(path, "re");
	cr_assert(ne(ptr, f, NULL));
	cr_assert(eq(int, fscanf(f, "%*d (%*[^)]) %c", &state), 1));
	(void)fclose(f);
	return state;
}

/* One that yields for ever takes CPU time from the very lcore that it waits for. */
Test(call, its_caller_sleeps_until_it_is_served, .timeout = 60)
{
	struct caller c = {.s = shard_new(true)};
	pthread_t t = begin_call(&c);

	while (state_of_thread(__atomic_load_n(&c.tid, __ATOMIC_ACQUIRE)) != 'S')
		sched_yield();
	cr_expect(not(__atomic_load_n(&c.returned, __ATOMIC_ACQUIRE)));
	cr_expect(ndd_shard_serve(c.s, 1));
	cr_assert(eq(int, pthread_join(t, NULL), 0));
	cr_expect(eq(u32, c.runs, 1));
}
