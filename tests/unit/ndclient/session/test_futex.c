/* SPDX-License-Identifier: BSD-3-Clause */
/* Leaves: sleeping on a word, descriptors, the spin lock, the last error. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ndclient/session/error.h"
#include "ndclient/session/fd.h"
#include "ndclient/session/futex.h"
#include "ndclient/session/spin.h"
#include "ndclient/session/thread.h"

Test(ndclient_futex, a_word_that_differs_is_not_waited_for, .timeout = 20)
{
	uint32_t word = 1;

	cr_expect(nd_futex_wait(&word, 2, UINT64_MAX));
}

Test(ndclient_futex, the_deadline_ends_the_sleep, .timeout = 20)
{
	uint64_t before = nd_now_ns(), deadline = before + 20000000u;
	uint32_t word = 1;

	while (nd_futex_wait(&word, 1, deadline))
		;
	cr_expect(ge(u64, nd_now_ns(), deadline));
}

static uint32_t turn; /* futex */

static void *
answer(void *arg)
{
	(void)arg;
	__atomic_store_n(&turn, 1, __ATOMIC_RELEASE);
	nd_futex_wake(&turn);
	return NULL;
}

Test(ndclient_futex, a_wake_up_ends_the_sleep, .timeout = 20)
{
	pthread_t thread;

	cr_assert(nd_thread_start(&thread, answer, NULL));
	while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) == 0)
		(void)nd_futex_wait(&turn, 0, UINT64_MAX);
	pthread_join(thread, NULL);
}

Test(ndclient_fd, woken_drained_and_the_other_end_closed)
{
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), pipe_fd[2];
	uint64_t count;
	char byte[200] = {0};

	nd_fd_wake(-1); /* there is no thread to be woken */
	nd_fd_wake(event);
	nd_fd_wake(event);
	cr_expect(nd_drain(event));
	cr_expect(eq(int, (int)read(event, &count, sizeof(count)), -1), "nothing is left");
	cr_assert(zero(int, pipe2(pipe_fd, O_NONBLOCK)));
	cr_assert(eq(int, (int)write(pipe_fd[1], byte, sizeof(byte)), (int)sizeof(byte)));
	cr_expect(nd_drain(pipe_fd[0]), "more than one read takes");
	cr_expect(eq(int, (int)read(pipe_fd[0], byte, 1), -1));
	close(pipe_fd[1]);
	cr_expect(not(nd_drain(pipe_fd[0])));
	close(pipe_fd[0]);
	close(event);
}

#define TURNS 20000u

static struct {
	struct nd_spin lock;
	uint32_t count;
} counted;

static void *
count_up(void *arg)
{
	(void)arg;
	for (uint32_t i = 0; i < TURNS; i++) {
		nd_spin_lock(&counted.lock);
		counted.count++;
		nd_spin_unlock(&counted.lock);
	}
	return NULL;
}

Test(ndclient_spin, one_thread_at_a_time, .timeout = 60)
{
	pthread_t thread[3];

	for (int i = 0; i < 3; i++)
		cr_assert(nd_thread_start(&thread[i], count_up, NULL));
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	cr_expect(eq(u32, counted.count, 3 * TURNS));
}

static void *
fail_here(void *arg)
{
	(void)nd_fail(ND_TIMEOUT, "of another thread");
	*(bool *)arg = strcmp(nd_last_error(), "of another thread") == 0;
	return NULL;
}

Test(ndclient_error, each_thread_has_its_own_words)
{
	pthread_t thread;
	bool told = false;

	cr_expect(eq(i32, nd_fail(ND_DEVICE_BUSY, "%u windows", 3u), ND_DEVICE_BUSY));
	cr_assert(nd_thread_start(&thread, fail_here, &told));
	pthread_join(thread, NULL);
	cr_expect(told);
	cr_expect(eq(str, (char *)nd_last_error(), "3 windows"));
}
