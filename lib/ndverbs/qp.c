/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs: creating and destroying. */
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/qp/qp.h"
#include "ndverbs/async.h"
#include "ndverbs/context.h"
#include "ndverbs/errors.h"
#include "ndverbs/leaving.h"
#include "ndverbs/object.h"
#include "ndverbs/qp.h"
#include "ndverbs/wr.h"

#define INLINE_LEAST 64u /* granted though not asked for: programs use it without asking */
/* Nobody knows it, so nothing comes before the program has set its own. */
#define UNSET_Q_KEY 0x5a3c96e1u

static_assert(offsetof(struct ibv_qp_init_attr, sq_sig_all) ==
		      offsetof(struct ibv_qp_init_attr_ex, sq_sig_all),
	"one begins as the other");

/* Queue pairs of one direction have no depth there; libndclient wants one. */
static uint32_t
at_least(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static void
fill_options(struct nd_qp_options *o, const struct ndv_qp *qp, const struct ndv_context *c,
	const struct ibv_qp_init_attr *a)
{
	uint32_t least =
		INLINE_LEAST < c->info.max_inline_bytes ? INLINE_LEAST : c->info.max_inline_bytes;

	*o = (struct nd_qp_options){
		.receive_cq = ndv_cq(a->recv_cq)->nd,
		.initiator_cq = ndv_cq(a->send_cq)->nd,
		.context =
			(void *)(uintptr_t)qp, /* events are found by it; not NULL while it lives */
		.receive_depth = at_least(a->cap.max_recv_wr, 1),
		.initiator_depth = at_least(a->cap.max_send_wr, 1),
		.max_receive_sge = at_least(a->cap.max_recv_sge, 1),
		.max_initiator_sge = at_least(a->cap.max_send_sge, 1),
		.inline_bytes = at_least(a->cap.max_inline_data, least),
		.srq = a->srq != NULL ? ndv_srq(a->srq)->nd : NULL,
	};
}

static int
check_init(const struct ibv_context *context, const struct ibv_qp_init_attr *a)
{
	if (a->qp_type != IBV_QPT_RC && a->qp_type != IBV_QPT_UC && a->qp_type != IBV_QPT_UD)
		return EOPNOTSUPP;
	if (a->send_cq == NULL || a->recv_cq == NULL || a->send_cq->context != context ||
		a->recv_cq->context != context)
		return EINVAL;
	return 0;
}

static int
qp_open(struct ndv_qp *qp, struct ibv_pd *pd, const struct ibv_qp_init_attr *a)
{
	struct nd_qp_options options;
	struct nd_pd *nd_pd = ndv_pd(pd)->nd;
	nd_status st;

	fill_options(&options, qp, ndv_context(pd->context), a);
	if (a->qp_type == IBV_QPT_UD)
		st = nd_ud_qp_create(nd_pd, &options, UNSET_Q_KEY, &qp->nd);
	else if (a->qp_type == IBV_QPT_UC)
		st = nd_uc_qp_create(nd_pd, &options, &qp->nd);
	else
		st = nd_qp_create(nd_pd, &options, &qp->nd);
	return ndv_errno(st);
}

/* What was granted: at least what was asked for. */
static void
fill_granted(struct ndv_qp *qp, const struct ibv_qp_init_attr *a)
{
	const struct nd_qp *nd = qp->nd;

	qp->cap = (struct ibv_qp_cap){
		.max_send_wr = nd->sq.depth,
		.max_recv_wr = a->srq == NULL ? nd->rq.depth : 0,
		.max_send_sge = nd->sq_sge,
		.max_recv_sge = a->srq == NULL ? nd->rq_sge : 0,
		.max_inline_data = nd->inline_bytes,
	};
}

static void
qp_use(const struct ibv_qp *qp, void (*use)(uint32_t *users))
{
	use(&ndv_pd(qp->pd)->users);
	use(&ndv_cq(qp->send_cq)->users);
	use(&ndv_cq(qp->recv_cq)->users);
	use(qp->srq != NULL ? &ndv_srq(qp->srq)->users : NULL);
}

static void
fill_base(struct ndv_qp *qp, struct ibv_pd *pd, const struct ibv_qp_init_attr *a)
{
	qp->base = (struct ibv_qp){
		.context = pd->context,
		.qp_context = a->qp_context,
		.pd = pd,
		.send_cq = a->send_cq,
		.recv_cq = a->recv_cq,
		.srq = a->srq,
		.qp_num = nd_qp_number(qp->nd),
		.state = IBV_QPS_RESET,
		.qp_type = a->qp_type,
	};
	pthread_mutex_init(&qp->base.mutex, NULL);
	pthread_cond_init(&qp->base.cond, NULL);
	pthread_mutex_init(&qp->modify_lock, NULL);
}

struct ibv_qp *
ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	int err = check_init(pd->context, a);
	struct ndv_qp *qp = err == 0 ? calloc(1, sizeof(*qp)) : NULL;

	if (qp == NULL)
		return ndv_null(err != 0 ? err : ENOMEM);
	err = qp_open(qp, pd, a);
	if (err != 0) {
		free(qp);
		return ndv_null(err);
	}
	qp->signal_all = a->sq_sig_all != 0;
	fill_granted(qp, a);
	a->cap = qp->cap;
	fill_base(qp, pd, a);
	qp_use(&qp->base, ndv_use);
	if (a->qp_type == IBV_QPT_UD)
		ndv_leaving_begin(qp);
	return &qp->base;
}

static uint32_t
created_with(const struct ibv_qp_init_attr_ex *a)
{
	return (a->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) ? a->create_flags : 0;
}

static int
check_init_ex(const struct ibv_context *context, const struct ibv_qp_init_attr_ex *a)
{
	const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
			       IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

	if ((a->comp_mask & ~known) != 0)
		return EOPNOTSUPP;
	if (created_with(a) != 0 &&
		(created_with(a) != IBV_QP_CREATE_BLOCK_SELF_MCAST_LB || a->qp_type != IBV_QPT_UD))
		return EOPNOTSUPP;
	if (!(a->comp_mask & IBV_QP_INIT_ATTR_PD) || a->pd->context != context)
		return EINVAL;
	if (!(a->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return 0;
	return (a->send_ops_flags & ~ndv_wr_operations(a->qp_type)) != 0 ? EOPNOTSUPP : 0;
}

/* Its beginning is what the older call has. */
struct ibv_qp *
ndv_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *a)
{
	int err = check_init_ex(context, a);
	struct ibv_qp *qp;

	if (err != 0)
		return ndv_null(err);
	qp = ibv_create_qp(a->pd, (struct ibv_qp_init_attr *)(void *)a);
	if (qp != NULL)
		ndv_qp(qp)->blocks_own = (created_with(a) & IBV_QP_CREATE_BLOCK_SELF_MCAST_LB) != 0;
	if (qp == NULL || !(a->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) ||
		ndv_wr_prepare(ndv_qp(qp), a->send_ops_flags))
		return qp;
	(void)ibv_destroy_qp(qp);
	return ndv_null(ENOMEM);
}

/*
 * Not of one that is in a multicast group, as ibv_destroy_qp() is documented.
 * No entry of it is seen any more. What is posted vanishes instead of being flushed: a program
 * whose completion queue is as deep as its queue pairs makes the next one without having polled.
 */
int
ibv_destroy_qp(struct ibv_qp *base)
{
	struct ndv_qp *qp = ndv_qp(base);

	if (!LIST_EMPTY(&qp->groups))
		return EBUSY;
	if (base->qp_type == IBV_QPT_UD)
		ndv_leaving_end(qp);
	ndv_context_forsake(ndv_context(base->context), qp);
	ndv_qp_empty(qp);
	(void)nd_qp_close(qp->nd);
	ndv_async_forget(ndv_context(base->context));
	pthread_mutex_lock(&base->mutex);
	while (base->events_completed != qp->told)
		pthread_cond_wait(&base->cond, &base->mutex);
	pthread_mutex_unlock(&base->mutex);
	qp_use(base, ndv_unuse);
	pthread_mutex_destroy(&qp->modify_lock);
	pthread_cond_destroy(&base->cond);
	pthread_mutex_destroy(&base->mutex);
	free(qp->wr);
	free(qp);
	return 0;
}

/* NULL: it was not created for them. */
struct ibv_qp_ex *
ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return ndv_qp(qp)->wr != NULL ? &ndv_qp(qp)->ex : NULL;
}
