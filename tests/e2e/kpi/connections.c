/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared endpoints, pauses, rejects, and the ends of connections. */
#include <signal.h>

#include "../still.h"
#include "kpi.h"

/* Ask for a connection, from the side's own address. */
static void
ask(const struct side *a, NDK_CONNECTOR *c, struct sockaddr_in *at, struct told *connected)
{
	WANT(STATUS_PENDING,
		c->Dispatch->NdkConnect(c, a->qp, (const SOCKADDR *)&a->place->address, sizeof(*at),
			(SOCKADDR *)at, sizeof(*at), 1, 1, NULL, 0, told_done, connected));
}

/* checks R-LSN-07[3,4], R-LSN-08[3]: two connectors leave from one address and port, which is free
 * when both and the endpoint are closed. */
void
endpoints(void)
{
	struct told asked = TOLD_INIT, connected = TOLD_INIT, closed = TOLD_INIT;
	struct sockaddr_in at, local = place_a.address, of;
	ULONG bytes = sizeof(local);
	NDK_SHARED_ENDPOINT *e, *again = NULL;
	struct side a, b;
	NDK_LISTENER *l;
	NDK_CONNECTOR *c;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	l = side_listen(&b, &asked, &at);
	CREATE(&e, a.adapter->Dispatch->NdkCreateSharedEndpoint(
			   a.adapter, (SOCKADDR *)&local, sizeof(local), told_created, &t, &e));
	WANT(STATUS_SUCCESS, e->Dispatch->NdkGetLocalAddress(e, (SOCKADDR *)&local, &bytes));
	bytes = 1;
	WANT(STATUS_BUFFER_TOO_SMALL, e->Dispatch->NdkGetLocalAddress(e, NULL, &bytes));
	CHECK(bytes == sizeof(local));
	c = a.connector;
	WANT(STATUS_PENDING, c->Dispatch->NdkConnectWithSharedEndpoint(c, a.qp, e, (SOCKADDR *)&at,
				     sizeof(at), 1, 1, "x", 1, told_done, &connected));
	told_wait(&asked, 1);
	c = (NDK_CONNECTOR *)asked.object;
	WANT(STATUS_SUCCESS, c->Dispatch->NdkGetPeerAddress(c, (SOCKADDR *)&of, &bytes));
	CHECK(of.sin_port == local.sin_port);
	CHECK(of.sin_addr.s_addr == place_a.address.sin_addr.s_addr);
	WANT(STATUS_PENDING, e->Dispatch->NdkCloseSharedEndpoint(&e->Header, told_closed, &closed));
	WANT(STATUS_SUCCESS, c->Dispatch->NdkReject(c, NULL, 0));
	WANT(STATUS_CONNECTION_REFUSED, told_wait(&connected, 1));
	CLOSE(c, NdkCloseConnector);
	CHECK(told_count(&closed) == 0);
	{
		struct told refused = TOLD_INIT;

		WANT(STATUS_PENDING,
			a.adapter->Dispatch->NdkCreateSharedEndpoint(a.adapter, (SOCKADDR *)&local,
				sizeof(local), told_created, &refused, &again));
		WANT(STATUS_SHARING_VIOLATION, told_wait(&refused, 1));
	}
	CLOSE(a.connector, NdkCloseConnector);
	a.connector = NULL;
	told_wait(&closed, 1);
	CREATE(&again, a.adapter->Dispatch->NdkCreateSharedEndpoint(a.adapter, (SOCKADDR *)&local,
			       sizeof(local), told_created, &t, &again));
	CLOSE(again, NdkCloseSharedEndpoint);
	CLOSE(l, NdkCloseListener);
	side_close(&a);
	side_close(&b);
}

/* checks R-LSN-06[1-3]: a listener that pauses refuses, as if it was not there; the same connector
 * tries again afterwards, from its address. */
void
pauses(void)
{
	struct told asked = TOLD_INIT, first = TOLD_INIT, second = TOLD_INIT, third = TOLD_INIT;
	struct sockaddr_in at, elsewhere = place_a.address;
	struct side a, b;
	NDK_LISTENER *l;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	l = side_listen(&b, &asked, &at);
	l->Dispatch->NdkControlConnectEvents(l, TRUE);
	ask(&a, a.connector, &at, &first);
	WANT(STATUS_CONNECTION_REFUSED, told_wait(&first, 1));
	CHECK(told_count(&asked) == 0);
	l->Dispatch->NdkControlConnectEvents(l, FALSE);
	elsewhere.sin_port = htons(4711);
	WANT(STATUS_ADDRESS_ALREADY_ASSOCIATED,
		OUTCOME(a.connector->Dispatch->NdkConnect(a.connector, a.qp, (SOCKADDR *)&elsewhere,
			sizeof(at), (SOCKADDR *)&at, sizeof(at), 1, 1, NULL, 0, told_done, &t)));
	ask(&a, a.connector, &at, &second);
	told_wait(&asked, 1);
	CHECK(asked.object->ObjectType == NdkObjectTypeConnector);
	CLOSE((NDK_CONNECTOR *)asked.object, NdkCloseConnector);
	WANT(STATUS_CONNECTION_REFUSED, told_wait(&second, 1));
	CLOSE(l, NdkCloseListener);
	ask(&a, a.connector, &at, &third);
	WANT(STATUS_CONNECTION_REFUSED, told_wait(&third, 1));
	side_close(&a);
	side_close(&b);
}

/* A refusal brings data, and its Accept is too late. */
void
rejects(void)
{
	struct told asked = TOLD_INIT, connected = TOLD_INIT;
	struct sockaddr_in at;
	char data[256];
	ULONG bytes = sizeof(data);
	struct side a, b;
	NDK_LISTENER *l;
	NDK_CONNECTOR *c;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	l = side_listen(&b, &asked, &at);
	WANT(STATUS_INVALID_DEVICE_STATE,
		OUTCOME(l->Dispatch->NdkListen(l, (SOCKADDR *)&at, sizeof(at), told_done, &t)));
	WANT(STATUS_INVALID_PARAMETER,
		l->Dispatch->NdkListen(l, (SOCKADDR *)&at, sizeof(at), NULL, NULL));
	WANT(STATUS_INVALID_ADDRESS, l->Dispatch->NdkListen(l, NULL, 0, told_done, NULL));
	ask(&a, a.connector, &at, &connected);
	told_wait(&asked, 1);
	c = (NDK_CONNECTOR *)asked.object;
	WANT(STATUS_SUCCESS, c->Dispatch->NdkReject(c, "no", 3));
	WANT(STATUS_CONNECTION_REFUSED, told_wait(&connected, 1));
	WANT(STATUS_SUCCESS,
		a.connector->Dispatch->NdkGetConnectionData(a.connector, NULL, NULL, data, &bytes));
	CHECK(strcmp(data, "no") == 0);
	CHECK(OUTCOME(c->Dispatch->NdkAccept(c, b.qp, 0, 0, NULL, 0, NULL, NULL, told_done, &t)) <
		0);
	CLOSE(c, NdkCloseConnector);
	CLOSE(l, NdkCloseListener);
	side_close(&a);
	side_close(&b);
}

/* checks R-DISC-05[1,2]: a disconnects: b is told once, and what it posted is cancelled by its own
 * disconnect; a, which disconnected, is not told. */
void
ends(void)
{
	struct side a, b;
	NDK_RESULT_EX r;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	side_meet(&a, &b);
	side_receive(&b, &a, 0, 4);
	WANT(STATUS_SUCCESS,
		OUTCOME(a.connector->Dispatch->NdkDisconnect(a.connector, told_done, &t)));
	told_wait(&b.gone, 1);
	CHECK(b.cq->Dispatch->NdkGetCqResultsEx(b.cq, &r, 1) == 0); /* the doc profile */
	WANT(STATUS_SUCCESS,
		OUTCOME(b.connector->Dispatch->NdkDisconnect(b.connector, told_done, &t)));
	r = side_next(&b);
	CHECK(r.Status == STATUS_CANCELLED && r.RequestContext == &a);
	side_close(&a);
	side_close(&b);
	CHECK(told_count(&a.gone) == 0 && told_count(&b.gone) == 1);
}

/* ---- callbacks that end what they are of ------------------------------------------------ */

struct last {
	struct side *side;
	bool returned; /* the callback has */
	struct told entered, go, closed;
};

static void
closed_last(PVOID arg)
{
	struct last *last = arg;

	CHECK(__atomic_load_n(&last->returned, __ATOMIC_ACQUIRE));
	told_closed(&last->closed);
}

/* The callback goes on when the other thread has looked. */
static void
leave_slowly(struct last *last)
{
	told_closed(&last->entered);
	told_wait(&last->go, 1);
	__atomic_store_n(&last->returned, true, __ATOMIC_RELEASE);
}

static void
notified_last(PVOID arg, NTSTATUS status)
{
	struct last *last = arg;

	WANT(STATUS_SUCCESS, status);
	leave_slowly(last);
}

static void
gone_last(PVOID arg)
{
	struct last *last = arg;
	NDK_CONNECTOR *c = last->side->connector;

	last->side->connector = NULL;
	WANT(STATUS_PENDING, c->Dispatch->NdkCloseConnector(&c->Header, closed_last, last));
	leave_slowly(last);
}

/* Close a completion queue while its callback runs. */
static void
close_while_notified(struct side *s)
{
	struct last last = {.entered = TOLD_INIT, .go = TOLD_INIT, .closed = TOLD_INIT};
	NDK_SGE sge = side_sge(s, 0, 4);
	NDK_QP *qp;
	NDK_CQ *cq;

	CREATE(&cq, s->adapter->Dispatch->NdkCreateCq(
			    s->adapter, DEPTH, notified_last, &last, NULL, told_created, &t, &cq));
	CREATE(&qp, s->pd->Dispatch->NdkCreateQp(
			    s->pd, cq, cq, NULL, 1, 1, 1, 1, 0, told_created, &t, &qp));
	cq->Dispatch->NdkArmCq(cq, NDK_CQ_NOTIFY_ANY);
	WANT(STATUS_SUCCESS, qp->Dispatch->NdkReceive(qp, NULL, &sge, 1));
	qp->Dispatch->NdkFlush(qp);
	told_wait(&last.entered, 1);
	CLOSE(qp, NdkCloseQp);
	WANT(STATUS_PENDING, cq->Dispatch->NdkCloseCq(&cq->Header, closed_last, &last));
	told_closed(&last.go);
	told_wait(&last.closed, 1);
	CHECK(told_count(&last.entered) == 1);
}

/* The request's completion closes what the request was of. */
static void
refused_last(PVOID arg, NTSTATUS status)
{
	WANT(STATUS_CONNECTION_REFUSED, status);
	gone_last(arg);
}

static void
close_when_refused(struct side *a, const struct side *b)
{
	struct last last = {.side = a, .entered = TOLD_INIT, .go = TOLD_INIT, .closed = TOLD_INIT};
	struct sockaddr_in at = b->place->address;

	at.sin_port = htons(4711); /* there is no listener */
	WANT(STATUS_PENDING,
		a->connector->Dispatch->NdkConnect(a->connector, a->qp,
			(const SOCKADDR *)&a->place->address, sizeof(at), (SOCKADDR *)&at,
			sizeof(at), 0, 0, NULL, 0, refused_last, &last));
	told_wait(&last.entered, 1);
	told_closed(&last.go);
	told_wait(&last.closed, 1);
	a->connector = side_new_connector(a);
}

/* checks R-LIFE-07[2], R-LIFE-09[2,3]: a queue is closed while its callback runs, a connector in
 * the completion of its request and in its event: the closes end behind the callbacks, and none
 * follows. */
void
last_callbacks(void)
{
	struct last last = {.entered = TOLD_INIT, .go = TOLD_INIT, .closed = TOLD_INIT};
	struct side a, b;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	close_while_notified(&a);
	close_when_refused(&a, &b);
	last.side = &a;
	side_meet_telling(&a, &b, gone_last, &last);
	side_close(&b); /* with its connection */
	told_wait(&last.entered, 1);
	told_closed(&last.go);
	told_wait(&last.closed, 1);
	CHECK(told_count(&last.entered) == 1);
	side_close(&a);
}

/* checks R-DISC-04[2]: the peer's daemon stands still. */
void
silent(void)
{
	struct told gone = TOLD_INIT;
	struct side a, b;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	side_meet(&a, &b);
	CHECK(process_stop(daemon_a));
	WANT(STATUS_PENDING, b.connector->Dispatch->NdkDisconnect(b.connector, told_done, &gone));
	WANT(STATUS_IO_TIMEOUT, told_wait(&gone, 1));
	CHECK(kill(daemon_a, SIGCONT) == 0);
	side_close(&a);
	side_close(&b);
}

/* checks R-CQ-29[3], R-LIFE-12[2]: the daemon dies: what is under way ends, what is asked for
 * fails, and all of it can be closed. */
void
daemon_dies(void)
{
	struct told asked = TOLD_INIT, connected = TOLD_INIT;
	struct sockaddr_in at;
	struct side a, b;
	NDK_LISTENER *l;
	NDK_SGE sge;
	NDK_PD *pd;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	l = side_listen(&b, &asked, &at);
	ask(&a, a.connector, &at, &connected);
	told_wait(&asked, 1);
	a.cq->Dispatch->NdkArmCq(a.cq, NDK_CQ_NOTIFY_ANY);
	CHECK(daemon_a > 0 && kill(daemon_a, SIGKILL) == 0);
	WANT(STATUS_DEVICE_REMOVED, told_wait(&a.notified, 1));
	WANT(STATUS_DEVICE_REMOVED, told_wait(&connected, 1));
	WANT(STATUS_DEVICE_REMOVED,
		OUTCOME(a.adapter->Dispatch->NdkCreatePd(a.adapter, told_created, &t, &pd)));
	WANT(STATUS_DEVICE_REMOVED,
		OUTCOME(a.cq->Dispatch->NdkResizeCq(a.cq, 2 * DEPTH, told_done, &t)));
	sge = side_sge(&a, 0, 1);
	WANT(STATUS_DEVICE_REMOVED, a.qp->Dispatch->NdkReceive(a.qp, NULL, &sge, 1));
	side_close(&a);
	CLOSE((NDK_CONNECTOR *)asked.object, NdkCloseConnector);
	CLOSE(l, NdkCloseListener);
	side_close(&b);
}
