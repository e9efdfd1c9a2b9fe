/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues: creating, polling, arming. */
#include <errno.h>
#include <stdlib.h>

#include "ndverbs/async.h"
#include "ndverbs/context.h"
#include "ndverbs/cq.h"
#include "ndverbs/errors.h"
#include "ndverbs/idle.h"

#define BATCH 16

static void
cq_event(void *context, nd_status st)
{
	(void)st; /* of a dead queue, too, threads that wait are woken: the poll says it */
	ndv_channel_put(context);
}

static int
cq_open(struct ndv_cq *cq, struct nd_adapter *a, uint32_t depth)
{
	nd_status st = nd_cq_create(a, depth, &cq->nd);

	if (st != ND_SUCCESS)
		return ndv_errno(st);
	if (cq->base.channel == NULL)
		return 0;
	st = nd_cq_set_callback(cq->nd, cq_event, cq);
	if (st != ND_SUCCESS)
		(void)nd_cq_close(cq->nd);
	return ndv_errno(st);
}

static void
cq_fill(struct ndv_cq *cq, struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr)
{
	cq->base.context = context;
	cq->base.channel = attr->channel;
	cq->base.cq_context = attr->cq_context;
	cq->base.cqe = (int)attr->cqe;
	pthread_mutex_init(&cq->base.mutex, NULL);
	pthread_cond_init(&cq->base.cond, NULL);
	pthread_mutex_init(&cq->poll_lock, NULL);
}

struct ndv_cq *
ndv_cq_make(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr)
{
	struct ndv_context *c;
	struct ndv_cq *cq;
	int err = ndv_session(context, &c);

	if (err == 0 && (attr->cqe < 1 || attr->cqe > INT32_MAX ||
				attr->comp_vector >= (uint32_t)context->num_comp_vectors))
		err = EINVAL;
	if (err != 0)
		return ndv_null(err);
	cq = calloc(1, sizeof(*cq));
	if (cq == NULL)
		return ndv_null(ENOMEM);
	cq_fill(cq, context, attr);
	err = cq_open(cq, c->adapter, attr->cqe);
	if (err != 0) {
		free(cq);
		return ndv_null(err);
	}
	ndv_context_add_cq(c, cq);
	if (attr->channel != NULL)
		__atomic_fetch_add(&attr->channel->refcnt, 1, __ATOMIC_RELAXED);
	return cq;
}

/* Negative numbers become ones that are too great. */
struct ibv_cq *
ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
	struct ibv_comp_channel *channel, int comp_vector)
{
	const struct ibv_cq_init_attr_ex attr = {
		.cqe = (uint32_t)cqe,
		.cq_context = cq_context,
		.channel = channel,
		.comp_vector = (uint32_t)comp_vector,
	};
	struct ndv_cq *cq = ndv_cq_make(context, &attr);

	return cq != NULL ? &cq->base : NULL;
}

int
ibv_resize_cq(struct ibv_cq *base, int cqe)
{
	nd_status st =
		cqe > 0 ? nd_cq_resize(ndv_cq(base)->nd, (uint32_t)cqe) : ND_INVALID_PARAMETER;

	if (st == ND_SUCCESS)
		base->cqe = cqe;
	return ndv_errno(st);
}

/* Waits until the program has acknowledged the events that it was given. */
int
ibv_destroy_cq(struct ibv_cq *base)
{
	struct ndv_cq *cq = ndv_cq(base);

	if (ndv_in_use(&cq->users))
		return EBUSY;
	ndv_context_remove_cq(ndv_context(base->context), cq);
	(void)nd_cq_close(cq->nd);
	ndv_async_forget(ndv_context(base->context));
	if (base->channel != NULL) {
		ndv_channel_forget(cq);
		__atomic_fetch_sub(&base->channel->refcnt, 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_lock(&base->mutex);
	while (base->comp_events_completed != cq->told ||
		base->async_events_completed != cq->async_told)
		pthread_cond_wait(&base->cond, &base->mutex);
	pthread_mutex_unlock(&base->mutex);
	ndv_unuse(cq->domain != NULL ? &cq->domain->users : NULL);
	pthread_mutex_destroy(&cq->poll_lock);
	pthread_cond_destroy(&base->cond);
	pthread_mutex_destroy(&base->mutex);
	free(cq);
	return 0;
}

int
ndv_req_notify_cq(struct ibv_cq *base, int solicited_only)
{
	if (base->channel == NULL)
		return 0; /* there is nobody to be told */
	return ndv_errno(nd_cq_arm_callback(
		ndv_cq(base)->nd, solicited_only ? ND_CQ_NOTIFY_SOLICITED : ND_CQ_NOTIFY_ANY));
}

/* Up to n of at most a batch, without those of queue pairs that were destroyed, or reset since.
 * *empty: the queue has no more now. */
static int
poll_batch(struct ndv_cq *cq, uint32_t n, struct ibv_wc *wc, bool *empty)
{
	struct nd_entry entries[BATCH];
	uint32_t want = n < BATCH ? n : BATCH;
	int32_t got = nd_cq_take_entries(cq->nd, entries, want);
	int filled = 0;

	*empty = got < (int32_t)want;
	for (int32_t i = 0; i < got; i++)
		if (entries[i].qp_context != NULL)
			ndv_wc_of(&entries[i], &wc[filled++]);
	return got < 0 ? -1 : filled;
}

int
ndv_poll_cq(struct ibv_cq *base, int n, struct ibv_wc *wc)
{
	bool empty = false;
	int filled = 0;

	while (filled < n && !empty) {
		int got = poll_batch(ndv_cq(base), (uint32_t)(n - filled), wc + filled, &empty);

		if (got < 0)
			return filled > 0 ? filled : -1;
		filled += got;
	}
	if (filled > 0)
		ndv_idle_end();
	else
		ndv_idle_wait();
	return filled;
}
