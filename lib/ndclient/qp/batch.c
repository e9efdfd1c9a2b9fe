/* SPDX-License-Identifier: BSD-3-Clause */
/* Held requests stand in their slots already, which say that they are empty. */
#include "ndclient/qp/batch.h"

#include "ndclient/mem/copies.h"
#include "ndclient/qp/post.h"
#include "ndclient/qp/qp.h"

void
nd_batch_begin(const struct nd_qp *qp, struct nd_batch *b)
{
	*b = (struct nd_batch){.first = qp->sq.next, .fence = qp->fence, .fenced = qp->fenced};
}

void
nd_batch_show(struct nd_qp *qp, const struct nd_batch *b)
{
	uint32_t n = qp->sq.next - b->first;

	if (n == 0)
		return;
	ndsh_sq_show(&qp->sq, n);
	nd_post_tell(qp);
}

void
nd_batch_drop(struct nd_qp *qp, const struct nd_batch *b)
{
	qp->sq.next = b->first;
	qp->fence = b->fence;
	qp->fenced = b->fenced;
	nd_copies_drop(qp, b->first);
}
