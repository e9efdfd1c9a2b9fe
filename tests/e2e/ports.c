/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All that is asynchronous, of both ends, through one completion port with several takers. Each
 * request that pends comes out once, with the key of its adapter and its outcome; what fails inline
 * does not come.
 */
#include <pthread.h>
#include <signal.h>

#include "meeting.h"
#include "scenarios.h"

#define TAKERS 3
#define ROUNDS 10
#define MANY   8 /* notifications of one queue */

struct request {
	struct nd_overlapped ov; /* first: what a taker gets */
	struct side *owner;
	uint32_t issued, taken; /* taken: atomic */
	nd_status status;
};

static struct nd_port *port;
static pthread_t taker[TAKERS];

static void *
take(void *arg)
{
	struct nd_overlapped *ov;
	nd_status st;
	void *key;

	(void)arg;
	for (;;) {
		struct request *r;

		st = nd_port_get(port, -1, &key, &ov);
		if (ov == NULL) {
			WANT(ND_SUCCESS, st);
			return NULL;
		}
		r = (struct request *)ov;
		CHECK(key == r->owner);
		CHECK(nd_overlapped_status(ov) == st);
		r->status = st;
		__atomic_fetch_add(&r->taken, 1, __ATOMIC_RELEASE);
	}
}

/* It is about to be issued. */
static struct nd_overlapped *
fresh(struct request *r, struct side *owner)
{
	CHECK(__atomic_load_n(&r->taken, __ATOMIC_ACQUIRE) == r->issued);
	r->owner = owner;
	r->issued++;
	return &r->ov;
}

/* A taker has it; its status. */
static nd_status
outcome(struct request *r)
{
	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		if (__atomic_load_n(&r->taken, __ATOMIC_ACQUIRE) == r->issued)
			return r->status;
		sleep_ms(1);
	}
	return ND_TIMEOUT;
}

static void
open_port(struct pair *p)
{
	WANT(ND_SUCCESS, nd_port_create(&port));
	WANT(ND_SUCCESS, nd_adapter_bind_port(p->a.adapter, port, &p->a));
	WANT(ND_SUCCESS, nd_adapter_bind_port(p->b.adapter, port, &p->b));
	for (int i = 0; i < TAKERS; i++)
		CHECK(pthread_create(&taker[i], NULL, take, NULL) == 0);
}

static void
close_port(void)
{
	struct nd_overlapped *ov;
	void *key;

	for (int i = 0; i < TAKERS; i++)
		WANT(ND_SUCCESS, nd_port_post(port, NULL, NULL));
	for (int i = 0; i < TAKERS; i++)
		pthread_join(taker[i], NULL);
	WANT(ND_TIMEOUT, nd_port_get(port, 0, &key, &ov)); /* nothing came twice */
	WANT(ND_SUCCESS, nd_port_close(port));
}

/* ---- one life of a connection --------------------------------------------------------- */

struct life {
	struct request get, ask, accept, complete, told[2], end[2], bell[2][MANY], region;
};

static void
life_begin(struct meeting *m, struct life *l)
{
	struct side *a = &m->p->a, *b = &m->p->b;

	/* The request is there, or on its way: pending in both cases. */
	WANT(ND_PENDING, nd_connector_connect(a->connector, a->qp, (struct sockaddr *)&m->where,
				 a->addr_bytes, 1, 1, NULL, 0, fresh(&l->ask, a)));
	WANT(ND_PENDING, nd_listener_get_request(m->listener, b->connector, fresh(&l->get, b)));
	WANT(ND_SUCCESS, outcome(&l->get));
	WANT(ND_PENDING,
		nd_connector_accept(b->connector, b->qp, 1, 1, NULL, 0, fresh(&l->accept, b)));
	WANT(ND_SUCCESS, outcome(&l->ask));
	WANT(ND_PENDING, nd_connector_complete_connect(a->connector, fresh(&l->complete, a)));
	WANT(ND_SUCCESS, outcome(&l->complete));
	WANT(ND_SUCCESS, outcome(&l->accept));
	WANT(ND_PENDING, nd_connector_notify_disconnect(a->connector, fresh(&l->told[0], a)));
	WANT(ND_PENDING, nd_connector_notify_disconnect(b->connector, fresh(&l->told[1], b)));
}

/* One event releases all that wait for it, at either end; what is there already is known at once.
 */
static void
life_transfer(struct meeting *m, struct life *l)
{
	struct side *side[2] = {&m->p->a, &m->p->b};
	struct nd_result result;

	for (int s = 0; s < 2; s++)
		for (int i = 0; i < MANY; i++)
			WANT(ND_PENDING, nd_cq_notify(side[s]->cq, ND_CQ_NOTIFY_ANY,
						 fresh(&l->bell[s][i], side[s])));
	WANT(ND_SUCCESS, side_receive(side[1], 100));
	WANT(ND_SUCCESS, side_send(side[0], 100));
	for (int s = 0; s < 2; s++) {
		for (int i = 0; i < MANY; i++)
			WANT(ND_SUCCESS, outcome(&l->bell[s][i]));
		WANT(ND_SUCCESS, side_result(side[s], &result));
	}
	/* b's entry is new and not taken; a has none. */
	WANT(ND_SUCCESS, side_receive(side[1], 100));
	WANT(ND_SUCCESS, side_send(side[0], 100));
	WANT(ND_SUCCESS, side_result(side[0], &result));
	WANT(ND_PENDING,
		nd_cq_notify(side[1]->cq, ND_CQ_NOTIFY_ANY, fresh(&l->bell[1][0], side[1])));
	WANT(ND_PENDING,
		nd_cq_notify(side[0]->cq, ND_CQ_NOTIFY_ERRORS, fresh(&l->bell[0][0], side[0])));
	WANT(ND_SUCCESS, outcome(&l->bell[1][0]));
	WANT(ND_SUCCESS, nd_cq_cancel(side[0]->cq));
	WANT(ND_CANCELED, nd_overlapped_status(&l->bell[0][0].ov)); /* not by a taker's grace */
	WANT(ND_CANCELED, outcome(&l->bell[0][0]));
	WANT(ND_SUCCESS, side_result(side[1], &result));
}

static void
life_end(struct meeting *m, struct life *l)
{
	struct side *a = &m->p->a, *b = &m->p->b;

	WANT(ND_PENDING, nd_connector_disconnect(a->connector, fresh(&l->end[0], a)));
	WANT(ND_SUCCESS, outcome(&l->told[1]));
	WANT(ND_CONNECTION_DISCONNECTED, outcome(&l->told[0]));
	WANT(ND_PENDING, nd_connector_disconnect(b->connector, fresh(&l->end[1], b)));
	WANT(ND_SUCCESS, outcome(&l->end[0]));
	WANT(ND_SUCCESS, outcome(&l->end[1]));
	/* Over since long. */
	WANT(ND_PENDING, nd_connector_notify_disconnect(a->connector, fresh(&l->told[0], a)));
	WANT(ND_CONNECTION_DISCONNECTED, outcome(&l->told[0]));
	/* Refused inline: nothing comes. */
	WANT(ND_CONNECTION_INVALID, nd_connector_disconnect(a->connector, &l->end[0].ov));
	WANT(ND_INVALID_PARAMETER_1, nd_cq_notify(a->cq, 77, &l->bell[0][0].ov));
}

/* Attempts that are not answered, given up; and a region's two requests. */
static void
life_cancel(struct meeting *m, struct life *l)
{
	struct side *a = &m->p->a, *b = &m->p->b;

	meet_again(m);
	WANT(ND_PENDING, nd_listener_get_request(m->listener, b->connector, fresh(&l->get, b)));
	WANT(ND_SUCCESS, nd_listener_cancel(m->listener));
	WANT(ND_CANCELED, outcome(&l->get));
	WANT(ND_PENDING, nd_connector_connect(a->connector, a->qp, (struct sockaddr *)&m->where,
				 a->addr_bytes, 1, 1, NULL, 0, fresh(&l->ask, a)));
	WANT(ND_SUCCESS, nd_connector_cancel(a->connector));
	WANT(ND_CANCELED, outcome(&l->ask));
	WANT(ND_PENDING, nd_mr_deregister(a->mr, fresh(&l->region, a)));
	WANT(ND_SUCCESS, outcome(&l->region));
	WANT(ND_PENDING, nd_mr_register(a->mr, a->buf, BUFFER_BYTES, ND_MR_FLAG_ALLOW_LOCAL_WRITE,
				 fresh(&l->region, a)));
	WANT(ND_SUCCESS, outcome(&l->region));
	WANT(ND_INVALID_DEVICE_STATE,
		nd_mr_register(a->mr, a->buf, BUFFER_BYTES, 0, &l->region.ov));
}

/* The request that was given up waits at b's listener, perhaps. */
static void
listen_again(struct meeting *m)
{
	nd_listener_close(m->listener);
	m->listener = side_listen(&m->p->b, &m->where);
	meet_again(m);
}

/* checks R-CQ-20[2], R-OV-03[1,2], R-OV-04[1,2,4], R-OV-10[1,2], R-OV-12[3], R-OV-14 */
void
scenario_port(struct pair *p)
{
	static struct life l;
	struct meeting m;

	meet_open(&m, p);
	open_port(p);
	for (int i = 0; i < ROUNDS; i++) {
		life_begin(&m, &l);
		life_transfer(&m, &l);
		life_end(&m, &l);
		life_cancel(&m, &l);
		listen_again(&m);
	}
	meet_close(&m);
	close_port();
}

/*
 * checks R-LIFE-12[2], R-OV-03[1], R-OV-04[3], R-OV-13: daemon a dies with a request of each
 * kind under way: each ends once. Those of b end as well, at the latest when its adapter is
 * closed.
 */
void
scenario_port_daemon_dies(struct pair *p)
{
	static struct life l;
	static struct request waiting, limit;
	struct nd_connector *idle;
	struct nd_listener *listener;
	struct sockaddr_storage where;
	struct nd_srq *srq;
	struct side other;
	struct meeting m;

	meet_open(&m, p);
	open_port(p);
	life_begin(&m, &l);
	listener = side_listen(&p->a, &where);
	WANT(ND_SUCCESS, nd_connector_create(p->a.adapter, &idle));
	WANT(ND_PENDING, nd_listener_get_request(listener, idle, fresh(&waiting, &p->a)));
	for (int i = 0; i < MANY; i++) {
		WANT(ND_PENDING,
			nd_cq_notify(p->a.cq, ND_CQ_NOTIFY_ANY, fresh(&l.bell[0][i], &p->a)));
		WANT(ND_PENDING,
			nd_cq_notify(p->b.cq, ND_CQ_NOTIFY_ERRORS, fresh(&l.bell[1][i], &p->b)));
	}
	WANT(ND_SUCCESS, nd_srq_create(p->a.pd, 4, 1, 0, &srq));
	WANT(ND_PENDING, nd_srq_notify(srq, fresh(&limit, &p->a)));
	other = p->a;
	side_create_qp(&other, 4);
	WANT(ND_SUCCESS, nd_connector_create(p->a.adapter, &other.connector));
	WANT(ND_PENDING,
		nd_connector_connect(other.connector, other.qp, (struct sockaddr *)&m.where,
			p->a.addr_bytes, 1, 1, NULL, 0, fresh(&l.ask, &p->a)));

	CHECK(p->daemon_a > 0 && kill(p->daemon_a, SIGKILL) == 0);
	for (int i = 0; i < MANY; i++)
		WANT(ND_DEVICE_REMOVED, outcome(&l.bell[0][i]));
	WANT(ND_DEVICE_REMOVED, outcome(&l.told[0]));
	WANT(ND_DEVICE_REMOVED, outcome(&waiting));
	WANT(ND_DEVICE_REMOVED, outcome(&limit));
	WANT(ND_DEVICE_REMOVED, outcome(&l.ask));
	WANT(ND_DEVICE_REMOVED, nd_cq_notify(p->a.cq, ND_CQ_NOTIFY_ANY, &l.bell[0][0].ov));
	meet_close(&m);
	for (int i = 0; i < MANY; i++)
		WANT(ND_CANCELED, outcome(&l.bell[1][i]));
	WANT(ND_CANCELED, outcome(&l.told[1]));
	close_port();
}
