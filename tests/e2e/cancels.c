/* SPDX-License-Identifier: BSD-3-Clause */
/* Each request of connectors and listeners is canceled while it is pending, and while the call that
 * makes it still runs. */
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "meeting.h"
#include "scenarios.h"
#include "still.h"

#define ROUNDS 30

/* The calls: what each needs has been done. */
static nd_status
ask(struct meeting *m, struct nd_overlapped *ov)
{
	struct side *a = &m->p->a;

	return nd_connector_connect(a->connector, a->qp, (struct sockaddr *)&m->where,
		a->addr_bytes, 1, 1, NULL, 0, ov);
}

static nd_status
get(struct meeting *m, struct nd_overlapped *ov)
{
	return nd_listener_get_request(m->listener, m->p->b.connector, ov);
}

static nd_status
say_yes(struct meeting *m, struct nd_overlapped *ov)
{
	struct side *b = &m->p->b;

	return nd_connector_accept(b->connector, b->qp, 1, 1, NULL, 0, ov);
}

static nd_status
listen_for_end(struct meeting *m, struct nd_overlapped *ov)
{
	return nd_connector_notify_disconnect(m->p->b.connector, ov);
}

static nd_status
end(struct meeting *m, struct nd_overlapped *ov)
{
	return nd_connector_disconnect(m->p->b.connector, ov);
}

static void
requested(struct meeting *m)
{
	meet_ask(m, 1, 1);
	meet_get(m);
}

static void
nothing(struct meeting *m)
{
	(void)m;
}

static const struct request {
	nd_status (*call)(struct meeting *m, struct nd_overlapped *ov);
	void (*before)(struct meeting *m);
	int of_a;	    /* the connector is a's */
	int leaves;	    /* the connector is spent */
	int may_end_before; /* the peer's daemon alone can end it */
} requests[] = {
	{ask, nothing, 1, 1, 0},
	{get, nothing, 0, 0, 0},
	{say_yes, requested, 0, 1, 0},
	{listen_for_end, meet_connect, 0, 0, 0},
	{end, meet_connect, 0, 1, 1},
};
#define REQUESTS (int)(sizeof(requests) / sizeof(requests[0]))

static void
is_spent(struct meeting *m, struct side *s)
{
	struct nd_overlapped ov = {0};

	WANT(ND_INVALID_DEVICE_STATE,
		nd_connector_connect(s->connector, s->qp, (struct sockaddr *)&m->where,
			s->addr_bytes, 1, 1, NULL, 0, &ov));
	WANT(ND_CONNECTION_INVALID, nd_connector_disconnect(s->connector, &ov));
	WANT(ND_CONNECTION_DISCONNECTED,
		finish(nd_connector_notify_disconnect(s->connector, &ov), &ov));
}

/* Skip what the round before left: a request that was given up may wait at the listener. */
static void
begin(struct meeting *m, const struct request *r)
{
	nd_listener_close(m->listener);
	m->listener = side_listen(&m->p->b, &m->where);
	meet_again(m);
	r->before(m);
}

/* What a canceled request must have left behind. */
static void
after(struct meeting *m, const struct request *r)
{
	if (r->leaves) {
		is_spent(m, r->of_a ? &m->p->a : &m->p->b);
	} else if (r->before == meet_connect) {
		pair_works(m->p);
	} else {
		meet_connect(m); /* with the same connector and the same listener */
		pair_works(m->p);
	}
}

/* The passive side has gone: a is refused, or finds its connection at an end. */
static void
hears_instead_of_data(struct meeting *m)
{
	struct nd_connector *c = m->p->a.connector;
	struct nd_overlapped complete = {0}, told = {0};
	nd_status got = nd_overlapped_wait(&m->ask, PATIENCE_MS);

	if (got != ND_SUCCESS) {
		WANT(ND_CONNECTION_REFUSED, got);
		return;
	}
	got = finish(nd_connector_complete_connect(c, &complete), &complete);
	if (got == ND_SUCCESS) /* before the notice had come */
		WANT(ND_SUCCESS, finish(nd_connector_notify_disconnect(c, &told), &told));
	else
		WANT(ND_CONNECTION_ABORTED, got);
}

/* The active side has gone: the request that b took is aborted. */
static void
hears_before_accept(struct meeting *m)
{
	nd_status got = ND_BUFFER_OVERFLOW;

	for (int ms = 0; got != ND_CONNECTION_ABORTED; ms++) {
		uint32_t bytes = 0;

		WANT(ND_BUFFER_OVERFLOW, got);
		CHECK(ms < PATIENCE_MS);
		sleep_ms(1);
		got = nd_connector_private_data(m->p->b.connector, NULL, &bytes);
	}
}

/* ---- from the outside ---- */

struct caller {
	struct meeting *m;
	const struct request *request;
	struct nd_overlapped ov;
	nd_status status;
	int returned;
};

static void *
caller_main(void *arg)
{
	struct caller *c = arg;

	c->status = c->request->call(c->m, &c->ov);
	__atomic_store_n(&c->returned, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void
cancel_in_call(struct meeting *m, const struct request *r)
{
	struct side *s = r->of_a ? &m->p->a : &m->p->b;
	struct caller c = {.m = m, .request = r};
	pthread_t thread;
	nd_status st;

	begin(m, r);
	CHECK(pthread_create(&thread, NULL, caller_main, &c) == 0);
	while (!__atomic_load_n(&c.returned, __ATOMIC_ACQUIRE))
		WANT(ND_SUCCESS, nd_connector_cancel(s->connector));
	WANT(ND_SUCCESS, nd_connector_cancel(s->connector));
	WANT(ND_PENDING, c.status);
	st = nd_overlapped_status(&c.ov);
	if (!(r->may_end_before && st == ND_SUCCESS))
		WANT(ND_CANCELED, st);
	CHECK(pthread_join(thread, NULL) == 0);
	after(m, r);
}

/*
 * checks R-CONN-20[1-6], R-DISC-06[2]: each is CANCELED when cancel returns, and the connector
 * is spent, or does as if nothing had been asked. The peer of a connector that gave up is told;
 * what it can do with its own then is in scenario_vanished().
 */
void
scenario_cancels(struct pair *p)
{
	struct nd_overlapped ov;
	struct meeting m;

	meet_open(&m, p);
	for (int i = 0; i < REQUESTS; i++) {
		const struct request *r = &requests[i];

		if (r->may_end_before)
			continue; /* see scenario_cancel_disconnect() */
		begin(&m, r);
		ov = (struct nd_overlapped){0};
		WANT(ND_PENDING, r->call(&m, &ov));
		WANT(ND_PENDING, nd_overlapped_status(&ov));
		WANT(ND_SUCCESS, nd_connector_cancel(r->of_a ? p->a.connector : p->b.connector));
		WANT(ND_CANCELED, nd_overlapped_status(&ov));
		after(&m, r);
	}
	/* of the listener: its request, not the listener */
	begin(&m, &requests[1]);
	ov = (struct nd_overlapped){0};
	WANT(ND_PENDING, get(&m, &ov));
	WANT(ND_SUCCESS, nd_listener_cancel(m.listener));
	WANT(ND_CANCELED, nd_overlapped_status(&ov));
	after(&m, &requests[1]);
	begin(&m, &requests[2]);
	WANT(ND_PENDING, say_yes(&m, &m.accept));
	WANT(ND_SUCCESS, nd_connector_cancel(p->b.connector));
	hears_instead_of_data(&m);
	begin(&m, &requests[2]);
	WANT(ND_SUCCESS, nd_connector_cancel(p->a.connector));
	hears_before_accept(&m);
	for (int i = 0; i < ROUNDS * REQUESTS; i++)
		cancel_in_call(&m, &requests[i % REQUESTS]);
	meet_close(&m);
}

/* Daemon a is silent, so that a Disconnect pends: canceled it is over for this side, and nothing is
 * told when the daemon gives the peer up. */
void
scenario_cancel_disconnect(struct pair *p)
{
	struct nd_overlapped gone = {0};
	struct meeting m;

	meet_open(&m, p);
	meet_connect(&m);
	CHECK(process_stop(p->daemon_a));
	WANT(ND_PENDING, end(&m, &gone));
	WANT(ND_PENDING, nd_overlapped_status(&gone));
	WANT(ND_SUCCESS, nd_connector_cancel(p->b.connector));
	WANT(ND_CANCELED, nd_overlapped_status(&gone));
	is_spent(&m, &p->b);
	CHECK(kill(p->daemon_a, SIGCONT) == 0);
	WANT(ND_CANCELED, nd_overlapped_status(&gone));
	meet_close(&m);
}

/* ---- ways to give up that are not a cancel of what is pending ---- */

static nd_status
give_up(struct side *a, int way)
{
	nd_status st = way == 0	  ? nd_connector_reject(a->connector, NULL, 0)
		       : way == 1 ? nd_connector_cancel(a->connector)
				  : nd_connector_close(a->connector);

	if (way == 2)
		WANT(ND_SUCCESS, nd_connector_create(a->adapter, &a->connector));
	return st;
}

/*
 * checks R-CONN-12[1,3,4]: the active side has its answer, and rejects, cancels, or closes its
 * connector instead of completing; its requests, too, may have been answered. The passive side
 * hears the same of each.
 */
void
scenario_abandoned(struct pair *p)
{
	struct nd_overlapped complete = {0};
	struct meeting m;

	meet_open(&m, p);
	for (int way = 0; way < 3; way++) {
		meet_again(&m);
		meet_ask(&m, 1, 1);
		meet_get(&m);
		meet_accept(&m, 1, 1);
		WANT(ND_PENDING, nd_overlapped_status(&m.accept));
		WANT(ND_SUCCESS, give_up(&p->a, way));
		WANT(ND_CONNECTION_REFUSED, nd_overlapped_wait(&m.accept, PATIENCE_MS));
		is_spent(&m, &p->b);
		if (way == 2)
			continue;
		is_spent(&m, &p->a);
		WANT(ND_CONNECTION_ABORTED,
			finish(nd_connector_complete_connect(p->a.connector, &complete),
				&complete));
	}
	meet_again(&m);
	meet_connect(&m);
	pair_works(p);
	meet_close(&m);
}

/* checks R-CONN-26[1-3]: the queue pair of a Connect or Accept that is under way is closed. */
void
scenario_queue_pair_closed(struct pair *p)
{
	struct meeting m;

	meet_open(&m, p);
	meet_ask(&m, 1, 1);
	meet_get(&m);
	WANT(ND_PENDING, nd_overlapped_status(&m.ask));
	WANT(ND_SUCCESS, nd_qp_close(p->a.qp));
	WANT(ND_CANCELED, nd_overlapped_wait(&m.ask, PATIENCE_MS));
	side_create_qp(&p->a, 16);
	is_spent(&m, &p->a);
	hears_before_accept(&m);

	meet_again(&m);
	meet_ask(&m, 1, 1);
	meet_get(&m);
	meet_accept(&m, 1, 1);
	WANT(ND_PENDING, nd_overlapped_status(&m.accept));
	WANT(ND_SUCCESS, nd_qp_close(p->b.qp));
	WANT(ND_CANCELED, nd_overlapped_wait(&m.accept, PATIENCE_MS));
	side_create_qp(&p->b, 16);
	is_spent(&m, &p->b);
	hears_instead_of_data(&m);

	meet_again(&m);
	meet_connect(&m);
	pair_works(p);
	meet_close(&m);
}

/* Nothing writes into the structure of a request that has ended: its memory is the application's.
 */
static void
take_structure_back(struct nd_overlapped *ov)
{
	memset(ov, 0x5a, sizeof(*ov));
}

static void
check_structure(const struct nd_overlapped *ov)
{
	for (size_t i = 0; i < sizeof(*ov); i++)
		CHECK(((const uint8_t *)ov)[i] == 0x5a);
}

/* checks R-OV-13: a connector is closed with each of its requests pending; when the call returns
 * they have ended, and their structures are left alone, whatever the peer still says. */
void
scenario_closed_while_pending(struct pair *p)
{
	struct nd_overlapped ov[REQUESTS];
	struct meeting m;

	meet_open(&m, p);
	for (int i = 0; i < REQUESTS; i++) {
		const struct request *r = &requests[i];
		struct side *s = r->of_a ? &p->a : &p->b;
		nd_status st;

		begin(&m, r);
		ov[i] = (struct nd_overlapped){0};
		WANT(ND_PENDING, r->call(&m, &ov[i]));
		WANT(ND_SUCCESS, nd_connector_close(s->connector));
		st = nd_overlapped_status(&ov[i]);
		if (!(r->may_end_before && st == ND_SUCCESS))
			WANT(ND_CANCELED, st);
		take_structure_back(&ov[i]);
		WANT(ND_SUCCESS, nd_connector_create(s->adapter, &s->connector));
	}
	meet_again(&m);
	meet_connect(&m);
	pair_works(p);
	for (int i = 0; i < REQUESTS; i++)
		check_structure(&ov[i]);
	meet_close(&m);
}
