/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting. Programs may post to a queue from several threads, so each queue has a lock here. */
#include <assert.h>
#include <errno.h>
#include <stddef.h>

#include "ndclient/qp/post.h"
#include "ndverbs/errors.h"
#include "ndverbs/object.h"
#include "ndverbs/post.h"
#include "ndverbs/request.h"
#include "shm/ndsh_op.h"

static_assert(sizeof(struct ibv_sge) == sizeof(struct nd_sge) &&
		      offsetof(struct ibv_sge, length) == offsetof(struct nd_sge, bytes) &&
		      offsetof(struct ibv_sge, lkey) == offsetof(struct nd_sge, token),
	"SGEs are handed over as they stand");

static const struct nd_sge *
sges_of(const struct ibv_sge *list)
{
	return (const struct nd_sge *)(const void *)list;
}

/* Binds and invalidations have no SGEs, whatever the program says of some. */
int
ndv_post_filled(struct ndv_qp *qp, struct ndv_request *r, const struct ibv_sge *list, uint32_t n)
{
	if (ndsh_op_is_local(r->op))
		n = 0;
	if (qp->base.qp_type == IBV_QPT_UD)
		return ndv_errno(nd_post_datagram(qp->nd, r->op, &r->wr, sges_of(list), n, r->how));
	return ndv_errno(nd_post_request(qp->nd, r->op, &r->wr, sges_of(list), n, r->how));
}

static int
post_one(struct ndv_qp *qp, const struct ibv_send_wr *wr)
{
	struct ndv_request r;
	int err = ndv_request_of(qp, wr, &r);

	if (err != 0)
		return err;
	if (wr->next != NULL)
		r.how |= ND_POST_UNTOLD;
	return ndv_post_filled(qp, &r, wr->sg_list, (uint32_t)wr->num_sge);
}

/* Of datagrams, libndclient knows no states before the end. Of connections it knows when requests
 * are legal: from RTS on; in ERR they are flushed. */
int
ndv_check_sends(const struct ndv_qp *qp)
{
	enum ibv_qp_state state = __atomic_load_n(&qp->base.state, __ATOMIC_ACQUIRE);

	return state == IBV_QPS_RESET || (qp->base.qp_type == IBV_QPT_UD && state < IBV_QPS_RTS)
		       ? EINVAL
		       : 0;
}

/* The daemon is told of a list when its last request was posted, or of what stands in front of the
 * one that could not be. */
int
ndv_post_send(struct ibv_qp *base, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct ibv_send_wr *first = wr;
	struct ndv_qp *qp = ndv_qp(base);
	int err = ndv_check_sends(qp);

	nd_spin_lock(&qp->send_lock);
	while (err == 0 && wr != NULL) {
		err = post_one(qp, wr);
		if (err == 0)
			wr = wr->next;
	}
	if (err != 0 && wr != first)
		nd_post_tell(qp->nd);
	nd_spin_unlock(&qp->send_lock);
	if (err != 0)
		*bad = wr;
	return err;
}

int
ndv_post_recv(struct ibv_qp *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct ndv_qp *qp = ndv_qp(base);
	int err = __atomic_load_n(&base->state, __ATOMIC_ACQUIRE) == IBV_QPS_RESET ? EINVAL : 0;

	nd_spin_lock(&qp->receive_lock);
	while (err == 0 && wr != NULL) {
		err = ndv_errno(nd_qp_receive(qp->nd, (void *)(uintptr_t)wr->wr_id,
			sges_of(wr->sg_list), (uint32_t)wr->num_sge));
		if (err == 0)
			wr = wr->next;
	}
	nd_spin_unlock(&qp->receive_lock);
	if (err != 0)
		*bad = wr;
	return err;
}

int
ndv_post_srq_recv(struct ibv_srq *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct ndv_srq *srq = ndv_srq(base);
	int err = 0;

	nd_spin_lock(&srq->lock);
	while (err == 0 && wr != NULL) {
		err = ndv_errno(nd_srq_receive(srq->nd, (void *)(uintptr_t)wr->wr_id,
			sges_of(wr->sg_list), (uint32_t)wr->num_sge));
		if (err == 0)
			wr = wr->next;
	}
	nd_spin_unlock(&srq->lock);
	if (err != 0)
		*bad = wr;
	return err;
}
