/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/qp/handles.h"

#include "ndclient/qp/qp.h"

bool
nd_qp_handle_take(struct nd_qp_handles *h, struct nd_qp *qp)
{
	uint32_t i = h->first_free;

	while (i < ND_QP_HANDLES && h->by_handle[i] != NULL)
		i++;
	h->first_free = i;
	if (i == ND_QP_HANDLES)
		return false;
	if (h->end <= i)
		h->end = i + 1;
	qp->handle = i;
	__atomic_store_n(&h->by_handle[i], qp, __ATOMIC_RELEASE);
	return true;
}

void
nd_qp_handle_give(struct nd_qp_handles *h, const struct nd_qp *qp)
{
	__atomic_store_n(&h->by_handle[qp->handle], NULL, __ATOMIC_RELEASE);
	if (qp->handle < h->first_free)
		h->first_free = qp->handle;
}

void
nd_qp_index_take(struct nd_qp_handles *h, struct nd_qp *qp)
{
	if (qp->index < NDSH_QP_PER_SESSION_MAX)
		h->by_index[qp->index] = qp;
}

void
nd_qp_index_give(struct nd_qp_handles *h, const struct nd_qp *qp)
{
	if (nd_qp_of_index(h, qp->index) == qp)
		h->by_index[qp->index] = NULL;
}

struct nd_qp *
nd_qp_of_index(const struct nd_qp_handles *h, uint32_t index)
{
	return index < NDSH_QP_PER_SESSION_MAX ? h->by_index[index] : NULL;
}
