/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues. */
#include <errno.h>
#include <stdlib.h>

#include "ndverbs/async.h"
#include "ndverbs/context.h"
#include "ndverbs/errors.h"
#include "ndverbs/object.h"

struct ibv_srq *
ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	struct ndv_srq *srq = calloc(1, sizeof(*srq));
	const struct ibv_srq_attr *a = &init->attr;
	nd_status st;

	if (srq == NULL)
		return ndv_null(ENOMEM);
	/* srq_limit has no meaning here: only a modify arms it. */
	st = nd_srq_create(
		ndv_pd(pd)->nd, a->max_wr, a->max_sge != 0 ? a->max_sge : 1, 0, &srq->nd);
	if (st != ND_SUCCESS) {
		free(srq);
		return ndv_null(ndv_errno(st));
	}
	srq->base.context = pd->context;
	srq->base.srq_context = init->srq_context;
	srq->base.pd = pd;
	srq->max_wr = a->max_wr;
	srq->max_sge = a->max_sge;
	pthread_mutex_init(&srq->base.mutex, NULL);
	pthread_cond_init(&srq->base.cond, NULL);
	ndv_use(&ndv_pd(pd)->users);
	ndv_context_add_srq(ndv_context(pd->context), srq);
	return &srq->base;
}

int
ibv_modify_srq(struct ibv_srq *base, struct ibv_srq_attr *attr, int mask)
{
	struct ndv_srq *srq = ndv_srq(base);
	uint32_t depth = mask & IBV_SRQ_MAX_WR ? attr->max_wr : 0;
	nd_status st;

	if ((mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT)) != 0)
		return EINVAL;
	nd_spin_lock(&srq->lock);
	st = nd_srq_modify(srq->nd, depth, mask & IBV_SRQ_LIMIT ? attr->srq_limit : 0);
	if (st == ND_SUCCESS && depth != 0)
		srq->max_wr = depth;
	if (st == ND_SUCCESS && (mask & IBV_SRQ_LIMIT))
		srq->limit = attr->srq_limit;
	nd_spin_unlock(&srq->lock);
	return ndv_errno(st);
}

int
ibv_query_srq(struct ibv_srq *base, struct ibv_srq_attr *attr)
{
	const struct ndv_srq *srq = ndv_srq(base);

	*attr = (struct ibv_srq_attr){
		.max_wr = srq->max_wr, .max_sge = srq->max_sge, .srq_limit = srq->limit};
	return 0;
}

int
ibv_destroy_srq(struct ibv_srq *base)
{
	struct ndv_srq *srq = ndv_srq(base);

	if (ndv_in_use(&srq->users))
		return EBUSY;
	ndv_context_remove_srq(ndv_context(base->context), srq);
	(void)nd_srq_close(srq->nd);
	ndv_async_forget(ndv_context(base->context));
	pthread_mutex_lock(&base->mutex);
	while (base->events_completed != srq->told)
		pthread_cond_wait(&base->cond, &base->mutex);
	pthread_mutex_unlock(&base->mutex);
	ndv_unuse(&ndv_pd(base->pd)->users);
	pthread_cond_destroy(&base->cond);
	pthread_mutex_destroy(&base->mutex);
	free(srq);
	return 0;
}
