/* SPDX-License-Identifier: BSD-3-Clause */
/* Errands: each is run, by one thread and in order, however many threads give them. */
#include "courier/courier.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define LONG_NS UINT64_C(20000000000)

enum { FIRST = 2, SECOND = 4, FREE = 8, LATER = 16 };

struct thing {
	struct ndd_errand errand; /* first */
	uint32_t runs, saw, at;
	int fd;
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
	if ((asked & SECOND) != 0 && t->fd >= 0)
		(void)ndd_courier_watch(e, t->fd, EPOLLIN);
	if ((asked & FREE) == 0)
		return;
	if (t->fd >= 0)
		ndd_courier_unwatch(e, t->fd);
	ndd_errand_done(e);
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
	t->fd = -1;
	return t;
}

static void
start(void)
{
	courier = ndd_courier_start(&all);
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

static uint32_t
saw(const struct thing *t)
{
	return __atomic_load_n(&t->saw, __ATOMIC_ACQUIRE);
}

Test(courier, a_file_that_is_ready_is_told_until_it_is_given_up)
{
	struct thing *t = thing_new();
	bool freed = false;

	t->fd = eventfd(0, EFD_NONBLOCK);
	ndd_errand_ask(&t->errand, SECOND);
	cr_assert_eq(eventfd_write(t->fd, 1), 0);
	while ((saw(t) & NDD_ERRAND_READY) == 0)
		usleep(100);
	ndd_errand_ask_last(&t->errand, FREE, on_closed, &freed);
	end();
	cr_expect(freed);
}
