/* SPDX-License-Identifier: BSD-3-Clause */
/* What each side of a connection learns of the other, and what it may not do twice. */
#include <stdio.h>
#include <string.h>

#include "meeting.h"
#include "scenarios.h"

static uint32_t
least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void
limits(struct side *s, uint32_t inbound, uint32_t outbound)
{
	uint32_t in, out;

	WANT(ND_SUCCESS, nd_connector_read_limits(s->connector, &in, &out));
	CHECK(in == inbound && out == outbound);
}

static void
one_offer(struct meeting *m, const uint32_t a[2], const uint32_t b[2], uint32_t max)
{
	/* Seen from the side that serves: what a asks of b, and b of a. */
	uint32_t offered_b = least(a[1], max), offered_a = least(a[0], max);
	uint32_t at_b = least(offered_b, b[0]), at_a = least(offered_a, b[1]);

	meet_again(m);
	meet_ask(m, a[0], a[1]);
	meet_get(m);
	limits(&m->p->b, offered_b, offered_a);
	meet_accept(m, b[0], b[1]);
	limits(&m->p->a, at_a, at_b);
	meet_complete(m);
	limits(&m->p->b, at_b, at_a);
}

/*
 * checks R-CONN-09[3-6,8], R-CONN-23, W-ATOM-01[3], W-QP-06[1]: offers and answers of all kinds,
 * beyond the adapter's limit too.
 */
void
scenario_read_limits(struct pair *p)
{
	static const uint32_t some[] = {0, 1, 5, 1000};
	struct nd_adapter_info info;
	struct meeting m;

	meet_open(&m, p);
	WANT(ND_SUCCESS, nd_adapter_query(p->a.adapter, &info));
	for (uint32_t i = 0; i < 256; i++) {
		const uint32_t a[2] = {some[i & 3], some[i >> 2 & 3]};
		const uint32_t b[2] = {some[i >> 4 & 3], some[i >> 6 & 3]};

		one_offer(&m, a, b, info.max_inbound_reads);
	}
	meet_close(&m);
}

/* checks R-CONN-02[1-3], W-CM-35[3] */
void
scenario_one_connection(struct pair *p)
{
	struct nd_overlapped ov = {0};
	struct side other;
	struct meeting m;

	meet_open(&m, p);
	other = p->a;
	side_create_qp(&other, 4);
	WANT(ND_SUCCESS, nd_connector_create(p->a.adapter, &other.connector));
	/* a queue pair of another adapter */
	WANT(ND_INVALID_PARAMETER,
		nd_connector_connect(p->a.connector, p->b.qp, (struct sockaddr *)&m.where,
			p->a.addr_bytes, 1, 1, NULL, 0, &ov));
	meet_ask(&m, 1, 1);
	for (int connected = 0; connected < 2; connected++) {
		/* the queue pair with another connector; the connector with another queue pair */
		WANT(ND_CONNECTION_ACTIVE,
			nd_connector_connect(other.connector, p->a.qp, (struct sockaddr *)&m.where,
				p->a.addr_bytes, 1, 1, NULL, 0, &ov));
		WANT(ND_CONNECTION_ACTIVE,
			nd_connector_connect(p->a.connector, other.qp, (struct sockaddr *)&m.where,
				p->a.addr_bytes, 1, 1, NULL, 0, &ov));
		if (connected)
			break;
		meet_get(&m);
		meet_accept(&m, 1, 1);
		WANT(ND_CONNECTION_INVALID, side_send(&p->b, 8)); /* a has still to complete */
		meet_complete(&m);
	}
	pair_works(p);
	meet_close(&m);
}

/* A connector whose peer has vanished; checks R-CONN-21[1,2]. */
static void
is_aborted(struct nd_connector *c, struct nd_qp *qp)
{
	struct nd_overlapped accept = {0};
	char priv[256];
	uint32_t bytes = sizeof(priv);

	for (int i = 0; i < 2; i++) {
		WANT(ND_CONNECTION_ABORTED, nd_connector_private_data(c, priv, &bytes));
		bytes = 0;
		WANT(ND_CONNECTION_ABORTED, nd_connector_private_data(c, NULL, &bytes));
		bytes = sizeof(priv);
		WANT(ND_CONNECTION_ABORTED,
			finish(nd_connector_accept(c, qp, 1, 1, NULL, 0, &accept), &accept));
		WANT(ND_CONNECTION_ABORTED, nd_connector_reject(c, NULL, 0));
	}
}

/*
 * checks R-CONN-14[1], R-CONN-20[1-3], R-CONN-21[1,2]: the active side has gone when b accepts,
 * or even when b takes the request. That b has a second request is how it knows that the first
 * one's end has come, too.
 */
void
scenario_vanished(struct pair *p)
{
	struct nd_overlapped get = {0}, ask = {0};
	struct nd_connector *first, *second;
	struct sockaddr_storage silent;
	struct side other;
	struct meeting m;

	meet_open(&m, p);
	silent = m.where;
	set_port(&silent, SILENT_PORT);
	first = p->b.connector;
	meet_ask(&m, 1, 1);
	meet_get(&m);
	WANT(ND_SUCCESS, nd_connector_cancel(p->a.connector));
	WANT(ND_CANCELED, nd_overlapped_status(&m.ask));
	WANT(ND_INVALID_DEVICE_STATE,
		nd_connector_connect(p->a.connector, p->a.qp, (struct sockaddr *)&m.where,
			p->a.addr_bytes, 1, 1, NULL, 0, &ask));
	nd_connector_close(p->a.connector);
	nd_qp_close(p->a.qp);
	side_create_qp(&p->a, 16);
	WANT(ND_SUCCESS, nd_connector_create(p->a.adapter, &p->a.connector));
	WANT(ND_SUCCESS, nd_connector_create(p->b.adapter, &p->b.connector));
	meet_ask(&m, 1, 1);
	WANT(ND_SUCCESS, finish(nd_listener_get_request(m.listener, p->b.connector, &get), &get));
	is_aborted(first, p->b.qp);
	nd_connector_close(first);
	meet_accept(&m, 1, 1); /* the queue pair is none the worse */
	meet_complete(&m);
	pair_works(p);

	meet_again(&m);
	WANT(ND_SUCCESS, nd_connector_create(p->b.adapter, &second));
	other = p->a;
	side_create_qp(&other, 4);
	WANT(ND_SUCCESS, nd_connector_create(other.adapter, &other.connector));
	meet_ask(&m, 1, 1);
	/* this one leaves behind the other, which has arrived when it is answered */
	WANT(ND_CONNECTION_REFUSED, side_connect(&other, &silent));
	WANT(ND_SUCCESS, nd_connector_cancel(p->a.connector));
	nd_connector_close(p->a.connector);
	nd_qp_close(p->a.qp);
	side_create_qp(&p->a, 16);
	WANT(ND_SUCCESS, nd_connector_create(p->a.adapter, &p->a.connector));
	meet_ask(&m, 1, 1);
	WANT(ND_SUCCESS, finish(nd_listener_get_request(m.listener, second, &get), &get));
	meet_get(&m);
	is_aborted(second, p->b.qp);
	nd_connector_close(second);
	meet_accept(&m, 1, 1);
	meet_complete(&m);
	pair_works(p);
	meet_close(&m);
}

/* checks R-CONN-17 */
void
scenario_crossing(struct pair *p)
{
	struct pair back = *p;
	struct meeting there, here = {.p = &back};

	meet_open(&there, p);
	back.a = p->b;
	back.b = p->a;
	here.listener = side_listen(&back.b, &here.where);
	for (struct side *s = &back.a; s != NULL; s = s == &back.a ? &back.b : NULL) {
		side_create_qp(s, 16);
		WANT(ND_SUCCESS, nd_connector_create(s->adapter, &s->connector));
	}
	meet_ask(&there, 4, 4);
	meet_ask(&here, 4, 4);
	meet_get(&there);
	meet_get(&here);
	meet_accept(&there, 4, 4);
	meet_accept(&here, 4, 4);
	meet_complete(&there);
	meet_complete(&here);
	pair_works(p);
	pair_works(&back);
	meet_close(&there);
}

/* Can the side be asked for limits and private data? */
static void
answers(struct side *s, int yes)
{
	uint32_t in, out, bytes = 0;
	char priv[256];

	WANT(yes ? ND_SUCCESS : ND_CONNECTION_INVALID,
		nd_connector_read_limits(s->connector, &in, &out));
	WANT(yes ? ND_BUFFER_OVERFLOW : ND_CONNECTION_INVALID,
		nd_connector_private_data(s->connector, NULL, &bytes));
	bytes = sizeof(priv);
	WANT(yes ? ND_SUCCESS : ND_CONNECTION_INVALID,
		nd_connector_private_data(s->connector, priv, &bytes));
}

static nd_status
part(struct side *s)
{
	struct nd_overlapped ov = {0};

	return finish(nd_connector_disconnect(s->connector, &ov), &ov);
}

/* checks R-CONN-01[2], R-CONN-11[1-4]: of each side, in each step of a connection's life. */
void
scenario_when_asked(struct pair *p)
{
	struct meeting m;

	meet_open(&m, p);
	answers(&p->a, 0);
	answers(&p->b, 0);
	meet_ask(&m, 1, 1);
	answers(&p->a, 0);
	meet_get(&m);
	answers(&p->a, 0);
	answers(&p->b, 1);
	meet_accept(&m, 1, 1);
	answers(&p->a, 1);
	answers(&p->b, 1);
	WANT(ND_CONNECTION_INVALID, side_send(&p->a, 1));
	meet_complete(&m);
	pair_works(p);
	answers(&p->a, 1);
	answers(&p->b, 1);
	WANT(ND_SUCCESS, part(&p->a));
	WANT(ND_SUCCESS, part(&p->b));
	answers(&p->a, 1);
	answers(&p->b, 1);
	meet_close(&m);
}

/*
 * checks R-CONN-18[1,3,4]: both ends are behind one daemon, at one address. The flag is set, a
 * connection comes about, and each refusal is that of the wire.
 */
void
scenario_same_adapter(struct pair *p)
{
	struct nd_adapter_info info;
	struct sockaddr_storage silent;
	struct nd_overlapped get = {0}, ask = {0};
	char word[256];
	uint32_t bytes = sizeof(word);
	struct meeting m;

	p->b.socket_path = p->a.socket_path;
	p->b.addr = p->a.addr;
	meet_open(&m, p);
	WANT(ND_SUCCESS, nd_adapter_query(p->a.adapter, &info));
	CHECK((info.flags & ND_ADAPTER_FLAG_LOOPBACK) != 0);
	silent = m.where;
	set_port(&silent, SILENT_PORT);
	WANT(ND_CONNECTION_REFUSED, side_connect(&p->a, &silent));
	CHECK(nd_connector_reject_reason(p->a.connector) == 8);
	WANT(ND_PENDING, nd_connector_connect(p->a.connector, p->a.qp, (struct sockaddr *)&m.where,
				 p->a.addr_bytes, 1, 1, NULL, 0, &ask));
	WANT(ND_SUCCESS, finish(nd_listener_get_request(m.listener, p->b.connector, &get), &get));
	WANT(ND_SUCCESS, nd_connector_reject(p->b.connector, "no", 3));
	WANT(ND_CONNECTION_REFUSED, nd_overlapped_wait(&ask, PATIENCE_MS));
	CHECK(nd_connector_reject_reason(p->a.connector) == 28);
	WANT(ND_SUCCESS, nd_connector_private_data(p->a.connector, word, &bytes));
	CHECK(memcmp(word, "no", 3) == 0);
	meet_again(&m);
	meet_connect(&m);
	pair_works(p);
	WANT(ND_SUCCESS, part(&p->a));
	WANT(ND_SUCCESS, part(&p->b));
	meet_close(&m);
}
