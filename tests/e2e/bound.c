/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners that are bound before they listen. */
#include <string.h>

#include "meeting.h"
#include "scenarios.h"

static nd_status
bind_at(struct nd_listener *l, const struct side *s, const struct sockaddr_storage *where)
{
	return nd_listener_bind(l, (const struct sockaddr *)where, s->addr_bytes);
}

static nd_status
listen_at(struct nd_listener *l, const struct side *s, const struct sockaddr_storage *where)
{
	return nd_listener_listen(l, (const struct sockaddr *)where, s->addr_bytes, 0);
}

/* Nothing else of this adapter gets its port. */
static void
check_reserved(struct pair *p, const struct sockaddr_storage *where)
{
	struct nd_listener *other;
	struct nd_endpoint *endpoint;

	WANT(ND_SUCCESS, nd_listener_create(p->b.adapter, &other));
	WANT(ND_SHARING_VIOLATION, bind_at(other, &p->b, where));
	WANT(ND_SHARING_VIOLATION, listen_at(other, &p->b, where));
	WANT(ND_INVALID_DEVICE_STATE, nd_listener_listen(other, NULL, 0, 0)); /* not bound */
	WANT(ND_SHARING_VIOLATION, side_bind(&p->b, get_port(where)));
	WANT(ND_SHARING_VIOLATION, nd_endpoint_create(p->b.adapter, (struct sockaddr *)where,
					   p->b.addr_bytes, &endpoint));
	WANT(ND_SUCCESS, nd_listener_close(other));
}

/* What needs a listener that listens is refused. */
static void
check_silent(struct meeting *m)
{
	struct nd_overlapped get = {0};
	struct sockaddr_storage at;
	socklen_t bytes = sizeof(at);

	WANT(ND_INVALID_DEVICE_STATE,
		nd_listener_get_request(m->listener, m->p->b.connector, &get));
	WANT(ND_INVALID_DEVICE_STATE,
		nd_listener_local_address(m->listener, (struct sockaddr *)&at, &bytes));
	WANT(ND_INVALID_DEVICE_STATE, nd_listener_pause(m->listener));
	WANT(ND_SUCCESS, nd_listener_cancel(m->listener));
	WANT(ND_CONNECTION_REFUSED, side_connect(&m->p->a, &m->where));
	CHECK(nd_connector_reject_reason(m->p->a.connector) == 8); /* no listener */
}

static void
check_again(struct meeting *m)
{
	struct side *b = &m->p->b;

	WANT(ND_ADDRESS_ALREADY_ASSOCIATED, bind_at(m->listener, b, &m->where));
	WANT(ND_INVALID_DEVICE_STATE, nd_listener_listen(m->listener, NULL, 0, 0));
	WANT(ND_INVALID_DEVICE_STATE, listen_at(m->listener, b, &m->where));
}

/*
 * checks R-LSN-01[1,2,6-8], R-LSN-02[1], R-CONN-04[2], R-CONN-15[3]: from its bind on a listener
 * has its port, but until it listens peers are refused as where nobody is; then it is a listener
 * like any other, and nothing may be done twice.
 */
void
scenario_bound_listener(struct pair *p)
{
	struct sockaddr_storage anywhere, nowhere = p->a.addr;
	socklen_t bytes = sizeof(anywhere);
	struct meeting m;

	meet_open(&m, p);
	nd_listener_close(m.listener);
	set_port(&m.where, 7320);
	for (int named = 0; named < 2; named++) {
		WANT(ND_SUCCESS, nd_listener_create(p->b.adapter, &m.listener));
		WANT(ND_INVALID_DEVICE_STATE, nd_listener_listen(m.listener, NULL, 0, 0));
		WANT(ND_INVALID_ADDRESS, bind_at(m.listener, &p->b, &nowhere));
		anywhere = p->b.addr;
		WANT(ND_SUCCESS, bind_at(m.listener, &p->b, named ? &m.where : &anywhere));
		WANT(ND_ADDRESS_ALREADY_ASSOCIATED, bind_at(m.listener, &p->b, &m.where));
		WANT(ND_ADDRESS_ALREADY_ASSOCIATED, listen_at(m.listener, &p->b, &m.where));
		check_silent(&m);
		if (named)
			check_reserved(p, &m.where);
		WANT(ND_SUCCESS, nd_listener_listen(m.listener, NULL, 0, 1));
		check_again(&m);
		bytes = sizeof(anywhere);
		WANT(ND_SUCCESS, nd_listener_local_address(
					 m.listener, (struct sockaddr *)&anywhere, &bytes));
		CHECK(named ? get_port(&anywhere) == 7320 : get_port(&anywhere) >= 49152);
		if (named)
			break;
		WANT(ND_SUCCESS, nd_listener_close(m.listener));
	}
	check_reserved(p, &m.where);
	meet_again(&m);
	meet_connect(&m);
	pair_works(p);
	meet_close(&m);
}

/* checks R-LSN-01[6], R-LSN-07[4]: its close frees the port, and so does that of its adapter,
 * whether it ever listened or not. */
void
scenario_bound_and_left(struct pair *p)
{
	struct nd_listener *l;
	struct sockaddr_storage where = p->b.addr;

	set_port(&where, 7321);
	for (int listens = 0; listens < 2; listens++) {
		side_open(&p->b, 16);
		for (int i = 0; i < 3; i++) {
			WANT(ND_SUCCESS, nd_listener_create(p->b.adapter, &l));
			WANT(ND_SUCCESS, bind_at(l, &p->b, &where));
			if (listens)
				WANT(ND_SUCCESS, nd_listener_listen(l, NULL, 0, 0));
			if (i < 2)
				WANT(ND_SUCCESS, nd_listener_close(l));
		}
		WANT(ND_SUCCESS, nd_adapter_close(p->b.adapter));
	}
}
