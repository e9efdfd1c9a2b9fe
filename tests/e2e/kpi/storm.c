/* SPDX-License-Identifier: BSD-3-Clause */
/* Many connections at once, and callbacks that end what they are of. */
#include "kpi.h"

#define WIDTH 64u
#define WAVES 8u

/* One that is asked for, and its end. */
struct caller {
	struct storm *storm;
	NDK_CONNECTOR *connector;
	NDK_QP *qp;
};

struct storm {
	struct told over;  /* each connector of a is closed */
	struct told ended; /* and each of b */
	unsigned asked;	   /* one callback at a time */
	struct caller callers[WIDTH];
};

/* Refused: by a close, or by a reject before; or given up already. */
static void
storm_asked(PVOID arg, NDK_CONNECTOR *c)
{
	struct storm *s = arg;
	NTSTATUS status;

	if (s->asked++ % 2 == 0) {
		status = c->Dispatch->NdkReject(c, "no", 3);
		CHECK(status == STATUS_SUCCESS || status == STATUS_CONNECTION_ABORTED);
	}
	WANT(STATUS_PENDING, c->Dispatch->NdkCloseConnector(&c->Header, told_closed, &s->ended));
}

static void
caller_refused(PVOID arg, NTSTATUS status)
{
	const struct caller *c = arg;

	CHECK(status == STATUS_CONNECTION_REFUSED || status == STATUS_CANCELLED);
	if (status == STATUS_CONNECTION_REFUSED)
		WANT(STATUS_PENDING, c->connector->Dispatch->NdkCloseConnector(
					     &c->connector->Header, told_closed, &c->storm->over));
}

/* Every fourth is closed at once, whatever became of it. */
static void
caller_ask(struct caller *c, const struct side *a, const struct sockaddr_in *at, unsigned i)
{
	const NDK_CONNECTOR_DISPATCH *d;

	c->connector = side_new_connector(a);
	c->qp = side_new_qp(a);
	d = c->connector->Dispatch;
	if (i % 4 == 3) {
		struct told given_up = TOLD_INIT;

		WANT(STATUS_PENDING,
			d->NdkConnect(c->connector, c->qp, (const SOCKADDR *)&a->place->address,
				sizeof(*at), (const SOCKADDR *)at, sizeof(*at), 0, 0, NULL, 0,
				told_done, &given_up));
		WANT(STATUS_PENDING,
			d->NdkCloseConnector(&c->connector->Header, told_closed, &c->storm->over));
		told_wait(&given_up, 1);
		return;
	}
	WANT(STATUS_PENDING,
		d->NdkConnect(c->connector, c->qp, (const SOCKADDR *)&a->place->address,
			sizeof(*at), (const SOCKADDR *)at, sizeof(*at), 0, 0, NULL, 0,
			caller_refused, c));
}

/* Connections in waves, each refused, closed or given up in a callback. */
void
storm(void)
{
	struct storm s = {.over = TOLD_INIT, .ended = TOLD_INIT};
	struct sockaddr_in at = place_b.address;
	ULONG bytes = sizeof(at);
	struct side a, b;
	NDK_LISTENER *l;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	CREATE(&l, b.adapter->Dispatch->NdkCreateListener(
			   b.adapter, storm_asked, &s, told_created, &t, &l));
	WANT(STATUS_SUCCESS,
		OUTCOME(l->Dispatch->NdkListen(l, (SOCKADDR *)&at, sizeof(at), told_done, &t)));
	WANT(STATUS_SUCCESS, l->Dispatch->NdkGetLocalAddress(l, (SOCKADDR *)&at, &bytes));
	for (unsigned wave = 1; wave <= WAVES; wave++) {
		for (unsigned i = 0; i < WIDTH; i++) {
			s.callers[i].storm = &s;
			caller_ask(&s.callers[i], &a, &at, i);
		}
		told_wait(&s.over, wave * WIDTH);
		for (unsigned i = 0; i < WIDTH; i++)
			CLOSE(s.callers[i].qp, NdkCloseQp);
	}
	CLOSE(l, NdkCloseListener); /* behind those that it gave */
	CHECK(told_count(&s.ended) == s.asked && s.asked >= WAVES * WIDTH * 3 / 4);
	CHECK(told_count(&s.over) == WAVES * WIDTH);
	side_close(&a);
	side_close(&b);
}
