/* SPDX-License-Identifier: BSD-3-Clause */
/* How threads wake each other: one system call for each sleep, none without. */
#include "lcore/wakeup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <poll.h>

static struct ndd_wakeup
wakeup_new(void)
{
	struct ndd_wakeup w;

	cr_assert(ndd_wakeup_init(&w));
	return w;
}

static bool
is_readable(const struct ndd_wakeup *w)
{
	struct pollfd p = {.fd = w->fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

Test(wakeup, a_reader_that_is_awake_is_not_woken)
{
	struct ndd_wakeup w = wakeup_new();

	ndd_wakeup_notify(&w);
	cr_expect(not(is_readable(&w)));
}

Test(wakeup, a_reader_that_sleeps_is_woken)
{
	struct ndd_wakeup w = wakeup_new();

	ndd_wakeup_before_sleep(&w);
	cr_expect(not(is_readable(&w)));
	ndd_wakeup_notify(&w);
	cr_expect(is_readable(&w));
}

/* Work that came before the reader's last check of its rings: the reader does not sleep at all. */
Test(wakeup, a_reader_that_does_not_sleep_after_all_is_not_woken)
{
	struct ndd_wakeup w = wakeup_new();

	ndd_wakeup_before_sleep(&w);
	ndd_wakeup_after_sleep(&w);
	ndd_wakeup_notify(&w);
	cr_expect(not(is_readable(&w)));
}

Test(wakeup, one_of_many_writers_makes_the_call)
{
	struct ndd_wakeup w = wakeup_new();
	uint64_t n = 0;

	ndd_wakeup_before_sleep(&w);
	for (int i = 0; i < 5; i++)
		ndd_wakeup_notify(&w);
	cr_assert(eq(i64, read(w.fd, &n, sizeof(n)), sizeof(n)));
	cr_expect(eq(u64, n, 1));
}

/* Two writers saw the reader asleep; both are in ndd_wakeup_signal(). */
Test(wakeup, the_second_signal_of_a_sleep_is_none)
{
	struct ndd_wakeup w = wakeup_new();
	uint64_t n = 0;

	ndd_wakeup_before_sleep(&w);
	ndd_wakeup_signal(&w);
	ndd_wakeup_signal(&w);
	cr_assert(eq(i64, read(w.fd, &n, sizeof(n)), sizeof(n)));
	cr_expect(eq(u64, n, 1));
}

Test(wakeup, each_sleep_has_its_own_call)
{
	struct ndd_wakeup w = wakeup_new();

	for (int i = 0; i < 3; i++) {
		ndd_wakeup_before_sleep(&w);
		ndd_wakeup_notify(&w);
		cr_expect(is_readable(&w));
		ndd_wakeup_drain(&w);
		ndd_wakeup_after_sleep(&w);
		cr_expect(not(is_readable(&w)));
	}
}

Test(wakeup, an_end_closes_the_descriptor_once)
{
	struct ndd_wakeup w = wakeup_new();

	ndd_wakeup_fini(&w);
	cr_expect(eq(int, w.fd, -1));
	ndd_wakeup_fini(&w);
}
