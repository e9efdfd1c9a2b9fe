/* SPDX-License-Identifier: BSD-3-Clause */
#include "join.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "common/clock.h"
#include "common/fail.h"
#include "data.h"

#define JOIN_WAIT_NS (30 * APP_NS_PER_S) /* longest time without progress */

static nd_status
session_create_objects(struct session *s)
{
	const struct ndperf_params *p = &s->params;
	nd_status st = nd_pd_create(s->adapter, &s->pd);

	if (st == ND_SUCCESS)
		st = control_create(&s->control, s->adapter, s->pd);
	if (st == ND_SUCCESS)
		st = nd_cq_create(s->adapter, p->qps * (s->receives + SESSION_ECHO_DEPTH), &s->cq);
	if (st == ND_SUCCESS)
		st = buffer_create(&s->buf, s->adapter, s->pd, s->memory, s->layout.bytes,
			ND_MR_FLAG_ALLOW_REMOTE_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ);
	if (st == ND_SUCCESS)
		s->token = nd_mr_local_token(s->buf.mr);
	return st;
}

/* The number of receives at each queue pair. With verify each needs a slot of its own. */
static uint32_t
session_receive_depth(const struct session *s)
{
	uint32_t n = 2 * s->params.depth;

	if (s->params.op != NDPERF_SEND)
		return 1;
	if (n > s->info->max_receive_depth)
		n = s->info->max_receive_depth;
	if (n > s->info->max_cq_depth / s->params.qps - SESSION_ECHO_DEPTH)
		n = s->info->max_cq_depth / s->params.qps - SESSION_ECHO_DEPTH;
	if (s->params.verify && n > s->slots_max)
		n = s->slots_max;
	return n;
}

static nd_status
session_accept(struct session *s, struct conn *conn)
{
	struct ndperf_welcome welcome = {.session = s->id,
		.address = (uintptr_t)s->buf.mem,
		.token = nd_mr_remote_token(s->buf.mr),
		.receives = s->receives};
	uint8_t wire[NDPERF_WELCOME_BYTES];
	nd_status st;

	ndperf_welcome_encode(&welcome, wire);
	st = nd_connector_accept(conn->connector, conn->qp, s->info->max_inbound_reads,
		s->info->max_outbound_reads, wire, sizeof(wire), &conn->ov);
	s->heard_ns = app_now_ns();
	return st == ND_PENDING ? ND_SUCCESS : st;
}

struct session *
session_create(struct nd_adapter *adapter, struct nd_adapter_info *info,
	struct nd_connector *connector, const struct ndperf_hello *hello, enum ndperf_memory memory,
	enum ndperf_refusal *refusal)
{
	struct session *s = calloc(1, sizeof(*s));
	struct app_addr peer = {.bytes = sizeof(peer.ss)};

	*refusal = NDPERF_NO_RESOURCES;
	if (s == NULL)
		return NULL;
	s->adapter = adapter;
	s->info = info;
	s->params = hello->params;
	s->memory = memory;
	s->inline_bytes = info->inline_request_threshold < info->max_inline_bytes
				  ? info->inline_request_threshold
				  : info->max_inline_bytes;
	ndperf_layout(&s->params, &s->layout);
	s->slots_max = ndperf_slots(&s->params, &s->layout, s->params.max_bytes);
	s->receives = session_receive_depth(s);
	s->qps = calloc(s->params.qps, sizeof(*s->qps));
	snprintf(s->peer, sizeof(s->peer), "client");
	if (nd_connector_peer_address(connector, (struct sockaddr *)&peer.ss, &peer.bytes) ==
		ND_SUCCESS)
		app_addr_text(&peer, true, s->peer);
	if (s->qps == NULL || getrandom(&s->id, sizeof(s->id), 0) != sizeof(s->id) ||
		session_create_objects(s) != ND_SUCCESS) {
		session_destroy(s);
		return NULL;
	}
	s->control.conn.connector = connector;
	if (session_accept(s, &s->control.conn) != ND_SUCCESS) {
		s->control.conn.connector = NULL; /* it stays the caller's */
		session_destroy(s);
		return NULL;
	}
	*refusal = NDPERF_WELCOME;
	return s;
}

enum ndperf_refusal
session_join(struct session *s, struct nd_connector *connector, const struct ndperf_hello *hello)
{
	struct session_qp *q = &s->qps[hello->index];
	struct nd_qp_options o = {.receive_cq = s->cq,
		.initiator_cq = s->cq,
		.context = q,
		.receive_depth = s->receives,
		.initiator_depth = SESSION_ECHO_DEPTH,
		.max_receive_sge = 1,
		.max_initiator_sge = 1,
		.inline_bytes = s->inline_bytes};
	nd_status st;

	if (s->state != SESSION_JOINING || hello->index >= s->params.qps || q->conn.qp != NULL)
		return NDPERF_NO_SESSION;
	q->region = s->buf.mem + hello->index * s->layout.region;
	st = nd_qp_create(s->pd, &o, &q->conn.qp);
	while (st == ND_SUCCESS && s->params.op == NDPERF_SEND && q->posted < s->receives)
		st = session_data_post(s, q);
	q->credited = s->receives;
	if (st == ND_SUCCESS) {
		q->conn.connector = connector;
		st = session_accept(s, &q->conn);
	}
	if (st == ND_SUCCESS)
		return NDPERF_WELCOME;
	q->conn.connector = NULL;
	return NDPERF_NO_RESOURCES;
}

void
session_poll_joining(struct session *s)
{
	nd_status st = nd_overlapped_status(&s->control.conn.ov);

	if (!s->control_up && st == ND_SUCCESS) {
		s->control_up = true;
		nd_connector_notify_disconnect(s->control.conn.connector, &s->gone);
	}
	for (uint32_t i = 0; i < s->params.qps && (st == ND_SUCCESS || st == ND_PENDING); i++) {
		struct session_qp *q = &s->qps[i];

		if (q->conn.connector == NULL || q->up)
			continue;
		st = nd_overlapped_status(&q->conn.ov);
		if (st == ND_SUCCESS) {
			q->up = true;
			s->up++;
			s->heard_ns = app_now_ns();
		}
	}
	if (st != ND_SUCCESS && st != ND_PENDING)
		session_fail(s, APP_EXIT_CONNECT, "the client went away while connecting (%s)",
			nd_status_name(st));
	else if (s->control_up && s->up == s->params.qps)
		s->state = SESSION_IDLE;
	else if (app_now_ns() - s->heard_ns > JOIN_WAIT_NS)
		session_fail(s, APP_EXIT_CONNECT, "the client did not make all its connections");
}
