/* SPDX-License-Identifier: BSD-3-Clause */
/* What adapters and objects are, how they are made, and how they end. */
#include "kpi.h"

static void
check_header(const NDK_OBJECT_HEADER *h, NDK_OBJECT_TYPE type)
{
	CHECK(h->Version.Major == 1 && h->Version.Minor == 2);
	CHECK(h->ObjectType == type);
	for (int i = 0; i < 4; i++)
		CHECK(h->NdkReserved.rf[i] == NULL);
}

static void
check_extension(NDK_FN_QUERY_EXTENSION_INTERFACE query, NDK_OBJECT_HEADER *h)
{
	NDK_EXTENSION_INTERFACE extension;
	GUID id = {0};

	WANT(STATUS_NOT_SUPPORTED, query(h, &id, (NDK_VERSION){1, 0}, &extension));
}

static void
check_adapter(NDK_ADAPTER *a)
{
	NDK_ADAPTER_INFO info;
	ULONG bytes = 0;

	check_header(&a->Header, NdkObjectTypeAdapter);
	WANT(STATUS_BUFFER_TOO_SMALL, a->Dispatch->NdkQueryAdapterInfo(a, NULL, &bytes));
	CHECK(bytes == sizeof(info));
	bytes--;
	WANT(STATUS_BUFFER_TOO_SMALL, a->Dispatch->NdkQueryAdapterInfo(a, &info, &bytes));
	CHECK(bytes == sizeof(info));
	WANT(STATUS_SUCCESS, a->Dispatch->NdkQueryAdapterInfo(a, &info, &bytes));
	CHECK(info.Version.Major == 1 && info.Version.Minor == 2);
	CHECK(info.FRMRPageCount >= 16 && info.MaxCqDepth > 0 && info.MaxSrqDepth > 0);
	CHECK((info.AdapterFlags & NDK_ADAPTER_FLAG_RDMA_READ_SINK_NOT_REQUIRED) != 0);
	CHECK((info.AdapterFlags & NDK_ADAPTER_FLAG_RDMA_READ_LOCAL_INVALIDATE_SUPPORTED) != 0);
}

static void
check_versions(void)
{
	const SOCKADDR *at = (const SOCKADDR *)&place_a.address;
	NDK_ADAPTER *a = (NDK_ADAPTER *)&a;

	setenv("NDD_SOCKET", place_a.socket, 1);
	WANT(NDIS_STATUS_BAD_VERSION, NdkOpenAdapter(at, 16, (NDK_VERSION){1, 3}, &a));
	CHECK(a == NULL);
	WANT(NDIS_STATUS_BAD_VERSION, NdkOpenAdapter(at, 16, (NDK_VERSION){2, 0}, &a));
	WANT(STATUS_INVALID_ADDRESS,
		NdkOpenAdapter((const SOCKADDR *)&place_b.address, 16, (NDK_VERSION){1, 2}, &a));
	WANT(STATUS_SUCCESS, NdkOpenAdapter(at, 16, (NDK_VERSION){1, 2}, &a));
	WANT(STATUS_SUCCESS, NdkCloseAdapter(a));
}

/* Each kind of object, its header and its extensions. */
void
objects(void)
{
	struct sockaddr_in local = place_a.address;
	ULONG bytes = sizeof(local);
	NDK_SHARED_ENDPOINT *endpoint;
	NDK_LISTENER *listener;
	NDK_SRQ *srq;
	NDK_MW *mw;
	struct side s;

	check_versions();
	side_open(&s, &place_a);
	check_adapter(s.adapter);
	CREATE(&mw, s.pd->Dispatch->NdkCreateMw(s.pd, told_created, &t, &mw));
	CREATE(&srq, s.pd->Dispatch->NdkCreateSrq(
			     s.pd, 4, 1, 0, NULL, NULL, NULL, told_created, &t, &srq));
	CREATE(&listener, s.adapter->Dispatch->NdkCreateListener(
				  s.adapter, told_asked, NULL, told_created, &t, &listener));
	CREATE(&endpoint, s.adapter->Dispatch->NdkCreateSharedEndpoint(s.adapter,
				  (SOCKADDR *)&local, sizeof(local), told_created, &t, &endpoint));
	check_header(&s.pd->Header, NdkObjectTypePd);
	check_header(&s.cq->Header, NdkObjectTypeCq);
	check_header(&s.qp->Header, NdkObjectTypeQp);
	check_header(&s.mr->Header, NdkObjectTypeMr);
	check_header(&s.connector->Header, NdkObjectTypeConnector);
	check_header(&mw->Header, NdkObjectTypeMw);
	check_header(&srq->Header, NdkObjectTypeSrq);
	check_header(&listener->Header, NdkObjectTypeListener);
	check_header(&endpoint->Header, NdkObjectTypeSharedEndpoint);
	check_extension(s.adapter->Dispatch->NdkQueryExtension, &s.adapter->Header);
	check_extension(s.pd->Dispatch->NdkQueryExtension, &s.pd->Header);
	check_extension(s.cq->Dispatch->NdkQueryExtension, &s.cq->Header);
	check_extension(s.qp->Dispatch->NdkQueryExtension, &s.qp->Header);
	check_extension(s.mr->Dispatch->NdkQueryExtension, &s.mr->Header);
	check_extension(s.connector->Dispatch->NdkQueryExtension, &s.connector->Header);
	check_extension(mw->Dispatch->NdkQueryExtension, &mw->Header);
	check_extension(srq->Dispatch->NdkQueryExtension, &srq->Header);
	check_extension(listener->Dispatch->NdkQueryExtension, &listener->Header);
	check_extension(endpoint->Dispatch->NdkQueryExtension, &endpoint->Header);
	WANT(STATUS_SUCCESS,
		endpoint->Dispatch->NdkGetLocalAddress(endpoint, (SOCKADDR *)&local, &bytes));
	CHECK(local.sin_port != 0);
	CLOSE(endpoint, NdkCloseSharedEndpoint);
	CLOSE(listener, NdkCloseListener);
	CLOSE(srq, NdkCloseSrq);
	CLOSE(mw, NdkCloseMw);
	side_close(&s);
}

/* checks R-LIFE-06[1-3]: each kind of outcome, by the calls that have it. */
void
creates(void)
{
	struct told made = TOLD_INIT, mark = TOLD_INIT;
	NDK_CQ *untouched = (NDK_CQ *)&made, *cq = untouched;
	NDK_MR *mr = NULL, *none = (NDK_MR *)&made;
	struct side s;

	side_open(&s, &place_a);
	/* Success: by the out pointer alone. */
	WANT(STATUS_SUCCESS, s.pd->Dispatch->NdkCreateMr(s.pd, TRUE, told_created, &made, &mr));
	CHECK(mr != NULL && mr->Header.ObjectType == NdkObjectTypeMr);
	/* Failure: by neither. */
	WANT(STATUS_INVALID_PARAMETER, s.pd->Dispatch->NdkCreateMr(s.pd, TRUE, NULL, &made, &none));
	WANT(STATUS_INVALID_PARAMETER, s.adapter->Dispatch->NdkCreateCq(s.adapter, 4, NULL, NULL,
					       NULL, told_created, &made, &cq));
	CHECK(none == (NDK_MR *)&made && cq == untouched);
	/* Pending: by the callback alone. The next request of the adapter has been told, so those
	 * before were. */
	WANT(STATUS_PENDING, s.adapter->Dispatch->NdkCreateCq(s.adapter, 4, told_done, &mark, NULL,
				     told_created, &made, &cq));
	WANT(STATUS_SUCCESS, told_wait(&made, 1));
	CHECK(made.object != NULL && made.object->ObjectType == NdkObjectTypeCq);
	CHECK(cq == untouched);
	cq = (NDK_CQ *)made.object;
	WANT(STATUS_SUCCESS, OUTCOME(cq->Dispatch->NdkResizeCq(cq, 8, told_done, &t)));
	CHECK(made.count == 1); /* not once for the region that was made first */
	CLOSE(cq, NdkCloseCq);
	/* One that fails later. */
	cq = untouched;
	WANT(STATUS_PENDING, s.adapter->Dispatch->NdkCreateCq(s.adapter, 0, told_done, NULL, NULL,
				     told_created, &made, &cq));
	WANT(STATUS_INVALID_PARAMETER, told_wait(&made, 2));
	CHECK(made.object == NULL && cq == untouched && told_count(&mark) == 0);
	CLOSE(mr, NdkCloseMr);
	side_close(&s);
}

/* ---- closes ----------------------------------------------------------------------------- */

/* The order in which closes ended. */
static struct told *ended[8];
static unsigned ended_count;

static void
note_end(PVOID told)
{
	ended[ended_count++] = told; /* one callback at a time */
	told_closed(told);
}

/*
 * checks R-LIFE-07[1], R-LIFE-08[1,2], R-LIFE-09[1]: what others rest on is closed first, and ends
 * last; a connection is asked for meanwhile, and that ends before its connector.
 */
void
closes(void)
{
	struct told pd = TOLD_INIT, cq = TOLD_INIT, qp = TOLD_INIT, mr = TOLD_INIT;
	struct told connector = TOLD_INIT, listen = TOLD_INIT, asked = TOLD_INIT;
	struct told connect = TOLD_INIT;
	struct sockaddr_in at;
	NDK_LISTENER *l;
	struct side s, b;

	side_open(&s, &place_a);
	side_open(&b, &place_b);
	l = side_listen(&b, &asked, &at);
	WANT(STATUS_PENDING,
		s.connector->Dispatch->NdkConnect(s.connector, s.qp,
			(const SOCKADDR *)&place_a.address, sizeof(at), (SOCKADDR *)&at, sizeof(at),
			0, 0, NULL, 0, told_done, &connect));
	told_wait(&asked, 1);
	WANT(STATUS_PENDING, s.pd->Dispatch->NdkClosePd(&s.pd->Header, note_end, &pd));
	WANT(STATUS_PENDING, s.cq->Dispatch->NdkCloseCq(&s.cq->Header, note_end, &cq));
	WANT(STATUS_PENDING, l->Dispatch->NdkCloseListener(&l->Header, told_closed, &listen));
	WANT(STATUS_PENDING, s.qp->Dispatch->NdkCloseQp(&s.qp->Header, note_end, &qp));
	told_wait(&qp, 1);
	CHECK(told_count(&pd) == 0); /* the region is left */
	WANT(STATUS_PENDING, s.mr->Dispatch->NdkCloseMr(&s.mr->Header, note_end, &mr));
	told_wait(&pd, 1);
	WANT(STATUS_PENDING, s.connector->Dispatch->NdkCloseConnector(
				     &s.connector->Header, note_end, &connector));
	told_wait(&connector, 1);
	CHECK(told_count(&connect) == 1);
	WANT(STATUS_CANCELLED, told_wait(&connect, 1));
	CHECK(ended_count == 5);
	CHECK(ended[0] == &qp && ended[1] == &cq && ended[2] == &mr && ended[3] == &pd);
	CHECK(told_count(&listen) == 0); /* its connector is left */
	l = NULL;
	CLOSE((NDK_CONNECTOR *)asked.object, NdkCloseConnector);
	told_wait(&listen, 1);
	NdkFreeMemory(s.adapter, s.buffer);
	WANT(STATUS_SUCCESS, NdkCloseAdapter(s.adapter));
	side_close(&b);
}

/* ---- the adapter's close ---------------------------------------------------------------- */

struct closing {
	NDK_ADAPTER *adapter;
	NTSTATUS inside; /* what a callback was told */
	bool slow_over;	 /* a callback that takes a while has returned */
	struct told told, entered, go;
};

static void *
close_adapter(void *arg)
{
	struct closing *c = arg;

	WANT(STATUS_SUCCESS, NdkCloseAdapter(c->adapter));
	CHECK(__atomic_load_n(&c->slow_over, __ATOMIC_ACQUIRE));
	told_closed(&c->told);
	return NULL;
}

static void
closed_slowly(PVOID arg)
{
	struct closing *c = arg;

	c->inside = NdkCloseAdapter(c->adapter);
	told_closed(&c->entered);
	told_wait(&c->go, 1);
	__atomic_store_n(&c->slow_over, true, __ATOMIC_RELEASE);
}

/* checks R-LIFE-10[1-3]: the close of an adapter waits for its last object, and for a callback that
 * runs; it is refused in one. */
void
blocking(void)
{
	struct closing c = {
		.adapter = place_open(&place_a),
		.told = TOLD_INIT,
		.entered = TOLD_INIT,
		.go = TOLD_INIT,
	};
	struct told notified = TOLD_INIT;
	pthread_t thread;
	NDK_PD *pd;
	NDK_CQ *cq;

	CREATE(&pd, c.adapter->Dispatch->NdkCreatePd(c.adapter, told_created, &t, &pd));
	CREATE(&cq, c.adapter->Dispatch->NdkCreateCq(
			    c.adapter, 4, told_done, &notified, NULL, told_created, &t, &cq));
	CHECK(pthread_create(&thread, NULL, close_adapter, &c) == 0);
	CLOSE(pd, NdkClosePd);
	for (ULONG depth = 8; depth < 1024; depth *= 2) /* and the adapter lives on */
		WANT(STATUS_SUCCESS, OUTCOME(cq->Dispatch->NdkResizeCq(cq, depth, told_done, &t)));
	CHECK(told_count(&c.told) == 0);
	WANT(STATUS_PENDING, cq->Dispatch->NdkCloseCq(&cq->Header, closed_slowly, &c));
	told_wait(&c.entered, 1);
	WANT(STATUS_INVALID_DEVICE_STATE, c.inside);
	CHECK(told_count(&c.told) == 0);
	told_closed(&c.go);
	told_wait(&c.told, 1);
	CHECK(pthread_join(thread, NULL) == 0);
	WANT(STATUS_SUCCESS, NdkCloseAdapter(NULL));
}

/* ---- arguments -------------------------------------------------------------------------- */

static void
refused_creates(const struct side *s, const struct side *foreign)
{
	NDK_CQ *not_a_cq = (NDK_CQ *)s->mr;
	NDK_LISTENER *l = NULL;
	NDK_PD *pd = NULL;
	NDK_QP *qp = NULL;
	NDK_SRQ *srq = NULL;
	struct told told = TOLD_INIT;

	WANT(STATUS_INVALID_PARAMETER,
		s->adapter->Dispatch->NdkCreatePd(s->adapter, NULL, &told, &pd));
	WANT(STATUS_INVALID_PARAMETER, s->adapter->Dispatch->NdkCreateListener(
					       s->adapter, NULL, NULL, told_created, &told, &l));
	WANT(STATUS_INVALID_PARAMETER,
		s->pd->Dispatch->NdkCreateSrq(s->pd, 1, 1, 0, NULL, NULL, NULL, NULL, &told, &srq));
	WANT(STATUS_INVALID_PARAMETER, s->pd->Dispatch->NdkCreateQp(s->pd, not_a_cq, s->cq, NULL, 1,
					       1, 1, 1, 0, told_created, &told, &qp));
	WANT(STATUS_INVALID_PARAMETER, s->pd->Dispatch->NdkCreateQp(s->pd, s->cq, foreign->cq, NULL,
					       1, 1, 1, 1, 0, told_created, &told, &qp));
	WANT(STATUS_INVALID_PARAMETER,
		s->pd->Dispatch->NdkCreateQpWithSrq(s->pd, s->cq, s->cq, (NDK_SRQ *)s->cq, NULL, 1,
			1, 0, told_created, &told, &qp));
	WANT(STATUS_PENDING, s->pd->Dispatch->NdkCreateQp(s->pd, s->cq, s->cq, NULL, UINT32_MAX, 1,
				     1, 1, 0, told_created, &told, &qp));
	WANT(STATUS_INVALID_PARAMETER, told_wait(&told, 1));
	CHECK(told.object == NULL && told.count == 1);
}

static void
refused_posts(const struct side *s, const struct side *foreign)
{
	const NDK_QP_DISPATCH *d = s->qp->Dispatch;
	NDK_SGE sge = side_sge(s, 0, 8);
	NDK_MR *fast = side_new_mr(s, TRUE);
	NDK_MW *mw;

	CREATE(&mw, s->pd->Dispatch->NdkCreateMw(s->pd, told_created, &t, &mw));
	WANT(STATUS_INVALID_PARAMETER, d->NdkSend(s->qp, NULL, &sge, 1, 0x80000000));
	WANT(STATUS_INVALID_PARAMETER,
		d->NdkSend(s->qp, NULL, &sge, 1, NDK_OP_FLAG_RDMA_READ_SINK));
	WANT(STATUS_CONNECTION_INVALID, d->NdkSend(s->qp, NULL, &sge, 1, NDK_OP_FLAG_DEFER));
	WANT(STATUS_CONNECTION_INVALID, d->NdkSendAndInvalidate(s->qp, NULL, &sge, 1, 0, 1));
	WANT(STATUS_CONNECTION_INVALID, d->NdkRead(s->qp, NULL, &sge, 1, 0, 1, 0));
	WANT(STATUS_CONNECTION_INVALID, d->NdkWrite(s->qp, NULL, &sge, 1, 0, 1, 0));
	WANT(STATUS_INVALID_PARAMETER,
		d->NdkWrite(s->qp, NULL, &sge, 1, 0, 1, NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT));
	WANT(STATUS_INVALID_PARAMETER,
		d->NdkBind(s->qp, NULL, fast, mw, s->buffer, 8, NDK_OP_FLAG_ALLOW_REMOTE_READ));
	WANT(STATUS_INVALID_PARAMETER, d->NdkBind(s->qp, NULL, foreign->mr, mw, s->buffer, 8, 0));
	WANT(STATUS_INVALID_PARAMETER, d->NdkInvalidate(s->qp, NULL, &s->cq->Header, 0));
	WANT(STATUS_CONNECTION_INVALID, d->NdkInvalidate(s->qp, NULL, &s->mr->Header, 0));
	WANT(STATUS_INVALID_PARAMETER, d->NdkInvalidate(s->qp, NULL, &foreign->mr->Header, 0));
	WANT(STATUS_INVALID_DEVICE_STATE, d->NdkInvalidate(s->qp, NULL, &fast->Header, 0));
	WANT(STATUS_INVALID_DEVICE_REQUEST,
		d->NdkFastRegister(s->qp, NULL, s->mr, 0, NULL, 0, 0, NULL, 0));
	WANT(STATUS_INVALID_PARAMETER,
		d->NdkFastRegister(s->qp, NULL, foreign->mr, 0, NULL, 0, 0, NULL, 0));
	CLOSE(mw, NdkCloseMw);
	CLOSE(fast, NdkCloseMr);
}

static void
refused_connects(const struct side *s, const struct side *foreign)
{
	const NDK_CONNECTOR_DISPATCH *d = s->connector->Dispatch;
	const SOCKADDR *at = (const SOCKADDR *)&place_a.address;
	char data[300] = {0};
	struct told told = TOLD_INIT;
	ULONG bytes = 1;

	WANT(STATUS_INVALID_PARAMETER, d->NdkConnect(s->connector, foreign->qp, at, 16, at, 16, 0,
					       0, NULL, 0, told_done, &told));
	WANT(STATUS_INVALID_PARAMETER,
		d->NdkConnect(s->connector, s->qp, at, 16, at, 16, 0, 0, NULL, 0, NULL, &told));
	WANT(STATUS_INVALID_PARAMETER, d->NdkConnect(s->connector, s->qp, at, 16, at, 16, 0, 0,
					       NULL, 1, told_done, &told));
	WANT(STATUS_INVALID_BUFFER_SIZE, d->NdkConnect(s->connector, s->qp, at, 16, at, 16, 0, 0,
						 data, sizeof(data), told_done, &told));
	WANT(STATUS_INVALID_ADDRESS, d->NdkConnect(s->connector, s->qp, NULL, 0, at, 16, 0, 0, NULL,
					     0, told_done, &told));
	WANT(STATUS_INVALID_PARAMETER,
		d->NdkConnectWithSharedEndpoint(s->connector, s->qp, (NDK_SHARED_ENDPOINT *)s->cq,
			at, 16, 0, 0, NULL, 0, told_done, &told));
	WANT(STATUS_INVALID_PARAMETER,
		d->NdkAccept(s->connector, s->qp, 0, 0, NULL, 0, NULL, NULL, NULL, &told));
	WANT(STATUS_INVALID_PARAMETER,
		d->NdkCompleteConnect(s->connector, NULL, NULL, NULL, &told));
	WANT(STATUS_INVALID_PARAMETER, d->NdkDisconnect(s->connector, NULL, &told));
	WANT(STATUS_INVALID_PARAMETER,
		d->NdkGetConnectionData(s->connector, NULL, NULL, NULL, &bytes));
	CHECK(told.count == 0);
	WANT(STATUS_CONNECTION_INVALID, OUTCOME(d->NdkDisconnect(s->connector, told_done, &t)));
	WANT(STATUS_CONNECTION_INVALID,
		OUTCOME(d->NdkCompleteConnect(s->connector, NULL, NULL, told_done, &t)));
	WANT(STATUS_CONNECTION_INVALID,
		d->NdkGetPeerAddress(s->connector, (SOCKADDR *)data, &bytes));
}

/* What is refused, inline or later. */
void
arguments(void)
{
	struct side s, foreign;

	side_open(&s, &place_a);
	side_open(&foreign, &place_a);
	refused_creates(&s, &foreign);
	refused_posts(&s, &foreign);
	refused_connects(&s, &foreign);
	side_close(&foreign);
	side_close(&s);
}
