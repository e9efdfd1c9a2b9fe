/* SPDX-License-Identifier: BSD-3-Clause */
#include "tick.h"

#include <string.h>

#include "common/clock.h"
#include "common/fail.h"
#include "data.h"
#include "join.h"

#define ALIVE_EVERY_NS (5 * APP_NS_PER_S)

static void
session_send(struct session *s, const struct ndperf_msg *msg)
{
	nd_status st = control_send(&s->control, msg);

	/* It fails for want of a slot only if the client has taken no message for long. */
	if (st != ND_SUCCESS)
		session_fail(s, APP_EXIT_TRANSFER, "can't answer (%s)", nd_status_name(st));
}

/* Poll for the client's disconnect, and send ALIVE. A disconnect is the right end of a session
 * between steps, and expected after differing contents; else the session has failed. */
static void
session_poll_connection(struct session *s)
{
	const struct ndperf_msg alive = {.type = NDPERF_ALIVE};
	uint64_t now = app_now_ns();

	if (s->state == SESSION_JOINING)
		session_poll_joining(s);
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
		session_send(s, &alive);
	}
}

static void
session_begin_step(struct session *s, const struct ndperf_msg *msg)
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
	session_send(s, &ready);
}

static void
session_send_found(struct session *s, enum ndperf_msg_type type)
{
	struct ndperf_msg msg = s->found;

	msg.type = type;
	msg.step = s->start.step;
	session_send(s, &msg);
}

/* The step ends when the client is done and, for a send, the server has seen all messages. */
static void
session_try_end_step(struct session *s)
{
	if (!s->done || (s->params.op == NDPERF_SEND && s->seen < s->total))
		return;
	session_send_found(s, NDPERF_RESULT);
	if (s->state == SESSION_STEP)
		s->state = SESSION_IDLE;
}

static void
session_handle_message(struct session *s, const struct ndperf_msg *msg)
{
	if (msg->type == NDPERF_START) {
		session_begin_step(s, msg);
		return;
	}
	if (s->state != SESSION_STEP || msg->step != s->start.step) {
		session_fail(s, APP_EXIT_TRANSFER, "the client speaks out of turn");
		return;
	}
	switch (msg->type) {
	case NDPERF_CHECK:
		session_data_check(s, msg);
		session_send_found(s, NDPERF_CHECKED);
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
session_poll_control(struct session *s)
{
	char text[APP_RESULT_TEXT];
	struct ndperf_msg msg;

	switch (control_poll(&s->control, &msg)) {
	case CONTROL_NONE:
		return false;
	case CONTROL_MESSAGE:
		session_handle_message(s, &msg);
		return true;
	case CONTROL_GARBAGE:
		session_fail(s, APP_EXIT_TRANSFER, "the client sent what is no ndperf message");
		return true;
	case CONTROL_FAILED:
		break;
	}
	/* The request was flushed by a disconnect, which session_poll_connection() judges. */
	if (s->control.failure.status == ND_CANCELED) {
		session_poll_connection(s);
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
	/* A START can arrive before the event that the last connection is established: it stays
	 * in the queue until the session is idle. */
	if (s->state != SESSION_ENDED && s->state != SESSION_JOINING && !session_only_pings(s))
		busy = session_poll_control(s);
	if (s->state == SESSION_STEP) {
		busy |= session_data_tick(s);
		session_try_end_step(s);
	}
	if (s->state != SESSION_ENDED && !session_only_pings(s) &&
		(!busy || s->ticks % SESSION_POLL_EVERY == 0))
		session_poll_connection(s);
	return busy;
}
