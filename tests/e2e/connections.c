/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections that don't come about, and how others end. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "meeting.h"
#include "scenarios.h"

/* checks R-CONN-03[2], R-CONN-04[1]: refused at once, and the same connector and queue pair may try
 * again. */
void
scenario_no_listener(struct pair *p)
{
	struct sockaddr_storage dest = p->b.addr;

	side_open_alone(&p->a);
	set_port(&dest, SILENT_PORT);
	for (int i = 0; i < 2; i++) {
		WANT(ND_CONNECTION_REFUSED, side_connect(&p->a, &dest));
		CHECK(nd_connector_reject_reason(p->a.connector) == 8);
	}
	WANT(ND_CONNECTION_INVALID, side_send(&p->a, 1)); /* R-POST-02 */
	side_close(&p->a);
}

void
scenario_no_neighbour(struct pair *p)
{
	struct sockaddr_storage dest = p->b.addr;

	side_open_alone(&p->a);
	set_port(&dest, SILENT_PORT);
	set_last_byte(&dest, 77);
	WANT(ND_HOST_UNREACHABLE, side_connect(&p->a, &dest));
	side_close(&p->a);
}

/* Outside of every prefix, and the daemon has no gateway. */
void
scenario_no_route(struct pair *p)
{
	struct sockaddr_storage dest = p->b.addr;

	side_open_alone(&p->a);
	set_port(&dest, SILENT_PORT);
	if (dest.ss_family == AF_INET)
		((struct sockaddr_in *)&dest)->sin_addr.s_addr =
			htonl(0xc6336401); /* 198.51.100.1 */
	else
		((struct sockaddr_in6 *)&dest)->sin6_addr.s6_addr[4] ^= 0x55;
	WANT(ND_NETWORK_UNREACHABLE, side_connect(&p->a, &dest));
	side_close(&p->a);
}

/* checks R-CONN-04[5,6]: the consumer's reject, its reason and its private data; then b accepts
 * another. */
void
scenario_reject(struct pair *p)
{
	struct nd_overlapped ask = {0}, get = {0};
	struct sockaddr_storage where;
	struct nd_listener *listener;
	char word[256] = "";
	uint32_t bytes = sizeof(word);

	side_open_alone(&p->a);
	side_open_alone(&p->b);
	listener = side_listen(&p->b, &where);
	WANT(ND_PENDING, nd_listener_get_request(listener, p->b.connector, &get));
	WANT(ND_PENDING, nd_connector_connect(p->a.connector, p->a.qp, (struct sockaddr *)&where,
				 p->b.addr_bytes, 1, 1, NULL, 0, &ask));
	WANT(ND_SUCCESS, nd_overlapped_wait(&get, PATIENCE_MS));
	WANT(ND_SUCCESS, nd_connector_reject(p->b.connector, "not today", 9));
	WANT(ND_CONNECTION_REFUSED, nd_overlapped_wait(&ask, PATIENCE_MS));
	CHECK(nd_connector_reject_reason(p->a.connector) == 28);
	WANT(ND_SUCCESS, nd_connector_private_data(p->a.connector, word, &bytes));
	CHECK(bytes >= 9 && memcmp(word, "not today", 9) == 0);
	nd_connector_close(p->a.connector);
	nd_connector_close(p->b.connector);
	nd_listener_close(listener);
	pair_connect(p);
	pair_works(p);
	pair_close(p);
}

/* ---- private data ---- */

static uint8_t
private_byte(uint32_t i)
{
	return (uint8_t)(i * 7 + 1);
}

static const void *
private_out(void)
{
	static uint8_t out[512];

	for (uint32_t i = 0; i < sizeof(out); i++)
		out[i] = private_byte(i);
	return out;
}

/* What was sent, and then zeros up to the size that is told; parts, too. */
static void
private_in(struct side *s, uint32_t sent)
{
	uint8_t in[512];
	uint32_t bytes = sizeof(in), size;

	memset(in, 0xee, sizeof(in));
	WANT(ND_SUCCESS, nd_connector_private_data(s->connector, in, &bytes));
	CHECK(bytes >= sent && bytes < sizeof(in));
	for (uint32_t i = 0; i < sizeof(in); i++)
		CHECK(in[i] == (i < sent ? private_byte(i) : i < bytes ? 0 : 0xee));
	size = 0;
	WANT(ND_BUFFER_OVERFLOW, nd_connector_private_data(s->connector, NULL, &size));
	CHECK(size == bytes);
	memset(in, 0xee, sizeof(in));
	size = bytes - 1;
	WANT(ND_BUFFER_OVERFLOW, nd_connector_private_data(s->connector, in, &size));
	CHECK(size == bytes && in[0] == (sent > 0 ? private_byte(0) : 0));
	CHECK(in[bytes - 1] == 0xee);
}

static nd_status
ask_with(struct meeting *m, uint32_t bytes)
{
	struct side *a = &m->p->a;

	return nd_connector_connect(a->connector, a->qp, (struct sockaddr *)&m->where,
		a->addr_bytes, 1, 1, bytes > 0 ? private_out() : NULL, bytes, &m->ask);
}

static nd_status
accept_with(struct meeting *m, uint32_t bytes)
{
	struct side *b = &m->p->b;

	return nd_connector_accept(
		b->connector, b->qp, 1, 1, bytes > 0 ? private_out() : NULL, bytes, &m->accept);
}

static nd_status
reject_with(struct side *s, uint32_t bytes)
{
	return nd_connector_reject(s->connector, bytes > 0 ? private_out() : NULL, bytes);
}

/*
 * checks R-CONN-03[4], R-CONN-07[1-3], R-CONN-08[1-5]: of Connect, Accept and Reject nothing,
 * one byte, and the most arrive as they were sent; one more is refused before anything is, and
 * after that connector and queue pair do as if nothing had been. Bytes at a NULL address are no
 * private data.
 */
void
scenario_private_data(struct pair *p)
{
	struct nd_adapter_info info;
	struct meeting m;

	meet_open(&m, p);
	WANT(ND_SUCCESS, nd_adapter_query(p->a.adapter, &info));
	for (int i = 0; i < 6; i++) {
		const uint32_t sizes[2][3] = {
			{0, 1, info.max_caller_data}, {0, 1, info.max_callee_data}};
		uint32_t there = sizes[0][i % 3], back = sizes[1][i % 3];

		meet_again(&m);
		WANT(ND_INVALID_BUFFER_SIZE, ask_with(&m, info.max_caller_data + 1));
		WANT(ND_ACCESS_VIOLATION,
			nd_connector_connect(p->a.connector, p->a.qp, (struct sockaddr *)&m.where,
				p->a.addr_bytes, 1, 1, NULL, 1, &m.ask));
		WANT(ND_PENDING, ask_with(&m, there));
		meet_get(&m);
		private_in(&p->b, there);
		WANT(ND_INVALID_BUFFER_SIZE, accept_with(&m, info.max_callee_data + 1));
		WANT(ND_INVALID_BUFFER_SIZE, reject_with(&p->b, info.max_callee_data + 1));
		WANT(ND_ACCESS_VIOLATION, nd_connector_reject(p->b.connector, NULL, 1));
		if (i < 3) {
			WANT(ND_SUCCESS, reject_with(&p->b, back));
			WANT(ND_CONNECTION_REFUSED, nd_overlapped_wait(&m.ask, PATIENCE_MS));
			private_in(&p->a, back);
			continue;
		}
		m.accepting = accept_with(&m, back);
		WANT(ND_SUCCESS, nd_overlapped_wait(&m.ask, PATIENCE_MS));
		private_in(&p->a, back);
		WANT(ND_INVALID_BUFFER_SIZE, reject_with(&p->a, info.max_callee_data + 1));
		meet_complete(&m);
		pair_works(p);
	}
	meet_close(&m);
}

/* checks R-LSN-02[1] */
void
scenario_port_in_use(struct pair *p)
{
	struct nd_listener *first, *second;
	struct sockaddr_storage where;

	side_open(&p->a, 16);
	first = side_listen(&p->a, &where);
	WANT(ND_SUCCESS, nd_listener_create(p->a.adapter, &second));
	WANT(ND_SHARING_VIOLATION,
		nd_listener_listen(second, (struct sockaddr *)&where, p->a.addr_bytes, 0));
	nd_listener_close(first);
	WANT(ND_SUCCESS, nd_listener_listen(second, (struct sockaddr *)&where, p->a.addr_bytes, 0));
	side_close(&p->a);
}

/* Neither the connector nor, with a new one, the queue pair can connect again. */
static void
is_used_up(struct side *s)
{
	struct nd_connector *old = s->connector;

	WANT(ND_INVALID_DEVICE_STATE, side_connect(s, &s->addr));
	WANT(ND_SUCCESS, nd_connector_create(s->adapter, &s->connector));
	WANT(ND_CONNECTION_ACTIVE, side_connect(s, &s->addr));
	nd_connector_close(s->connector);
	s->connector = old;
}

/*
 * checks R-DISC-01[1-3], R-POST-03[2,3]: b is told, what was posted is cancelled, both ends'
 * Disconnect succeeds, no more can be sent, and neither can be connected again.
 */
void
scenario_disconnect(struct pair *p)
{
	struct nd_overlapped told = {0}, a_done = {0}, b_done = {0};
	struct nd_result result;
	nd_status a_inline;

	pair_open(p);
	WANT(ND_SUCCESS, side_receive(&p->b, 100));
	WANT(ND_PENDING, nd_connector_notify_disconnect(p->b.connector, &told));
	a_inline = nd_connector_disconnect(p->a.connector, &a_done);
	WANT(ND_SUCCESS, nd_overlapped_wait(&told, PATIENCE_MS));
	WANT(ND_SUCCESS, finish(nd_connector_disconnect(p->b.connector, &b_done), &b_done));
	WANT(ND_SUCCESS, finish(a_inline, &a_done));
	WANT(ND_CANCELED, side_result(&p->b, &result));
	WANT(ND_CONNECTION_INVALID, side_send(&p->a, 1));
	WANT(ND_SUCCESS, side_receive(&p->a, 100));
	WANT(ND_CANCELED, side_result(&p->a, &result));
	is_used_up(&p->a);
	is_used_up(&p->b);
	pair_close(p);
}

/* checks R-CQ-33, R-LSN-05[1], R-OV-13: a request that waits for something that does not come ends
 * when its object is closed. */
void
scenario_cancel(struct pair *p)
{
	struct nd_overlapped get = {0}, notify = {0};
	struct nd_listener *listener;
	struct sockaddr_storage where;
	struct nd_cq *cq;

	side_open_alone(&p->a);
	listener = side_listen(&p->a, &where);
	WANT(ND_PENDING, nd_listener_get_request(listener, p->a.connector, &get));
	nd_listener_close(listener);
	WANT(ND_CANCELED, nd_overlapped_wait(&get, PATIENCE_MS));
	WANT(ND_SUCCESS, nd_cq_create(p->a.adapter, 4, &cq));
	WANT(ND_PENDING, nd_cq_notify(cq, ND_CQ_NOTIFY_ANY, &notify));
	WANT(ND_PENDING, nd_cq_close(p->a.cq)); /* a queue pair rests on it */
	WANT(ND_SUCCESS, nd_cq_close(cq));
	WANT(ND_CANCELED, nd_overlapped_wait(&notify, PATIENCE_MS));
	side_close(&p->a);
}
