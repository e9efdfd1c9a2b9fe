/* SPDX-License-Identifier: BSD-3-Clause */
#include "kpi.h"

#define ALL_RIGHTS (NDK_MR_FLAG_ALLOW_REMOTE_READ | NDK_MR_FLAG_ALLOW_REMOTE_WRITE)

NDK_ADAPTER *
place_open(const struct place *p)
{
	NDK_ADAPTER *adapter;

	setenv("NDD_SOCKET", p->socket, 1);
	WANT(STATUS_SUCCESS, NdkOpenAdapter((const SOCKADDR *)&p->address, sizeof(p->address),
				     (NDK_VERSION){1, 1}, &adapter));
	return adapter;
}

NDK_QP *
side_new_qp(const struct side *s)
{
	NDK_QP *qp;

	CREATE(&qp, s->pd->Dispatch->NdkCreateQp(s->pd, s->cq, s->cq, (void *)(uintptr_t)s, DEPTH,
			    DEPTH, 2, 2, 64, told_created, &t, &qp));
	return qp;
}

NDK_CONNECTOR *
side_new_connector(const struct side *s)
{
	NDK_CONNECTOR *c;

	CREATE(&c, s->adapter->Dispatch->NdkCreateConnector(s->adapter, told_created, &t, &c));
	return c;
}

NDK_MR *
side_new_mr(const struct side *s, BOOLEAN fast)
{
	NDK_MR *mr;

	CREATE(&mr, s->pd->Dispatch->NdkCreateMr(s->pd, fast, told_created, &t, &mr));
	return mr;
}

NDK_MR *
side_new_fast(const struct side *s, ULONG pages, BOOLEAN remote)
{
	NDK_MR *mr = side_new_mr(s, TRUE);

	WANT(STATUS_SUCCESS, OUTCOME(mr->Dispatch->NdkInitializeFastRegisterMr(
				     mr, pages, remote, told_done, &t)));
	return mr;
}

NTSTATUS
side_register(NDK_MR *mr, PVOID start, SIZE_T bytes, ULONG flags)
{
	MDL mdl;

	MmInitializeMdl(&mdl, start, bytes);
	return OUTCOME(mr->Dispatch->NdkRegisterMr(mr, &mdl, bytes, flags, told_done, &t));
}

void
side_open(struct side *s, const struct place *p)
{
	*s = (struct side){.place = p, .notified = TOLD_INIT, .gone = TOLD_INIT};
	s->adapter = place_open(p);
	CREATE(&s->pd, s->adapter->Dispatch->NdkCreatePd(s->adapter, told_created, &t, &s->pd));
	CREATE(&s->cq, s->adapter->Dispatch->NdkCreateCq(s->adapter, 4 * DEPTH, told_done,
			       &s->notified, NULL, told_created, &t, &s->cq));
	s->qp = side_new_qp(s);
	s->connector = side_new_connector(s);
	s->buffer = NdkAllocateMemory(s->adapter, BYTES);
	CHECK(s->buffer != NULL);
	s->mr = side_new_mr(s, FALSE);
	WANT(STATUS_SUCCESS, side_register(s->mr, s->buffer, BYTES, ALL_RIGHTS));
}

void
side_close(struct side *s)
{
	if (s->connector != NULL)
		CLOSE(s->connector, NdkCloseConnector);
	if (s->listener != NULL) /* its close waits for that of the connector */
		CLOSE(s->listener, NdkCloseListener);
	if (s->qp != NULL)
		CLOSE(s->qp, NdkCloseQp);
	if (s->mr != NULL)
		CLOSE(s->mr, NdkCloseMr);
	if (s->cq != NULL)
		CLOSE(s->cq, NdkCloseCq);
	if (s->pd != NULL)
		CLOSE(s->pd, NdkClosePd);
	NdkFreeMemory(s->adapter, s->buffer);
	WANT(STATUS_SUCCESS, NdkCloseAdapter(s->adapter));
}

NDK_SGE
side_sge(const struct side *s, ULONG offset, ULONG bytes)
{
	return (NDK_SGE){.VirtualAddress = s->buffer + offset,
		.Length = bytes,
		.MemoryRegionToken = s->mr->Dispatch->NdkGetLocalTokenFromMr(s->mr)};
}

NDK_RESULT_EX
side_next(struct side *s)
{
	NDK_RESULT_EX r;
	unsigned before;

	for (;;) {
		if (s->cq->Dispatch->NdkGetCqResultsEx(s->cq, &r, 1) == 1)
			return r;
		before = told_count(&s->notified);
		s->cq->Dispatch->NdkArmCq(s->cq, NDK_CQ_NOTIFY_ANY);
		if (s->cq->Dispatch->NdkGetCqResultsEx(s->cq, &r, 1) == 1)
			return r; /* the callback of that arm is no harm */
		WANT(STATUS_SUCCESS, told_wait(&s->notified, before + 1));
	}
}

NDK_RESULT_EX
side_result(struct side *s, const void *context, NDK_OPERATION_TYPE type)
{
	NDK_RESULT_EX r = side_next(s);

	WANT(STATUS_SUCCESS, r.Status);
	CHECK(r.RequestContext == context);
	CHECK(r.QPContext == s);
	CHECK(r.Type == type);
	return r;
}

void
side_receive(const struct side *s, void *context, ULONG offset, ULONG bytes)
{
	NDK_SGE sge = side_sge(s, offset, bytes);

	WANT(STATUS_SUCCESS, s->qp->Dispatch->NdkReceive(s->qp, context, &sge, 1));
}

NDK_LISTENER *
side_listen(const struct side *b, struct told *asked, struct sockaddr_in *at)
{
	ULONG bytes = sizeof(*at);
	NDK_LISTENER *l;

	CREATE(&l, b->adapter->Dispatch->NdkCreateListener(
			   b->adapter, told_asked, asked, told_created, &t, &l));
	*at = b->place->address;
	WANT(STATUS_SUCCESS,
		OUTCOME(l->Dispatch->NdkListen(l, (SOCKADDR *)at, sizeof(*at), told_done, &t)));
	WANT(STATUS_SUCCESS, l->Dispatch->NdkGetLocalAddress(l, (SOCKADDR *)at, &bytes));
	CHECK(at->sin_port != 0 && bytes == sizeof(*at));
	return l;
}

void
side_meet(struct side *a, struct side *b)
{
	side_meet_telling(a, b, told_closed, &a->gone);
}

void
side_meet_telling(
	struct side *a, struct side *b, NDK_FN_DISCONNECT_EVENT_CALLBACK event, PVOID context)
{
	struct told asked = TOLD_INIT, connected = TOLD_INIT, accepted = TOLD_INIT;
	struct sockaddr_in at;

	b->listener = side_listen(b, &asked, &at);
	CLOSE(b->connector, NdkCloseConnector);
	WANT(STATUS_PENDING,
		a->connector->Dispatch->NdkConnect(a->connector, a->qp,
			(const SOCKADDR *)&a->place->address, sizeof(at), (SOCKADDR *)&at,
			sizeof(at), 4, 4, "hello", 6, told_done, &connected));
	told_wait(&asked, 1);
	b->connector = (NDK_CONNECTOR *)asked.object;
	WANT(STATUS_PENDING, b->connector->Dispatch->NdkAccept(b->connector, b->qp, 4, 4, "welcome",
				     8, told_closed, &b->gone, told_done, &accepted));
	WANT(STATUS_SUCCESS, told_wait(&connected, 1));
	WANT(STATUS_SUCCESS, OUTCOME(a->connector->Dispatch->NdkCompleteConnect(
				     a->connector, event, context, told_done, &t)));
	WANT(STATUS_SUCCESS, told_wait(&accepted, 1));
}
