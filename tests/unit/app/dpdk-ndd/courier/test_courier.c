/* SPDX-License-Identifier: BSD-3-Clause */
/* Errands: each is run, by one thread and in order, however many threads give them. */
#include "courier/courier.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define LONG_NS UINT64_C(20000000000)

enum { READY = 1, FIRST = 2, SECOND = 4, FREE = 8, LATER = 16 };

struct thing {
	struct ndd_errand errand; /* first */
	uint32_t runs, saw, at;
	struct ndd_courier_file file;
};

static struct ndd_couriers all;
static struct ndd_courier *courier;
static uint32_t order;

static void
on_errand(struct ndd_errand *e, uint32_t asked)
{
	struct thing *t = (struct thing *)e;

	__atomic_add_fetch(&t->runs, 1, __ATOMIC_RELEASE);
	__atomic_fetch_or(&t->saw, asked, __ATOMIC_RELEASE);
	t->at = order++;
	if ((asked & LATER) != 0 && t->runs < 3)
		ndd_errand_ask_later(e, LATER);
	if ((asked & SECOND) != 0 && t->file.fd >= 0)
		(void)ndd_courier_watch(&t->file, EPOLLIN);
	if ((asked & FREE) == 0)
		return;
	if (t->file.fd >= 0)
		ndd_courier_unwatch(&t->file);
	ndd_errand_done(e);
}

static uint32_t
saw(const struct thing *t)
{
	return __atomic_load_n(&t->saw, __ATOMIC_ACQUIRE);
}

static void
on_closed(void *freed)
{
	*(bool *)freed = true;
}

static struct thing *
thing_new(void)
{
	struct thing *t = calloc(1, sizeof(*t));

	cr_assert_not_null(t);
	t->errand = (struct ndd_errand){.courier = courier, .run = on_errand};
	t->file = (struct ndd_courier_file){.errand = &t->errand, .fd = -1, .bit = READY};
	return t;
}

static void
start(void)
{
	courier = ndd_courier_start(&all, NULL);
	cr_assert_not_null(courier);
}

static void
end(void)
{
	ndd_courier_release(courier);
	cr_assert(ndd_couriers_wait(&all, LONG_NS));
	ndd_couriers_collect(&all);
	cr_expect(eq(u32, all.ending, 0));
}

TestSuite(courier, .init = start, .timeout = 60);

Test(courier, what_was_given_before_the_release_is_done)
{
	bool freed[100] = {false};

	for (uint32_t i = 0; i < 100; i++) {
		struct thing *t = thing_new();

		ndd_errand_ask_last(&t->errand, FREE, on_closed, &freed[i]);
	}
	end();
	for (uint32_t i = 0; i < 100; i++)
		cr_expect(freed[i], "%u", i);
}

Test(courier, things_come_in_the_order_in_which_they_were_given)
{
	struct thing *t[50];

	for (uint32_t i = 0; i < 50; i++)
		t[i] = thing_new();
	for (uint32_t i = 0; i < 50; i++)
		ndd_errand_ask(&t[i]->errand, FIRST);
	end();
	for (uint32_t i = 1; i < 50; i++)
		cr_expect(lt(u32, t[i - 1]->at, t[i]->at), "%u", i);
	for (uint32_t i = 0; i < 50; i++)
		free(t[i]);
}

Test(courier, what_can_not_be_done_yet_is_tried_again)
{
	struct thing *t = thing_new();

	ndd_errand_ask(&t->errand, LATER);
	while (__atomic_load_n(&t->runs, __ATOMIC_ACQUIRE) < 3)
		usleep(100);
	end();
	cr_expect(eq(u32, t->runs, 3));
	free(t);
}

/* ---- news ----------------------------------------------------------------------------------- */

static uint32_t heard, heard_bits;

static void
on_told(struct ndd_errand *e, uint32_t told)
{
	(void)e;
	heard++;
	heard_bits |= told;
}

static void
tell_twice(struct ndd_errand *e, uint32_t asked)
{
	ndd_errand_tell(e, FIRST);
	ndd_errand_tell(e, SECOND);
	on_errand(e, asked);
}

Test(courier, what_it_tells_is_heard_once_when_the_control_thread_listens)
{
	struct thing *t = thing_new();

	t->errand.run = tell_twice;
	t->errand.hear = on_told;
	cr_expect(ndd_couriers_are_quiet(&all));
	for (uint32_t i = 1; i <= 2; i++) {
		ndd_errand_ask(&t->errand, FIRST);
		while (__atomic_load_n(&t->runs, __ATOMIC_ACQUIRE) < i)
			usleep(100);
		cr_expect(eq(u32, heard, i - 1));
		cr_expect_not(ndd_couriers_are_quiet(&all));
		ndd_couriers_collect(&all);
		cr_expect(eq(u32, heard, i));
		cr_expect(eq(u32, heard_bits, FIRST | SECOND));
		cr_expect(ndd_couriers_are_quiet(&all));
	}
	end();
	free(t);
}

/* ---- the control thread itself --------------------------------------------------------------- */

Test(courier, the_local_one_does_it_in_the_call)
{
	struct thing *t = thing_new();

	t->errand.courier = all.local = ndd_courier_start_local(&all);
	cr_assert_not_null(all.local);
	t->file.fd = eventfd(1, EFD_NONBLOCK);
	ndd_errand_ask(&t->errand, SECOND);
	cr_expect(eq(u32, t->runs, 1));
	ndd_courier_serve(all.local);
	cr_expect(eq(u32, t->runs, 2), "its file is ready");
	cr_expect(eq(u32, t->saw, SECOND | READY));
	ndd_courier_serve(all.local);
	cr_expect(eq(u32, t->runs, 2), "and was so once");
	ndd_courier_unwatch(&t->file);
	end();
	ndd_courier_free_local(all.local);
	free(t);
}

/* ---- errands that take long ------------------------------------------------------------------ */

static uint64_t
time_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t burn_ns, burnt_at_ns, next_at_ns;

static void
burn(struct ndd_errand *e, uint32_t asked)
{
	const uint64_t until_ns = time_ns(CLOCK_THREAD_CPUTIME_ID) + burn_ns;

	while ((asked & FIRST) != 0 && time_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		;
	if ((asked & FIRST) != 0)
		burnt_at_ns = time_ns(CLOCK_MONOTONIC);
	else
		next_at_ns = time_ns(CLOCK_MONOTONIC);
	on_errand(e, asked);
}

static struct thing *
burn_and_wait(uint64_t ns)
{
	struct thing *t = thing_new();

	burn_ns = ns;
	t->errand.run = burn;
	ndd_errand_ask(&t->errand, FIRST);
	while (__atomic_load_n(&t->runs, __ATOMIC_ACQUIRE) == 0)
		usleep(100);
	return t;
}

/* 10 ms, of which 4 may be owed: 6 ms are a hundredth of 0.6 s. */
Test(courier, rests_behind_what_took_long)
{
	struct thing *t = burn_and_wait(10000000);

	ndd_errand_ask(&t->errand, SECOND);
	while (__atomic_load_n(&t->runs, __ATOMIC_ACQUIRE) == 1)
		usleep(100);
	cr_expect(ge(u64, next_at_ns - burnt_at_ns, 590000000));
	end();
	free(t);
}

/* It rests for 2 s, unless the machine has stood still for as long. */
static bool
still_rests(const struct thing *t)
{
	return __atomic_load_n(&t->runs, __ATOMIC_ACQUIRE) == 1 ||
	       time_ns(CLOCK_MONOTONIC) - burnt_at_ns > 1900000000;
}

Test(courier, rests_but_for_last_errands)
{
	struct thing *t = burn_and_wait(100000000), *held = thing_new();
	bool freed[2] = {false, false};

	ndd_errand_ask(&t->errand, SECOND);
	ndd_errand_ask(&held->errand, FIRST);
	ndd_errand_ask_last(&thing_new()->errand, FREE, on_closed, &freed[0]);
	while (!freed[0])
		ndd_couriers_collect(&all);
	usleep(1000); /* it sleeps, perhaps */
	ndd_errand_ask_last(&held->errand, FREE, on_closed, &freed[1]);
	while (!freed[1])
		ndd_couriers_collect(&all);
	cr_expect(still_rests(t));
	end(); /* does not wait for it, either */
	cr_expect(eq(u32, t->runs, 2));
	free(t);
}

/* What else was asked for waits all the same. */
Test(courier, rests_but_for_clients_that_are_gone)
{
	struct thing *t = burn_and_wait(100000000), *watched = thing_new();

	watched->file.fd = eventfd(0, EFD_NONBLOCK);
	watched->file.bit = NDD_ERRAND_GONE;
	cr_assert(ndd_courier_watch(&watched->file, EPOLLIN));
	ndd_errand_ask(&t->errand, SECOND);
	ndd_errand_ask(&watched->errand, FIRST);
	cr_assert_eq(eventfd_write(watched->file.fd, 1), 0);
	while (__atomic_load_n(&watched->runs, __ATOMIC_ACQUIRE) == 0)
		usleep(100);
	cr_expect(eq(u32, saw(watched), NDD_ERRAND_GONE));
	cr_expect(still_rests(t));
	end();
	cr_expect(eq(u32, saw(watched), NDD_ERRAND_GONE | FIRST));
	free(t);
	free(watched);
}

/* ---- several threads ------------------------------------------------------------------------ */

#define ASKS 20000u

struct asker {
	pthread_t thread;
	struct thing *t;
	uint32_t bit;
};

static void *
ask_again_and_again(void *arg)
{
	struct asker *a = arg;

	for (uint32_t i = 0; i < ASKS; i++)
		ndd_errand_ask(&a->t->errand, a->bit);
	return NULL;
}

/* The last one of each is run behind it, or with it: a bit is never lost. */
Test(courier, threads_that_ask_for_the_same_thing_lose_nothing)
{
	struct thing *t = thing_new();
	struct asker asker[2] = {{.t = t, .bit = FIRST}, {.t = t, .bit = SECOND}};
	uint32_t runs;

	for (uint32_t i = 0; i < 2; i++)
		cr_assert_eq(
			pthread_create(&asker[i].thread, NULL, ask_again_and_again, &asker[i]), 0);
	for (uint32_t i = 0; i < 2; i++)
		pthread_join(asker[i].thread, NULL);
	end();
	runs = t->runs;
	cr_expect(eq(u32, t->saw, FIRST | SECOND));
	cr_expect(runs >= 1 && runs <= 2 * ASKS, "%u runs", runs);
	cr_expect(eq(u32, t->errand.asked, 0));
	free(t);
}

/* ---- files ---------------------------------------------------------------------------------- */

Test(courier, a_file_that_is_ready_is_told_until_it_is_given_up)
{
	struct thing *t = thing_new();
	bool freed = false;

	t->file.fd = eventfd(0, EFD_NONBLOCK);
	ndd_errand_ask(&t->errand, SECOND);
	cr_assert_eq(eventfd_write(t->file.fd, 1), 0);
	while ((saw(t) & READY) == 0)
		usleep(100);
	ndd_errand_ask_last(&t->errand, FREE, on_closed, &freed);
	end();
	cr_expect(freed);
}
