/* SPDX-License-Identifier: BSD-3-Clause */
#include "session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/fail.h"

#define JOIN_WAIT_NS   (30 * APP_NS_PER_S) /* without progress */
#define ALIVE_EVERY_NS (5 * APP_NS_PER_S)
#define ECHO_DEPTH     16u

void
session_fail(struct session *s, int outcome, const char *what, ...)
{
	char text[256];
	va_list args;

	if (s->state == SESSION_ENDED)
		return;
	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	app_complain("%s: %s", s->peer, text);
	s->state = SESSION_ENDED;
	if (s->outcome == APP_EXIT_OK) /* the first is the cause */
		s->outcome = outcome;
}

static nd_status
create_objects(struct session *s)
{
	const struct ndperf_params *p = &s->params;
	nd_status st = nd_pd_create(s->adapter, &s->pd);

	if (st == ND_SUCCESS)
		st = control_create(&s->control, s->adapter, s->pd);
	if (st == ND_SUCCESS)
		st = nd_cq_create(s->adapter, p->qps * (s->receives + ECHO_DEPTH), &s->cq);
	if (st == ND_SUCCESS)
		st = buffer_create(&s->buf, s->adapter, s->pd, s->memory, s->layout.bytes,
			ND_MR_FLAG_ALLOW_REMOTE_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ);
	if (st == ND_SUCCESS)
		s->token = nd_mr_local_token(s->buf.mr);
	return st;
}

/* Receives at each queue pair; with verify each needs a slot of its own. */
static uint32_t
receive_depth(const struct session *s)
{
	uint32_t n = 2 * s->params.depth;

	if (s->params.op != NDPERF_SEND)
		return 1;
	if (n > s->info->max_receive_depth)
		n = s->info->max_receive_depth;
	if (n > s->info->max_cq_depth / s->params.qps - ECHO_DEPTH)
		n = s->info->max_cq_depth / s->params.qps - ECHO_DEPTH;
	if (s->params.verify && n > s->slots_max)
		n = s->slots_max;
	return n;
}

static nd_status
accept_with(struct session *s, struct conn *conn)
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
	s->receives = receive_depth(s);
	s->qps = calloc(s->params.qps, sizeof(*s->qps));
	snprintf(s->peer, sizeof(s->peer), "client");
	if (nd_connector_peer_address(connector, (struct sockaddr *)&peer.ss, &peer.bytes) ==
		ND_SUCCESS)
		app_addr_text(&peer, true, s->peer);
	if (s->qps == NULL || getrandom(&s->id, sizeof(s->id), 0) != sizeof(s->id) ||
		create_objects(s) != ND_SUCCESS) {
		session_destroy(s);
		return NULL;
	}
	s->control.conn.connector = connector;
	if (accept_with(s, &s->control.conn) != ND_SUCCESS) {
		s->control.conn.connector = NULL; /* stays the caller's */
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
		.initiator_depth = ECHO_DEPTH,
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
		st = accept_with(s, &q->conn);
	}
	if (st == ND_SUCCESS)
		return NDPERF_WELCOME;
	q->conn.connector = NULL;
	return NDPERF_NO_RESOURCES;
}

void
session_destroy(struct session *s)
{
	for (uint32_t i = 0; s->qps != NULL && i < s->params.qps; i++)
		conn_destroy(&s->qps[i].conn);
	control_destroy(&s->control);
	if (s->cq != NULL)
		nd_cq_close(s->cq);
	buffer_destroy(&s->buf);
	if (s->pd != NULL)
		nd_pd_close(s->pd);
	free(s->qps);
	free(s);
}

/* Connections that are being accepted. */
static void
join_look(struct session *s)
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

static void
send_control(struct session *s, const struct ndperf_msg *msg)
{
	nd_status st = control_send(&s->control, msg);

	/* No slot is free only if the client has taken nothing for many messages. */
	if (st != ND_SUCCESS)
		session_fail(s, APP_EXIT_TRANSFER, "can't answer (%s)", nd_status_name(st));
}

/* The disconnect ends a session well between steps, or when we know why. */
static void
session_check_connection(struct session *s)
{
	const struct ndperf_msg alive = {.type = NDPERF_ALIVE};
	uint64_t now = app_now_ns();

	if (s->state == SESSION_JOINING)
		join_look(s);
	if (!s->control_up || s->state == SESSION_ENDED)
		return;
	if (nd_overlapped_status(&s->gone) != ND_PENDING) {
		if (s->state == SESSION_IDLE || s->found.bad)
			s->state = SESSION_ENDED;
		else
			session_fail(
				s, APP_EXIT_TRANSFER, "the client went away in the middle of it");
		return;
	}
	if (now - s->told_ns > ALIVE_EVERY_NS) {
		s->told_ns = now;
		send_control(s, &alive);
	}
}

static void
begin_step(struct session *s, const struct ndperf_msg *msg)
{
	struct ndperf_msg ready = {.type = NDPERF_READY, .step = msg->step};

	if (s->state != SESSION_IDLE || msg->size == 0 || msg->size > s->params.max_bytes) {
		session_fail(s, APP_EXIT_TRANSFER, "the client begins a step it may not");
		return;
	}
	s->start = *msg;
	s->slots = ndperf_slots(&s->params, &s->layout, msg->size);
	s->seen = 0;
	s->done = false;
	memset(&s->found, 0, sizeof(s->found));
	for (uint32_t i = 0; i < s->params.qps; i++)
		s->qps[i].seen = 0;
	session_data_start(s);
	s->state = SESSION_STEP;
	send_control(s, &ready);
}

static void
answer_found(struct session *s, enum ndperf_msg_type type)
{
	struct ndperf_msg msg = s->found;

	msg.type = type;
	msg.step = s->start.step;
	send_control(s, &msg);
}

/* All messages of a send must have been seen before the step ends. */
static void
try_end_step(struct session *s)
{
	if (!s->done || (s->params.op == NDPERF_SEND && s->seen < s->total))
		return;
	answer_found(s, NDPERF_RESULT);
	if (s->state == SESSION_STEP)
		s->state = SESSION_IDLE;
}

static void
session_handle(struct session *s, const struct ndperf_msg *msg)
{
	if (msg->type == NDPERF_START) {
		begin_step(s, msg);
		return;
	}
	if (s->state != SESSION_STEP || msg->step != s->start.step) {
		session_fail(s, APP_EXIT_TRANSFER, "the client speaks out of turn");
		return;
	}
	switch (msg->type) {
	case NDPERF_CHECK:
		session_data_check(s, msg);
		answer_found(s, NDPERF_CHECKED);
		break;
	case NDPERF_DONE:
		s->done = true;
		s->total = msg->count;
		break;
	default:
		session_fail(s, APP_EXIT_TRANSFER, "the client speaks as only a server may");
	}
}

static bool
control_tick(struct session *s)
{
	char text[APP_RESULT_TEXT];
	struct ndperf_msg msg;

	switch (control_poll(&s->control, &msg)) {
	case CONTROL_NONE:
		return false;
	case CONTROL_MESSAGE:
		session_handle(s, &msg);
		return true;
	case CONTROL_GARBAGE:
		session_fail(s, APP_EXIT_TRANSFER, "the client sent what is no ndperf message");
		return true;
	case CONTROL_FAILED:
		break;
	}
	/* Flushed: the disconnect will be seen, and is judged there. */
	if (s->control.failure.status == ND_CANCELED) {
		session_check_connection(s);
		return s->state == SESSION_ENDED;
	}
	session_fail(
		s, APP_EXIT_TRANSFER, "control: %s", app_result_text(&s->control.failure, text));
	return true;
}

bool
session_tick(struct session *s)
{
	bool busy = false;

	s->ticks++;
	/* A START can be here before the word that the last connection is up: it waits in the
	 * queue. */
	if (s->state != SESSION_ENDED && s->state != SESSION_JOINING && !session_only_pings(s))
		busy = control_tick(s);
	if (s->state == SESSION_STEP) {
		busy |= session_data_tick(s);
		try_end_step(s);
	}
	if (s->state != SESSION_ENDED && !session_only_pings(s) &&
		(!busy || s->ticks % SESSION_LOOK_EVERY == 0))
		session_check_connection(s);
	return busy;
}

enum session_heat
session_heat(const struct session *s)
{
	if (s->state == SESSION_JOINING || session_awaits_ping(s))
		return SESSION_HOT;
	if (s->state == SESSION_STEP && s->params.op == NDPERF_SEND)
		return SESSION_WARM;
	return SESSION_COLD;
}
