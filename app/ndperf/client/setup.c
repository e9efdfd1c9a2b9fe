/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/fail.h"
#include "common/local.h"
#include "common/wait.h"

#define COMPLETE_WAIT_MS    10000
#define DISCONNECT_WAIT_MS  2000
#define OWN_SERVER_SLICE_MS 1
#define ECHO_RECEIVES	    16u /* latency of send: one message is under way at a time */

/* Print why a connection was not made. */
static int
client_connect_failed(struct client *c, struct conn *conn, nd_status st)
{
	uint32_t reason = nd_connector_reject_reason(conn->connector);
	struct ndperf_welcome refusal;
	uint8_t wire[256];
	uint32_t bytes = sizeof(wire);
	char peer[APP_ADDR_TEXT];
	nd_status got;

	if (st == ND_CANCELED && app_stopping())
		return APP_EXIT_SIGNAL;
	app_addr_text(&c->opt->addr, true, peer);
	got = nd_connector_private_data(conn->connector, wire, &bytes);
	if (reason != 0 && got == ND_SUCCESS && ndperf_welcome_decode(wire, bytes, &refusal) &&
		refusal.refusal != NDPERF_WELCOME)
		app_complain(
			"ndperf at %s refused: %s", peer, ndperf_refusal_text(refusal.refusal));
	else if (reason != 0)
		app_complain("connecting to %s: %s (%s, CM reason %u)", peer,
			app_reject_text(reason), nd_status_name(st), reason);
	else
		app_fail(st, "connecting to %s", peer);
	return APP_EXIT_CONNECT;
}

/* As app_wait(); with --loopback the server has its turns meanwhile. */
static nd_status
client_wait(struct client *c, struct nd_overlapped *ov, int timeout_ms)
{
	uint64_t start = app_now_ns();
	nd_status st;

	if (c->own_server == NULL)
		return app_wait(ov, timeout_ms);
	do {
		if (client_run_own_server(c) != APP_EXIT_OK)
			return ND_CANCELED;
		st = app_wait(ov, OWN_SERVER_SLICE_MS);
	} while (st == ND_TIMEOUT &&
		 (timeout_ms < 0 || app_now_ns() - start < timeout_ms * APP_NS_PER_MS));
	return st;
}

/* Connect with hello as private data; the private data of the server's answer is the welcome. */
static int
client_connect_one(struct client *c, struct conn *conn, const struct ndperf_hello *hello,
	struct ndperf_welcome *welcome)
{
	uint8_t wire[256];
	uint32_t bytes = sizeof(wire);
	nd_status st = nd_connector_create(c->adapter, &conn->connector);

	if (st != ND_SUCCESS) {
		app_fail(st, "can't make a connector");
		return APP_EXIT_LOCAL;
	}
	ndperf_hello_encode(hello, wire);
	if (c->opt->has_bind)
		st = nd_connector_bind(
			conn->connector, (const struct sockaddr *)&c->local.ss, c->local.bytes);
	if (st == ND_SUCCESS)
		st = nd_connector_set_dscp(conn->connector, c->opt->dscp);
	if (st == ND_SUCCESS)
		st = nd_connector_connect(conn->connector, conn->qp,
			(const struct sockaddr *)&c->opt->addr.ss, c->opt->addr.bytes,
			c->info.max_inbound_reads, c->info.max_outbound_reads, wire,
			NDPERF_HELLO_BYTES, &conn->ov);
	if (st == ND_PENDING)
		st = client_wait(c, &conn->ov, -1);
	if (st != ND_SUCCESS)
		return client_connect_failed(c, conn, st);
	st = nd_connector_private_data(conn->connector, wire, &bytes);
	if (st != ND_SUCCESS || !ndperf_welcome_decode(wire, bytes, welcome)) {
		app_complain("the peer that accepted is no ndperf server of this version");
		return APP_EXIT_CONNECT;
	}
	st = nd_connector_complete_connect(conn->connector, &conn->ov);
	if (st == ND_PENDING)
		st = client_wait(c, &conn->ov, COMPLETE_WAIT_MS);
	return st == ND_SUCCESS ? APP_EXIT_OK : client_connect_failed(c, conn, st);
}

static bool
client_wants_echoes(const struct client *c)
{
	return c->opt->params.op == NDPERF_SEND && c->opt->params.mode == NDPERF_LAT;
}

static nd_status
client_create_qp(struct client *c, struct client_qp *q)
{
	const struct ndperf_params *p = &c->opt->params;
	struct nd_qp_options o = {.receive_cq = c->cq,
		.initiator_cq = c->cq,
		.context = q,
		.receive_depth = client_wants_echoes(c) ? ECHO_RECEIVES : 1,
		.initiator_depth = p->depth,
		.max_receive_sge = 1,
		.max_initiator_sge = 1,
		.inline_bytes = c->inline_bytes};
	struct nd_sge sge = {c->buf.mem + c->layout.echo, (uint32_t)p->max_bytes, c->token};
	nd_status st = nd_qp_create(c->pd, &o, &q->conn.qp);

	for (uint32_t i = 0; st == ND_SUCCESS && client_wants_echoes(c) && i < ECHO_RECEIVES; i++)
		st = nd_qp_receive(q->conn.qp, NULL, &sge, 1);
	return st;
}

/*
 * The queue has room for the completions of all requests, since those that are silent complete
 * visibly if they are flushed. If the adapter has no queue as large as that, the queue has room for
 * the visible completions at least.
 */
static uint32_t
client_cq_depth(const struct client *c)
{
	const struct ndperf_params *p = &c->opt->params;
	uint32_t all = p->qps * (p->depth + ECHO_RECEIVES);
	uint32_t visible = p->qps * (p->depth / c->opt->cq_mod + 2);

	if (all > c->info.max_cq_depth)
		all = c->info.max_cq_depth;
	return all > visible ? all : visible;
}

static nd_status
client_create_objects(struct client *c)
{
	const struct ndperf_params *p = &c->opt->params;
	nd_status st = nd_adapter_query(c->adapter, &c->info);

	if (st != ND_SUCCESS)
		return st;
	c->inline_bytes = c->opt->inline_bytes == NDPERF_INLINE_AUTO
				  ? c->info.inline_request_threshold
				  : c->opt->inline_bytes;
	if (c->opt->inline_bytes == NDPERF_INLINE_AUTO &&
		c->inline_bytes > c->info.max_inline_bytes)
		c->inline_bytes = c->info.max_inline_bytes;
	ndperf_layout(p, &c->layout);
	st = nd_pd_create(c->adapter, &c->pd);
	if (st == ND_SUCCESS)
		st = control_create(&c->control, c->adapter, c->pd);
	if (st == ND_SUCCESS)
		st = nd_cq_create(c->adapter, client_cq_depth(c), &c->cq);
	if (st == ND_SUCCESS)
		st = buffer_create(&c->buf, c->adapter, c->pd, c->opt->memory, c->layout.bytes,
			ND_MR_FLAG_ALLOW_REMOTE_WRITE | ND_MR_FLAG_RDMA_READ_SINK);
	if (st != ND_SUCCESS)
		return st;
	c->token = nd_mr_local_token(c->buf.mr);
	c->qps = calloc(p->qps, sizeof(*c->qps));
	return c->qps != NULL ? ND_SUCCESS : ND_NO_MEMORY;
}

static int
client_connect_data(struct client *c, uint32_t i)
{
	struct ndperf_hello hello = {.role = NDPERF_DATA,
		.params = c->opt->params,
		.index = i,
		.session = c->welcome.session};
	struct ndperf_welcome again;
	struct client_qp *q = &c->qps[i];
	uint64_t *credits = (uint64_t *)(c->buf.mem + c->layout.credits) + i;
	nd_status st;

	q->index = i;
	q->region = c->buf.mem + i * c->layout.region;
	q->remote = c->welcome.address + i * c->layout.region;
	q->credits = credits;
	*credits = htole64(c->welcome.receives);
	st = client_create_qp(c, q);
	if (st != ND_SUCCESS) {
		app_fail(st, "can't make queue pair %u", i);
		return APP_EXIT_LOCAL;
	}
	return client_connect_one(c, &q->conn, &hello, &again);
}

int
client_connect(struct client *c)
{
	struct ndperf_hello hello = {.role = NDPERF_CONTROL, .params = c->opt->params};
	nd_status st = app_open_for_remote(c->opt->socket_path,
		c->opt->has_bind ? &c->opt->bind : NULL, &c->opt->addr, &c->adapter, &c->local);
	int rc;

	if (st != ND_SUCCESS)
		return st == ND_NETWORK_UNREACHABLE ? APP_EXIT_CONNECT : APP_EXIT_LOCAL;
	st = client_create_objects(c);
	if (st != ND_SUCCESS) {
		app_fail(st,
			"can't make the session's objects (%u queue pairs, depth %u, %llu bytes)",
			c->opt->params.qps, c->opt->params.depth,
			(unsigned long long)c->layout.bytes);
		return APP_EXIT_LOCAL;
	}
	rc = client_connect_one(c, &c->control.conn, &hello, &c->welcome);
	for (uint32_t i = 0; rc == APP_EXIT_OK && i < c->opt->params.qps; i++)
		rc = client_connect_data(c, i);
	return rc;
}

static void
client_end_conn(struct conn *conn)
{
	if (conn->connector == NULL)
		return;
	/* A connect that the client gave up still owns ov; closing the connector ends both. */
	if (nd_overlapped_status(&conn->ov) != ND_PENDING &&
		nd_connector_disconnect(conn->connector, &conn->ov) == ND_PENDING)
		nd_overlapped_wait(&conn->ov, DISCONNECT_WAIT_MS);
	conn_destroy(conn);
}

void
client_disconnect(struct client *c)
{
	for (uint32_t i = 0; c->qps != NULL && i < c->opt->params.qps; i++) {
		client_end_conn(&c->qps[i].conn);
		conn_destroy(&c->qps[i].conn);
	}
	client_end_conn(&c->control.conn);
	control_destroy(&c->control);
	if (c->cq != NULL)
		nd_cq_close(c->cq);
	buffer_destroy(&c->buf);
	if (c->pd != NULL)
		nd_pd_close(c->pd);
	if (c->adapter != NULL)
		nd_adapter_close(c->adapter);
	free(c->qps);
}
