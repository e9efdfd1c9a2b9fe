/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners that pause, that call back, that live on; addresses that connectors share. */
#include <string.h>
#include <unistd.h>

#include "meeting.h"
#include "scenarios.h"

static nd_status
listen_at(struct nd_listener *listener, const struct side *s, const struct sockaddr_storage *where)
{
	return nd_listener_listen(listener, (const struct sockaddr *)where, s->addr_bytes, 0);
}

/* ---- callbacks and pauses ---- */

struct door {
	int knocks[2]; /* a pipe of connectors */
	struct nd_listener *listener;
	int closes; /* the callback closes its listener */
};

static void
knock(void *context, struct nd_connector *c)
{
	struct door *d = context;

	if (d->closes)
		WANT(ND_PENDING, nd_listener_close(d->listener));
	CHECK(write(d->knocks[1], &c, sizeof(c)) == sizeof(c));
}

static struct nd_connector *
opened(struct door *d)
{
	struct nd_connector *c;

	CHECK(read(d->knocks[0], &c, sizeof(c)) == sizeof(c));
	return c;
}

static void
door_open(struct door *d, struct meeting *m)
{
	CHECK(pipe(d->knocks) == 0);
	d->listener = m->listener;
}

/* The connector that the request came with replaces b's. */
static void
take(struct side *s, struct door *d)
{
	nd_connector_close(s->connector);
	s->connector = opened(d);
}

/*
 * checks R-CONN-04[4], R-LSN-06[1-3]: each request comes to the callback with a connector of its
 * own, also one that waits since before there was a callback. During a pause requests are
 * refused as if there were no listener, those before it live on, and afterwards all is as
 * before.
 */
void
scenario_listener_calls(struct pair *p)
{
	struct nd_overlapped get = {0};
	struct door d = {0};
	struct meeting m;

	meet_open(&m, p);
	door_open(&d, &m);
	WANT(ND_PENDING, nd_listener_get_request(m.listener, p->b.connector, &get));
	WANT(ND_INVALID_DEVICE_STATE, nd_listener_set_callback(m.listener, knock, &d));
	WANT(ND_SUCCESS, nd_listener_cancel(m.listener));
	meet_ask(&m, 1, 1);
	WANT(ND_SUCCESS, nd_listener_set_callback(m.listener, knock, &d));
	WANT(ND_INVALID_DEVICE_STATE, nd_listener_set_callback(m.listener, knock, &d));
	WANT(ND_INVALID_DEVICE_STATE, nd_listener_get_request(m.listener, p->b.connector, &get));
	for (int i = 0; i < 20; i++) {
		if (i > 0) {
			meet_again(&m);
			meet_ask(&m, 1, 1);
		}
		take(&p->b, &d);
		WANT(ND_SUCCESS, nd_listener_pause(m.listener));
		meet_accept(&m, 1, 1);
		meet_complete(&m);
		pair_works(p);
		nd_connector_close(p->a.connector);
		nd_qp_close(p->a.qp);
		side_create_qp(&p->a, 16);
		WANT(ND_SUCCESS, nd_connector_create(p->a.adapter, &p->a.connector));
		WANT(ND_CONNECTION_REFUSED, side_connect(&p->a, &m.where));
		CHECK(nd_connector_reject_reason(p->a.connector) == 8); /* no listener */
		WANT(ND_SUCCESS, nd_listener_resume(m.listener));
	}
	meet_close(&m);
}

/*
 * checks R-CONN-04[2], R-LSN-05[3], R-LSN-08[1]: the callback closes its own listener: it goes
 * when it has returned and the connector is closed; requests that come meanwhile are refused.
 */
void
scenario_listener_closes(struct pair *p)
{
	struct door d = {.closes = 1};
	struct nd_listener *next;
	struct meeting m;

	meet_open(&m, p);
	door_open(&d, &m);
	WANT(ND_SUCCESS, nd_listener_set_callback(m.listener, knock, &d));
	meet_ask(&m, 1, 1);
	take(&p->b, &d);
	meet_accept(&m, 1, 1);
	meet_complete(&m);
	pair_works(p);
	WANT(ND_SUCCESS, nd_listener_create(p->b.adapter, &next));
	WANT(ND_SHARING_VIOLATION, listen_at(next, &p->b, &m.where));
	meet_again(&m);
	WANT(ND_CONNECTION_REFUSED, side_connect(&p->a, &m.where));
	WANT(ND_SUCCESS, listen_at(next, &p->b, &m.where));
	pair_close(p);
}

/* ---- what pends ---- */

/*
 * checks R-LSN-05[3,4], R-LSN-07[1,4,5], R-LSN-08[1,2]: a listener with two connectors that came
 * through it is closed: from then on it refuses, and its end is told when the second of them was
 * closed. They work meanwhile.
 */
void
scenario_listener_pends(struct pair *p)
{
	struct nd_overlapped closed = {0}, get = {0};
	struct nd_connector *accepted, *waiting;
	struct nd_listener *next;
	struct side other;
	struct meeting m;

	meet_open(&m, p);
	meet_connect(&m);
	accepted = p->b.connector;
	other = p->a;
	side_create_qp(&other, 4);
	WANT(ND_SUCCESS, nd_connector_create(other.adapter, &other.connector));
	WANT(ND_PENDING,
		nd_connector_connect(other.connector, other.qp, (struct sockaddr *)&m.where,
			other.addr_bytes, 1, 1, NULL, 0, &m.ask));
	WANT(ND_SUCCESS, nd_connector_create(p->b.adapter, &waiting));
	WANT(ND_SUCCESS, finish(nd_listener_get_request(m.listener, waiting, &get), &get));
	WANT(ND_PENDING, nd_close(m.listener, &closed));
	nd_connector_close(other.connector);
	side_create_qp(&other, 4);
	WANT(ND_SUCCESS, nd_connector_create(other.adapter, &other.connector));
	WANT(ND_CONNECTION_REFUSED, side_connect(&other, &m.where));
	pair_works(p);
	nd_connector_close(waiting);
	WANT(ND_PENDING, nd_overlapped_status(&closed));
	WANT(ND_SUCCESS, nd_listener_create(p->b.adapter, &next));
	WANT(ND_SHARING_VIOLATION, listen_at(next, &p->b, &m.where));
	nd_connector_close(accepted);
	WANT(ND_SUCCESS, nd_overlapped_wait(&closed, PATIENCE_MS));
	WANT(ND_SUCCESS, listen_at(next, &p->b, &m.where));
	pair_close(p);
}

static uint16_t
bind_shared(struct side *s, struct nd_endpoint *e)
{
	struct sockaddr_storage local;
	socklen_t bytes = sizeof(local);

	WANT(ND_SUCCESS, nd_connector_bind_shared(s->connector, e));
	WANT(ND_SUCCESS,
		nd_connector_local_address(s->connector, (struct sockaddr *)&local, &bytes));
	return get_port(&local);
}

/*
 * checks R-CONN-15[4], R-LSN-07[3-5], R-LSN-08[3]: two connectors of a connect from one address
 * and port to two listeners; a third to one of these would be the same connection again. The
 * endpoint is closed, but stays until they are, and its port with it.
 */
void
scenario_shared_endpoint(struct pair *p)
{
	struct nd_overlapped closed = {0};
	struct pair second = *p;
	struct meeting m, n = {.p = &second};
	struct sockaddr_storage local;
	socklen_t bytes = sizeof(local);
	struct nd_endpoint *e;
	struct nd_connector *c;

	meet_open(&m, p);
	second = *p;
	n.listener = side_listen(&second.b, &n.where);
	for (struct side *s = &second.a; s != NULL; s = s == &second.a ? &second.b : NULL) {
		side_create_qp(s, 16);
		WANT(ND_SUCCESS, nd_connector_create(s->adapter, &s->connector));
	}
	WANT(ND_SUCCESS, nd_endpoint_create(
				 p->a.adapter, (struct sockaddr *)&p->a.addr, p->a.addr_bytes, &e));
	WANT(ND_SUCCESS, nd_endpoint_local_address(e, (struct sockaddr *)&local, &bytes));
	CHECK(bind_shared(&p->a, e) == get_port(&local));
	CHECK(bind_shared(&second.a, e) == get_port(&local));
	WANT(ND_ADDRESS_ALREADY_ASSOCIATED, nd_connector_bind_shared(p->a.connector, e));
	WANT(ND_ADDRESS_ALREADY_ASSOCIATED, side_bind(&p->a, 0));
	meet_connect(&m);
	WANT(ND_ADDRESS_ALREADY_EXISTS, side_connect(&second.a, &m.where));
	set_port(&n.where, SILENT_PORT);
	WANT(ND_CONNECTION_REFUSED, side_connect(&second.a, &n.where)); /* may try again */
	bytes = sizeof(n.where);
	WANT(ND_SUCCESS,
		nd_listener_local_address(n.listener, (struct sockaddr *)&n.where, &bytes));
	meet_connect(&n);
	pair_works(p);
	pair_works(&second);
	bytes = sizeof(n.where);
	WANT(ND_SUCCESS,
		nd_connector_peer_address(second.b.connector, (struct sockaddr *)&n.where, &bytes));
	CHECK(get_port(&n.where) == get_port(&local));

	WANT(ND_PENDING, nd_close(e, &closed));
	WANT(ND_SUCCESS, nd_connector_create(p->a.adapter, &c));
	WANT(ND_SHARING_VIOLATION, nd_connector_bind(c, (struct sockaddr *)&local, bytes));
	nd_connector_close(p->a.connector);
	WANT(ND_PENDING, nd_overlapped_status(&closed));
	WANT(ND_SHARING_VIOLATION, nd_connector_bind(c, (struct sockaddr *)&local, bytes));
	pair_works(&second);
	nd_connector_close(second.a.connector);
	WANT(ND_SUCCESS, nd_overlapped_wait(&closed, PATIENCE_MS));
	WANT(ND_SUCCESS, nd_connector_bind(c, (struct sockaddr *)&local, bytes));
	meet_close(&m);
}
