/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/cq/arm.h"
#include "ndclient/cq/cq.h"
#include "ndclient/face/status.h"
#include "ndclient/session/fd.h"

nd_status
nd_cq_fault(const struct nd_cq *cq)
{
	return nd_status_of_fault(__atomic_load_n(&cq->reader.page->fault, __ATOMIC_ACQUIRE));
}

void
nd_cq_kick(struct nd_cq *cq)
{
	if (cq->armed_callback)
		nd_fd_wake(cq->kick_fd);
}
