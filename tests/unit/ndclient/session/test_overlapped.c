/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous requests: status, waiting, events. Ports have tests of their own. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ndclient/conn/connector.h"
#include "ndclient/session/adapter.h"

/* A connected connector without a daemon: its disconnect may be waited for. */
struct bench {
	struct nd_adapter *a;
	struct nd_connector c;
};

static struct bench *
make(void)
{
	struct bench *b = calloc(1, sizeof(*b));

	b->a = nd_adapter_new();
	pthread_mutex_init(&b->a->lock, NULL);
	b->c.adapter = b->a;
	b->c.state = ND_CONN_CONNECTED;
	return b;
}

static void
drop(struct bench *b)
{
	nd_conn_end_waiters(&b->c, ND_CANCELED);
	nd_adapter_free(b->a);
	free(b);
}

static nd_status
notify(struct bench *b, struct nd_overlapped *ov)
{
	return nd_connector_notify_disconnect(&b->c, ov);
}

static int
make_event(uint32_t value)
{
	int fd = eventfd(value, EFD_NONBLOCK | EFD_CLOEXEC);

	cr_assert(ge(int, fd, 0));
	return fd;
}

/* How often it was signalled since it was last asked. */
static uint64_t
count(int fd)
{
	uint64_t n;

	return read(fd, &n, sizeof(n)) == (ssize_t)sizeof(n) ? n : 0;
}

static void *
wait_for_ever(void *arg)
{
	return (void *)(intptr_t)nd_overlapped_wait(arg, -1);
}

/* checks R-CQ-30[1], R-OV-02[3], R-OV-07[2], R-OV-09 */
Test(ndclient_overlapped, waiters_of_several_threads_all_wake)
{
	struct bench *b = make();
	struct nd_overlapped ov[2] = {0};
	pthread_t t[4];
	void *st;

	cr_expect(eq(i32, nd_overlapped_wait(&ov[0], -1), ND_SUCCESS), "never used");
	for (int i = 0; i < 2; i++)
		cr_assert(eq(i32, notify(b, &ov[i]), ND_PENDING));
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, wait_for_ever, &ov[i % 2]);
	nd_conn_end_waiters(&b->c, ND_CANCELED);
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], &st);
		cr_expect(eq(i32, (nd_status)(intptr_t)st, ND_CANCELED));
	}
	drop(b);
}

/* checks R-OV-02[2], R-OV-07[1,3], R-OV-08 */
Test(ndclient_overlapped, R_OV_07_asking_changes_nothing)
{
	struct bench *b = make();
	struct nd_overlapped ov = {0};

	cr_assert(eq(i32, notify(b, &ov), ND_PENDING));
	for (int i = 0; i < 3; i++) {
		cr_expect(eq(i32, nd_overlapped_status(&ov), ND_PENDING));
		cr_expect(eq(i32, nd_overlapped_wait(&ov, i), ND_TIMEOUT));
	}
	nd_conn_end_waiters(&b->c, ND_CONNECTION_DISCONNECTED);
	for (int i = 0; i < 3; i++) {
		cr_expect(eq(i32, nd_overlapped_status(&ov), ND_CONNECTION_DISCONNECTED));
		cr_expect(eq(i32, nd_overlapped_wait(&ov, i), ND_CONNECTION_DISCONNECTED));
	}
	drop(b);
}

/* checks R-OV-06[1] */
Test(ndclient_overlapped, R_OV_06_the_event_is_cleared_when_it_pends_and_set_when_it_ends)
{
	struct bench *b = make();
	struct nd_overlapped ov = {.flags = ND_REQUEST_EVENT, .event = make_event(3)};

	for (int i = 0; i < 2; i++) { /* the second time it was left set by the first */
		cr_assert(eq(i32, notify(b, &ov), ND_PENDING));
		cr_expect(zero(u64, count(ov.event)));
		nd_conn_end_waiters(&b->c, ND_CANCELED);
	}
	cr_expect(eq(u64, count(ov.event), 1));
	close(ov.event);
	drop(b);
}

/* File descriptor 0 is one like any other; a zeroed request has no event. */
Test(ndclient_overlapped, without_the_flag_there_is_no_event)
{
	struct bench *b = make();
	struct nd_overlapped ov = {.event = make_event(3)};

	cr_assert(eq(i32, notify(b, &ov), ND_PENDING));
	nd_conn_end_waiters(&b->c, ND_CANCELED);
	cr_expect(eq(u64, count(ov.event), 3));
	close(ov.event);
	drop(b);
}

/* checks R-OV-03[2], R-OV-05 */
Test(ndclient_overlapped, R_OV_03_a_call_that_fails_signals_nothing)
{
	struct bench *b = make();
	struct nd_overlapped ov = {.flags = ND_REQUEST_EVENT, .event = make_event(0)};

	b->c.state = ND_CONN_IDLE;
	cr_expect(eq(i32, notify(b, &ov), ND_CONNECTION_INVALID));
	cr_expect(eq(i32, nd_connector_cancel(&b->c), ND_SUCCESS));
	cr_expect(zero(u64, count(ov.event)));
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_CONNECTION_INVALID), "not pending");
	close(ov.event);
	drop(b);
}

struct called {
	struct nd_overlapped ov;
	nd_status status;
	int times;
};

static void
note_call(struct nd_overlapped *ov, nd_status st)
{
	struct called *c = ov->key;

	c->status = st;
	c->times++;
}

/* checks R-OV-03[1,2] */
Test(ndclient_overlapped, R_OV_03_a_callback_comes_once_for_what_pends_and_never_for_what_fails)
{
	struct bench *b = make();
	struct called c = {.ov = {.flags = ND_REQUEST_CALLBACK, .done = note_call, .key = &c}};

	b->c.state = ND_CONN_IDLE;
	cr_expect(eq(i32, notify(b, &c.ov), ND_CONNECTION_INVALID));
	cr_expect(zero(int, c.times));
	b->c.state = ND_CONN_CONNECTED;
	for (int i = 1; i < 3; i++) {
		cr_assert(eq(i32, notify(b, &c.ov), ND_PENDING));
		cr_expect(eq(int, c.times, i - 1));
		nd_conn_end_waiters(&b->c, ND_CANCELED);
		cr_expect(eq(int, c.times, i));
		cr_expect(eq(i32, c.status, ND_CANCELED));
		cr_expect(eq(i32, nd_overlapped_status(&c.ov), ND_CANCELED));
	}
	drop(b);
}
