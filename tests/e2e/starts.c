/* SPDX-License-Identifier: BSD-3-Clause */
/* What a connection may do from its first moment on, and how many there can be. */
#include <stdlib.h>
#include <string.h>

#include "meeting.h"
#include "scenarios.h"

#define BACKLOG 3u
#define MANY	5000 /* more than a session may have queue pairs */

/* Reads of this side: they work, or the first ends the queue pair. */
static void
try_reads(struct side *s, struct side *peer, uint32_t limit)
{
	struct nd_result result;

	memset(peer->buf, 0x33, BUFFER_BYTES);
	memset(s->buf, 0, BUFFER_BYTES);
	for (int i = 0; i < 8; i++)
		WANT(ND_SUCCESS, side_read(s, peer, BUFFER_BYTES, nd_mr_remote_token(peer->mr)));
	for (int i = 0; i < 8; i++) {
		nd_status want = limit > 0 ? ND_SUCCESS : ND_CANCELED;

		if (limit == 0 && i == 0)
			want = ND_INVALID_DEVICE_REQUEST;
		WANT(want, side_result(s, &result));
		CHECK(result.request_type == ND_REQUEST_READ);
	}
	CHECK(s->buf[BUFFER_BYTES - 1] == (limit > 0 ? 0x33 : 0));
}

/*
 * checks R-CONN-10[1-3], R-RW-04[1,2]: eight reads of 16 packets each, of either side, as soon
 * as it is connected. With a limit of one they wait for each other: the peer, which keeps room
 * for as many as were agreed, would refuse a second. With 0, of either side's choice, there are
 * none; writes work all the same.
 */
void
scenario_read_rights(struct pair *p)
{
	struct meeting m;

	meet_open(&m, p);
	for (int i = 0; i < 16; i++) {
		uint32_t offer = i & 1, answer = i >> 1 & 1, passive = i >> 2 & 1, most = i >> 3;
		uint32_t limit = offer && answer ? 1 : 0;

		meet_again(&m);
		if (passive) /* it reads: the offer is what a serves, the answer what b wants */
			meet_ask(&m, offer * (1 + most * 1000), 3);
		else
			meet_ask(&m, 3, offer * (1 + most * 1000));
		meet_get(&m);
		if (passive)
			meet_accept(&m, 3, answer);
		else
			meet_accept(&m, answer, 3);
		meet_complete(&m);
		pair_works(p);
		if (passive)
			try_reads(&p->b, &p->a, limit);
		else
			try_reads(&p->a, &p->b, limit);
	}
	meet_close(&m);
}

/* checks R-CONN-22, R-SR-08 */
void
scenario_passive_first(struct pair *p)
{
	struct nd_result result;
	struct meeting m;

	meet_open(&m, p);
	WANT(ND_SUCCESS, side_receive(&p->a, 100));
	meet_connect(&m);
	memcpy(p->b.buf, "good evening", 13);
	WANT(ND_SUCCESS, side_send(&p->b, 13));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	CHECK(result.bytes_transferred == 13 && strcmp(p->a.buf, "good evening") == 0);
	WANT(ND_SUCCESS, side_result(&p->b, &result));
	meet_close(&m);
}

/* A new connection: a may send, b has a receive of so many bytes, and its Accept may be pending. */
static void
ready_alone(struct meeting *m, uint32_t bytes)
{
	meet_again(m);
	WANT(ND_SUCCESS, side_receive(&m->p->b, bytes));
	meet_ask(m, 1, 1);
	meet_get(m);
	meet_accept(m, 1, 1);
	meet_complete_alone(m);
}

/*
 * checks R-CONN-13[1,2], R-SR-09: no RTU reaches b (the runner sees to it): a's message is what
 * says that a is ready. It is taken as soon as it is there, whatever is known of the Accept;
 * that ends well, too.
 */
void
scenario_data_first(struct pair *p)
{
	struct nd_result result;
	struct meeting m;

	meet_open(&m, p);
	for (int i = 0; i < 20; i++) {
		ready_alone(&m, 100);
		WANT(ND_PENDING, nd_overlapped_status(&m.accept));
		WANT(ND_SUCCESS, side_send(&p->a, 10));
		while (nd_cq_get_results(p->b.cq, &result, 1) == 0)
			;
		WANT(ND_SUCCESS, result.status);
		CHECK(result.request_type == ND_REQUEST_RECEIVE && result.bytes_transferred == 10);
		WANT(ND_SUCCESS, nd_overlapped_wait(&m.accept, PATIENCE_MS));
		WANT(ND_SUCCESS, side_result(&p->a, &result));
		pair_works(p);
	}
	meet_close(&m);
}

/* checks R-CONN-13[1]: the first message completes Accept, even one that ends the connection. */
void
scenario_fatal_first(struct pair *p)
{
	struct nd_result result;
	struct meeting m;

	meet_open(&m, p);
	for (int i = 0; i < 20; i++) {
		ready_alone(&m, 1023);
		WANT(ND_SUCCESS, side_send(&p->a, 1024));
		WANT(ND_SUCCESS, finish(m.accepting, &m.accept));
		WANT(ND_DATA_OVERRUN, side_result(&p->b, &result));
		WANT(ND_DATA_ERROR, side_result(&p->a, &result));
	}
	meet_close(&m);
}

struct attempt {
	struct side side;
	struct nd_overlapped ov;
};

/* False: the queue pair or the connector is one too many. */
static int
attempt(struct attempt *t, const struct side *a, const struct sockaddr_storage *where)
{
	struct nd_qp_options options = {.receive_cq = a->cq,
		.initiator_cq = a->cq,
		.receive_depth = 1,
		.initiator_depth = 1,
		.max_receive_sge = 1,
		.max_initiator_sge = 1};
	nd_status status;

	t->side = *a;
	status = nd_qp_create(a->pd, &options, &t->side.qp);
	if (status == ND_SUCCESS)
		status = nd_connector_create(a->adapter, &t->side.connector);
	if (status != ND_SUCCESS) {
		WANT(ND_INSUFFICIENT_RESOURCES, status);
		return 0;
	}
	WANT(ND_PENDING,
		nd_connector_connect(t->side.connector, t->side.qp, (const struct sockaddr *)where,
			a->addr_bytes, 1, 1, NULL, 0, &t->ov));
	return 1;
}

/* One that was refused may try again (R-CONN-03). */
static nd_status
again(struct attempt *t, const struct sockaddr_storage *where)
{
	while (nd_overlapped_status(&t->ov) != ND_CONNECTION_REFUSED)
		t++;
	return side_connect(&t->side, where);
}

/*
 * checks R-CONN-24[1,2], R-LSN-03[2,4]: connects again and again, without waiting. None fails for
 * want of a port: queue pairs run out first. b has room for BACKLOG requests; the others are
 * refused, and when it has rejected those, there is room again. Taking a request makes no room.
 */
void
scenario_storm(struct pair *p)
{
	struct attempt *t = calloc(MANY, sizeof(*t));
	unsigned int refused = 0;
	struct meeting m;
	int n = 0;

	CHECK(t != NULL);
	meet_open(&m, p);
	nd_listener_close(m.listener);
	WANT(ND_SUCCESS, nd_listener_create(p->b.adapter, &m.listener));
	WANT(ND_SUCCESS, nd_listener_listen(m.listener, (struct sockaddr *)&m.where,
				 p->b.addr_bytes, BACKLOG));
	while (n < MANY && attempt(&t[n], &p->a, &m.where))
		n++;
	CHECK(n > 100 && n < MANY);
	for (unsigned int ms = 0; refused < n - BACKLOG; ms++) {
		refused = 0;
		for (int i = 0; i < n; i++)
			refused += nd_overlapped_status(&t[i].ov) == ND_CONNECTION_REFUSED;
		CHECK(ms < PATIENCE_MS);
		sleep_ms(1);
	}
	CHECK(refused == n - BACKLOG);
	for (unsigned int i = 0; i < BACKLOG; i++) {
		struct nd_overlapped get = {0};
		struct nd_connector *c;

		WANT(ND_SUCCESS, nd_connector_create(p->b.adapter, &c));
		WANT(ND_SUCCESS, finish(nd_listener_get_request(m.listener, c, &get), &get));
		if (i == 0)
			WANT(ND_CONNECTION_REFUSED, again(t, &m.where));
		WANT(ND_SUCCESS, nd_connector_reject(c, NULL, 0));
		nd_connector_close(c);
	}
	for (int i = 0; i < n; i++) {
		WANT(ND_CONNECTION_REFUSED, nd_overlapped_wait(&t[i].ov, PATIENCE_MS));
		nd_connector_close(t[i].side.connector);
		WANT(ND_SUCCESS, nd_qp_close(t[i].side.qp));
	}
	meet_connect(&m);
	pair_works(p);
	meet_close(&m);
	free(t);
}
