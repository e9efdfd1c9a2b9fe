/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/cq/arm.h"
#include "ndclient/cq/cq.h"
#include "ndclient/face/status.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/fd.h"

nd_status
nd_cq_fault(const struct nd_cq *cq)
{
	return nd_status_of_fault(__atomic_load_n(&cq->reader.page->fault, __ATOMIC_ACQUIRE));
}

nd_status
nd_cq_status(const struct nd_cq *cq)
{
	nd_status fault = nd_cq_fault(cq);

	if (fault != ND_SUCCESS)
		return fault;
	return nd_gone(cq->adapter) ? ND_DEVICE_REMOVED : ND_SUCCESS;
}

void
nd_cq_kick(struct nd_cq *cq)
{
	if (cq->armed_callback)
		nd_fd_wake(cq->kick_fd);
}
