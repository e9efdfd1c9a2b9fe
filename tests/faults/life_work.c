/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of a life: connections, transfers, datagrams, and how a client waits. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "life.h"

#define Q_KEY 7u

static nd_status
waited(nd_status st, struct nd_overlapped *ov)
{
	return finish(st, ov);
}

/* ---- connections ---- */

struct meeting {
	struct nd_listener *listener;
	struct sockaddr_storage where;
	socklen_t bytes;
};

static bool
listen_at(struct side *s, struct meeting *m)
{
	m->bytes = sizeof(m->where);
	return TRY(nd_listener_create(s->adapter, &m->listener)) &&
	       TRY(nd_listener_listen(
		       m->listener, (struct sockaddr *)&s->addr, s->addr_bytes, 0)) &&
	       TRY(nd_listener_local_address(m->listener, (struct sockaddr *)&m->where, &m->bytes));
}

/* Whole, or not at all: a connector is good for one connection. */
static nd_status
connect_once(struct pair *p, const struct meeting *m)
{
	struct nd_overlapped ask = {0}, get = {0}, accept = {0}, complete = {0};
	nd_status got, accepting;

	got = nd_listener_get_request(m->listener, p->b.connector, &get);
	if (got != ND_PENDING && got != ND_SUCCESS)
		return got;
	got = nd_connector_connect(p->a.connector, p->a.qp, (const struct sockaddr *)&m->where,
		m->bytes, 4, 4, "hello", 5, &ask);
	if (got != ND_PENDING)
		return got;
	got = nd_overlapped_wait(&get, PATIENCE_MS);
	if (got != ND_SUCCESS)
		return got;
	accepting = nd_connector_accept(p->b.connector, p->b.qp, 4, 4, NULL, 0, &accept);
	if (accepting != ND_PENDING && accepting != ND_SUCCESS)
		return accepting;
	got = nd_overlapped_wait(&ask, PATIENCE_MS);
	if (got == ND_SUCCESS)
		got = waited(nd_connector_complete_connect(p->a.connector, &complete), &complete);
	return got == ND_SUCCESS ? waited(accepting, &accept) : got;
}

bool
life_connect(struct pair *p)
{
	struct nd_endpoint *endpoint = NULL;
	struct meeting m;

	return TRY(nd_endpoint_create(
		       p->a.adapter, (struct sockaddr *)&p->a.addr, p->a.addr_bytes, &endpoint)) &&
	       TRY(nd_endpoint_close(endpoint)) && listen_at(&p->b, &m) &&
	       TRY(nd_connector_create(p->a.adapter, &p->a.connector)) &&
	       TRY(nd_connector_create(p->b.adapter, &p->b.connector)) &&
	       life_succeeded("connect", connect_once(p, &m)) && TRY(nd_listener_close(m.listener));
}

/* ---- transfers ---- */

static nd_status
wrote(struct pair *p)
{
	struct nd_result result;
	nd_status got;

	memset(p->a.buf, 0x5a, BUFFER_BYTES);
	memset(p->b.buf, 0, BUFFER_BYTES);
	got = side_write(&p->a, &p->b, BUFFER_BYTES, nd_mr_remote_token(p->b.mr));
	if (got == ND_SUCCESS)
		got = side_result(&p->a, &result);
	CHECK(got != ND_SUCCESS || memcmp(p->a.buf, p->b.buf, BUFFER_BYTES) == 0);
	return got;
}

bool
life_transfer(struct pair *p)
{
	return TRY(wrote(p));
}

static nd_status
bound(struct side *s, struct nd_mw *mw)
{
	struct nd_result result;
	nd_status got = nd_qp_bind(s->qp, s, s->mr, mw, s->buf, 4096, 0);

	return got == ND_SUCCESS ? side_result(s, &result) : got;
}

bool
life_windows(struct pair *p)
{
	struct nd_mw *mw = NULL;
	struct nd_fr *fr = NULL;

	return TRY(nd_mw_create(p->a.pd, &mw)) && TRY(bound(&p->a, mw)) && TRY(nd_mw_close(mw)) &&
	       TRY(nd_fr_create(p->a.pd, &fr)) && TRY(nd_fr_initialize(fr, 16, 1)) &&
	       TRY(nd_fr_close(fr));
}

/* ---- datagrams ---- */

static nd_status
new_ud_qp(struct side *s, struct nd_qp **qp)
{
	const struct nd_qp_options options = life_qp_options(s);

	return nd_ud_qp_create(s->pd, &options, Q_KEY, qp);
}

static nd_status
resolved(struct nd_ah *ah, const struct side *to)
{
	struct nd_overlapped ov = {0};

	return waited(
		nd_ah_resolve(ah, (const struct sockaddr *)&to->addr, to->addr_bytes, &ov), &ov);
}

static bool
be_found(struct side *s)
{
	struct nd_ud_listener *listener = NULL;

	return TRY(nd_ud_listener_create(s->adapter, &listener)) &&
	       TRY(nd_ud_listener_listen(
		       listener, (struct sockaddr *)&s->addr, s->addr_bytes, 0)) &&
	       TRY(nd_ud_listener_close(listener));
}

bool
life_datagrams(struct pair *p)
{
	struct sockaddr_in group = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xef010203)};
	struct nd_qp *qp = NULL;
	struct nd_ah *ah = NULL;

	return TRY(new_ud_qp(&p->a, &qp)) && TRY(nd_ah_create(p->a.adapter, &ah)) &&
	       TRY(resolved(ah, &p->b)) &&
	       TRY(nd_ud_qp_attach(qp, (struct sockaddr *)&group, sizeof(group), 0)) &&
	       TRY(nd_ud_qp_detach(qp, (struct sockaddr *)&group, sizeof(group))) &&
	       be_found(&p->b) && TRY(nd_ah_close(ah)) && TRY(nd_qp_close(qp));
}

/* ---- waiting ---- */

static void
on_result(void *context, nd_status status)
{
	(void)status;
	__atomic_store_n((int *)context, 1, __ATOMIC_RELEASE);
}

static nd_status
notified(struct pair *p)
{
	struct nd_overlapped ov = {0};
	nd_status wait = nd_cq_notify(p->a.cq, ND_CQ_NOTIFY_ANY, &ov), did;

	if (wait != ND_PENDING && wait != ND_SUCCESS)
		return wait;
	did = wrote(p);
	return did == ND_SUCCESS ? waited(wait, &ov) : did;
}

/* A port, the descriptor of a queue, a callback of another, and events. */
bool
life_notify(struct pair *p)
{
	struct nd_overlapped mine = {0}, events = {0}, *got = NULL;
	static int called;
	struct nd_port *port = NULL;
	struct nd_cq *other = NULL;
	void *key;

	return TRY(notified(p)) && TRY(nd_cq_fd(p->a.cq) >= 0 ? ND_SUCCESS : ND_INTERNAL_ERROR) &&
	       TRY(nd_cq_create(p->b.adapter, 16, &other)) &&
	       TRY(nd_cq_set_callback(other, on_result, &called)) &&
	       TRY(nd_cq_arm_callback(other, ND_CQ_NOTIFY_ANY)) && TRY(nd_cq_close(other)) &&
	       TRY(nd_port_create(&port)) && TRY(nd_port_post(port, p, &mine)) &&
	       TRY(nd_port_get(port, PATIENCE_MS, &key, &got)) && TRY(nd_port_close(port)) &&
	       nd_adapter_notify_event(p->a.adapter, &events) != ND_SUCCESS &&
	       TRY(nd_adapter_cancel_events(p->a.adapter));
}
