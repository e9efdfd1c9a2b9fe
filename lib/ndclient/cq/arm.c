/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/cq/arm.h"
#include "ndclient/cq/cq.h"
#include "ndclient/session/fd.h"

/* Strength order and numbers of the ABI differ from ND's. */
bool
nd_arm_of(uint32_t type, enum ndsh_arm *arm)
{
	switch (type) {
	case ND_CQ_NOTIFY_ERRORS:
		*arm = NDSH_ARM_ERRORS;
		return true;
	case ND_CQ_NOTIFY_ANY:
		*arm = NDSH_ARM_ANY;
		return true;
	case ND_CQ_NOTIFY_SOLICITED:
		*arm = NDSH_ARM_SOLICITED;
		return true;
	default:
		return false;
	}
}

nd_status
nd_cq_fault(const struct nd_cq *cq)
{
	switch (__atomic_load_n(&cq->reader.page->fault, __ATOMIC_ACQUIRE)) {
	case NDSH_CQ_OK:
		return ND_SUCCESS;
	case NDSH_CQ_OVERRUN:
		return ND_BUFFER_OVERFLOW;
	default:
		return ND_INTERNAL_ERROR;
	}
}

void
nd_cq_kick(struct nd_cq *cq)
{
	if (cq->armed_callback)
		nd_fd_wake(cq->kick_fd);
}
