/* SPDX-License-Identifier: BSD-3-Clause */
/* Callbacks of completion queues: when they come, how many at a time, and what they may do. */
#include "kpi.h"

/* A queue whose callback waits inside, if it is told to, or does the consumer's work there. */
struct watched {
	struct side *side;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool hold, works;
	unsigned entered, left;
	ULONG taken;
};

/* Take until fewer come than were asked for, post as many receives, and arm (R-CQ-16). */
static ULONG
watched_work(struct side *s)
{
	NDK_RESULT r[4];
	ULONG n, taken = 0;

	do {
		n = s->cq->Dispatch->NdkGetCqResults(s->cq, r, 4);
		for (ULONG i = 0; i < n; i++) {
			WANT(STATUS_SUCCESS, r[i].Status);
			side_receive(s, s, 0, 4);
		}
		taken += n;
	} while (n == 4);
	s->cq->Dispatch->NdkArmCq(s->cq, NDK_CQ_NOTIFY_ANY);
	return taken;
}

static void
watched_called(PVOID arg, NTSTATUS status)
{
	struct watched *w = arg;
	ULONG taken = w->works ? watched_work(w->side) : 0;

	WANT(STATUS_SUCCESS, status);
	pthread_mutex_lock(&w->lock);
	CHECK(w->entered == w->left); /* R-CQ-23 */
	w->entered++;
	w->taken += taken;
	pthread_cond_broadcast(&w->changed);
	while (w->hold)
		pthread_cond_wait(&w->changed, &w->lock);
	w->left++;
	pthread_mutex_unlock(&w->lock);
}

/* Both sides, of which b has this queue. */
static void
watched_meet(struct watched *w, struct side *a, struct side *b)
{
	*w = (struct watched){
		.side = b, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	side_open(a, &place_a);
	side_open(b, &place_b);
	CLOSE(b->qp, NdkCloseQp);
	CLOSE(b->cq, NdkCloseCq);
	CREATE(&b->cq, b->adapter->Dispatch->NdkCreateCq(b->adapter, 4 * DEPTH, watched_called, w,
			       NULL, told_created, &t, &b->cq));
	b->qp = side_new_qp(b);
	side_meet(a, b);
}

static unsigned
watched_count(struct watched *w)
{
	unsigned count;

	pthread_mutex_lock(&w->lock);
	count = w->entered;
	pthread_mutex_unlock(&w->lock);
	return count;
}

static void
watched_wait(struct watched *w, unsigned entered)
{
	pthread_mutex_lock(&w->lock);
	while (w->entered < entered)
		pthread_cond_wait(&w->changed, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

static void
watched_hold(struct watched *w, bool hold)
{
	pthread_mutex_lock(&w->lock);
	w->hold = hold;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

/* A message for b, that has come when this returns. */
static void
message(struct side *a, const struct side *b)
{
	NDK_SGE sge = side_sge(a, 0, 4);

	side_receive(b, NULL, 0, 4);
	WANT(STATUS_SUCCESS, a->qp->Dispatch->NdkSend(a->qp, &sge, &sge, 1, 0));
	side_result(a, &sge, NdkOperationTypeSend);
}

/* What b sends makes no result there: callbacks that were due before have come. */
static void
settle(struct side *a, const struct side *b)
{
	NDK_SGE sge = side_sge(b, 0, 4);

	side_receive(a, a, 0, 4);
	WANT(STATUS_SUCCESS,
		b->qp->Dispatch->NdkSend(b->qp, NULL, &sge, 1, NDK_OP_FLAG_SILENT_SUCCESS));
	side_result(a, a, NdkOperationTypeReceive);
}

static ULONG
take_all(const struct side *b)
{
	NDK_RESULT r;
	ULONG n = 0;

	while (b->cq->Dispatch->NdkGetCqResults(b->cq, &r, 1) == 1)
		n++;
	return n;
}

/* checks R-CQ-01[1,2], R-CQ-26[1], R-CQ-23[1,2], R-CQ-25[1,2], R-CQ-09[1]: nothing is told
 * without an arm; what two arms ask for while a callback runs comes once, behind it. */
void
deferred_callbacks(void)
{
	struct watched w;
	struct side a, b;

	watched_meet(&w, &a, &b);
	message(&a, &b);
	settle(&a, &b);
	CHECK(watched_count(&w) == 0 && take_all(&b) == 1);
	watched_hold(&w, true);
	b.cq->Dispatch->NdkArmCq(b.cq, NDK_CQ_NOTIFY_ANY);
	message(&a, &b);
	watched_wait(&w, 1);
	b.cq->Dispatch->NdkArmCq(b.cq, NDK_CQ_NOTIFY_SOLICITED);
	b.cq->Dispatch->NdkArmCq(b.cq, NDK_CQ_NOTIFY_ANY);
	for (int i = 0; i < 3; i++)
		message(&a, &b);
	settle(&a, &b);
	CHECK(watched_count(&w) == 1);
	watched_hold(&w, false);
	watched_wait(&w, 2);
	b.cq->Dispatch->NdkArmCq(b.cq, NDK_CQ_NOTIFY_ANY);
	settle(&a, &b); /* what is there was there when the second one was entered */
	CHECK(watched_count(&w) == 2);
	message(&a, &b);
	watched_wait(&w, 3);
	message(&a, &b);
	settle(&a, &b);
	CHECK(watched_count(&w) == 3 && take_all(&b) == 6);
	side_close(&a);
	side_close(&b);
}

/* checks R-CQ-28[1], R-CQ-24[1], R-CQ-16[1], R-CQ-23[1]: the consumer's whole work is done
 * inside. */
void
busy_callbacks(void)
{
	const ULONG messages = 500;
	struct watched w;
	struct side a, b;
	NDK_SGE sge;

	watched_meet(&w, &a, &b);
	w.works = true;
	for (ULONG i = 0; i < DEPTH; i++)
		side_receive(&b, &b, 0, 4);
	b.cq->Dispatch->NdkArmCq(b.cq, NDK_CQ_NOTIFY_ANY);
	sge = side_sge(&a, 0, 4);
	for (ULONG i = 0; i < messages; i++) {
		WANT(STATUS_SUCCESS, a.qp->Dispatch->NdkSend(a.qp, &sge, &sge, 1, 0));
		if (i % 8 == 7) /* not more than there are receives for */
			for (int k = 0; k < 8; k++)
				side_result(&a, &sge, NdkOperationTypeSend);
	}
	pthread_mutex_lock(&w.lock);
	while (w.taken < messages)
		pthread_cond_wait(&w.changed, &w.lock);
	CHECK(w.taken == messages);
	pthread_mutex_unlock(&w.lock);
	side_close(&a);
	w.works = false; /* what is canceled is for nobody */
	side_close(&b);
}

/* checks R-CQ-26[2,3]: a queue that is closed while its callback runs is gone behind it, and then
 * nothing comes. */
void
closed_in_callback(void)
{
	struct told closed = TOLD_INIT;
	struct watched w;
	struct side a, b;

	watched_meet(&w, &a, &b);
	message(&a, &b);
	CLOSE(b.qp, NdkCloseQp);
	b.qp = NULL;
	watched_hold(&w, true);
	b.cq->Dispatch->NdkArmCq(b.cq, NDK_CQ_NOTIFY_ANY);
	watched_wait(&w, 1);
	WANT(STATUS_PENDING, b.cq->Dispatch->NdkCloseCq(&b.cq->Header, told_closed, &closed));
	CLOSE(a.mr, NdkCloseMr); /* which was asked for later, and is over */
	a.mr = NULL;
	CHECK(told_count(&closed) == 0);
	watched_hold(&w, false);
	told_wait(&closed, 1);
	CHECK(watched_count(&w) == 1);
	b.cq = NULL;
	side_close(&a);
	side_close(&b);
}

static NTSTATUS
moderate(const struct side *b, ULONG us, ULONG count)
{
	return b->cq->Dispatch->NdkControlCqInterruptModeration(b->cq, us, count);
}

/* checks R-MOD-01[1,3-7,10], R-MOD-02[2]: callbacks wait for a count that is not reached, and for
 * an interval that does not end here; results do not, and what fails ends all waiting. */
void
moderated(void)
{
	const ULONG none = UINT32_MAX, long_us = 1u << 31;
	struct watched w;
	struct side a, b;

	watched_meet(&w, &a, &b);
	b.cq->Dispatch->NdkArmCq(b.cq, NDK_CQ_NOTIFY_ANY);
	message(&a, &b);
	watched_wait(&w, 1);
	CHECK(take_all(&b) == 1);
	WANT(STATUS_INVALID_PARAMETER_MIX, moderate(&b, none, none));
	WANT(STATUS_SUCCESS, moderate(&b, none, 4));
	b.cq->Dispatch->NdkArmCq(b.cq, NDK_CQ_NOTIFY_ANY);
	for (int i = 0; i < 3; i++)
		message(&a, &b);
	settle(&a, &b);
	CHECK(watched_count(&w) == 1);
	message(&a, &b);
	watched_wait(&w, 2);
	CHECK(take_all(&b) == 4);
	for (ULONG count = 0; count <= 1; count++) {
		WANT(STATUS_SUCCESS, moderate(&b, count == 0 ? long_us : 0, count == 0 ? 1 : 4));
		b.cq->Dispatch->NdkArmCq(b.cq, NDK_CQ_NOTIFY_ANY);
		message(&a, &b);
		watched_wait(&w, 3 + count);
		CHECK(take_all(&b) == 1);
	}
	WANT(STATUS_SUCCESS, moderate(&b, long_us, none));
	b.cq->Dispatch->NdkArmCq(b.cq, NDK_CQ_NOTIFY_ANY);
	message(&a, &b);
	settle(&a, &b);
	CHECK(watched_count(&w) == 4 && take_all(&b) == 1);
	side_receive(&b, &b, 0, 4);
	b.qp->Dispatch->NdkFlush(b.qp);
	watched_wait(&w, 5);
	CHECK(take_all(&b) == 1);
	side_close(&a);
	side_close(&b);
}

/* checks R-MOD-01[2,8]: an interval that ends, and one that is over when the setting changes */
void
intervals(void)
{
	struct watched w;
	struct side a, b;

	watched_meet(&w, &a, &b);
	WANT(STATUS_SUCCESS, moderate(&b, 20000, UINT32_MAX));
	b.cq->Dispatch->NdkArmCq(b.cq, NDK_CQ_NOTIFY_ANY);
	message(&a, &b);
	watched_wait(&w, 1);
	CHECK(take_all(&b) == 1);
	WANT(STATUS_SUCCESS, moderate(&b, 1u << 31, UINT32_MAX));
	b.cq->Dispatch->NdkArmCq(b.cq, NDK_CQ_NOTIFY_ANY);
	message(&a, &b);
	settle(&a, &b);
	CHECK(watched_count(&w) == 1);
	WANT(STATUS_SUCCESS, moderate(&b, 0, 0));
	watched_wait(&w, 2);
	side_close(&a);
	side_close(&b);
}
