/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues. */
#include "kpi.h"

static NDK_QP *
new_qp(const struct side *s, NDK_SRQ *srq)
{
	NDK_QP *qp;

	CREATE(&qp, s->pd->Dispatch->NdkCreateQpWithSrq(s->pd, s->cq, s->cq, srq,
			    (PVOID)(uintptr_t)s, DEPTH, 2, 0, told_created, &t, &qp));
	return qp;
}

static NTSTATUS
modify(NDK_SRQ *srq, ULONG depth, ULONG threshold)
{
	return OUTCOME(srq->Dispatch->NdkModifySrq(srq, depth, threshold, told_done, &t));
}

/* checks R-SRQ-04[1-5]: receives of a shared queue, and the callback that its threshold arms. */
void
shared_receives(void)
{
	GROUP_AFFINITY near = {.Mask = 1};
	struct told low = TOLD_INIT;
	struct side a, b;
	NDK_SRQ *srq;
	NDK_SGE sge;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	CREATE(&srq, b.pd->Dispatch->NdkCreateSrq(
			     b.pd, 4, 1, 0, told_done, &low, &near, told_created, &t, &srq));
	CLOSE(b.qp, NdkCloseQp);
	b.qp = new_qp(&b, srq);
	side_meet(&a, &b);
	sge = side_sge(&b, 0, 100);
	WANT(STATUS_INVALID_DEVICE_REQUEST, b.qp->Dispatch->NdkReceive(b.qp, NULL, &sge, 1));
	for (ULONG i = 0; i < 4; i++)
		WANT(STATUS_SUCCESS, srq->Dispatch->NdkSrqReceive(srq, &b, &sge, 1));
	WANT(STATUS_NO_MORE_ENTRIES, srq->Dispatch->NdkSrqReceive(srq, &b, &sge, 1));
	WANT(STATUS_INVALID_PARAMETER, srq->Dispatch->NdkModifySrq(srq, 0, 1, NULL, NULL));
	WANT(STATUS_BUFFER_OVERFLOW, modify(srq, 3, 0));
	WANT(STATUS_SUCCESS, modify(srq, 0, 4)); /* four wait: not below */
	WANT(STATUS_SUCCESS, modify(srq, 8, 0));
	CHECK(told_count(&low) == 0);
	sge = side_sge(&a, 0, 5);
	memcpy(a.buffer, "first", 5);
	WANT(STATUS_SUCCESS, a.qp->Dispatch->NdkSend(a.qp, &a, &sge, 1, 0));
	side_result(&b, &b, NdkOperationTypeReceive);
	CHECK(memcmp(b.buffer, "first", 5) == 0);
	WANT(STATUS_SUCCESS, told_wait(&low, 1));
	WANT(STATUS_SUCCESS, modify(srq, 0, 4)); /* three wait: at once */
	WANT(STATUS_SUCCESS, told_wait(&low, 2));
	side_result(&a, &a, NdkOperationTypeSend);
	CLOSE(b.qp, NdkCloseQp);
	b.qp = NULL;
	CLOSE(srq, NdkCloseSrq);
	CHECK(told_count(&low) == 2);
	side_close(&b);
	side_close(&a);
}
