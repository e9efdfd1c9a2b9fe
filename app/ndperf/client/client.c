/* SPDX-License-Identifier: BSD-3-Clause */
#include "client.h"

#include "common/clock.h"
#include "common/fail.h"
#include "common/wait.h"
#include "ndperf/server/server.h"

#define ANSWER_WAIT_NS (30 * APP_NS_PER_S)

static int
client_control_broke(struct client *c, enum control_event ev)
{
	ndperf_report_clear(c->report);
	if (ev == CONTROL_GARBAGE)
		app_complain("the server sent something that is no ndperf message");
	else if (c->control.failure.status == ND_CANCELED)
		app_complain("the server ended the session; it says why");
	else
		app_fail_result(&c->control.failure, "the control connection broke");
	return APP_EXIT_TRANSFER;
}

int
client_failed(struct client *c, const struct nd_result *r, int32_t n)
{
	struct client_qp *q;

	ndperf_report_clear(c->report);
	if (n < 0) {
		app_fail(n, "completion queue");
		return APP_EXIT_TRANSFER;
	}
	q = r->qp_context;
	if (r->status == ND_CANCELED)
		app_complain("queue pair %u: the connection ended before its requests were done",
			q->index);
	else
		app_fail_result(r, "queue pair %u: message %llu", q->index,
			(unsigned long long)(uintptr_t)r->request_context);
	return APP_EXIT_TRANSFER;
}

static int
client_report_difference(struct client *c, const char *where, uint32_t qp, uint64_t message,
	uint64_t size, uint64_t offset)
{
	ndperf_report_clear(c->report);
	app_complain("contents differ at the %s: queue pair %u, message %llu of %llu bytes, "
		     "first at byte %llu",
		where, qp, (unsigned long long)message, (unsigned long long)size,
		(unsigned long long)offset);
	return APP_EXIT_VERIFY;
}

int
client_differs(struct client *c, uint32_t qp, uint64_t message, uint64_t size, uint64_t offset)
{
	return client_report_difference(c, "client", qp, message, size, offset);
}

int
client_run_own_server(struct client *c)
{
	return c->own_server == NULL || server_turn(c->own_server) ? APP_EXIT_OK : APP_EXIT_LOCAL;
}

int
client_poll_control(struct client *c)
{
	struct ndperf_msg msg;
	enum control_event ev;

	if (app_stopping())
		return APP_EXIT_SIGNAL;
	ev = control_poll(&c->control, &msg);
	if (ev == CONTROL_NONE || (ev == CONTROL_MESSAGE && msg.type == NDPERF_ALIVE))
		return APP_EXIT_OK;
	return client_control_broke(c, ev == CONTROL_MESSAGE ? CONTROL_GARBAGE : ev);
}

int
client_take(struct client *c, bool nothing_else, struct nd_result *r, int32_t *n)
{
	enum ndperf_wait wait = c->opt->wait;
	int rc = client_run_own_server(c);

	if (rc != APP_EXIT_OK)
		return rc;
	*n = nd_cq_get_results(c->cq, r, CLIENT_BATCH);
	if (*n < 0)
		return client_failed(c, NULL, *n);
	if (*n > 0 || !nothing_else || wait == NDPERF_WAIT_POLL ||
		(wait == NDPERF_WAIT_ADAPTIVE && app_idle_stay(&c->idle)))
		return APP_EXIT_OK;
	*n = app_cq_wait(c->cq, r, CLIENT_BATCH, CLIENT_SLEEP_MS);
	if (*n < 0)
		return client_failed(c, NULL, *n);
	return *n > 0 ? APP_EXIT_OK : client_poll_control(c);
}

static int
client_check_answer(struct client *c, const struct ndperf_msg *msg, uint64_t size)
{
	if (!msg->bad)
		return APP_EXIT_OK;
	return client_report_difference(c, "server", msg->qp, msg->message, size, msg->offset);
}

int
client_ask(struct client *c, struct ndperf_msg *msg, enum ndperf_msg_type answer)
{
	uint64_t start = app_now_ns(), size = msg->size;
	enum control_event ev;
	nd_status st;
	int rc = APP_EXIT_OK;

	msg->step = c->step;
	st = control_send(&c->control, msg);
	if (st != ND_SUCCESS) {
		app_fail(st, "can't ask the server");
		return APP_EXIT_TRANSFER;
	}
	app_idle_reset(&c->idle);
	while (app_now_ns() - start < ANSWER_WAIT_NS) {
		rc = client_run_own_server(c);
		if (rc != APP_EXIT_OK)
			return rc;
		ev = control_poll(&c->control, msg);
		if (ev == CONTROL_MESSAGE && msg->type == answer && msg->step == c->step)
			return client_check_answer(c, msg, size);
		if (ev == CONTROL_MESSAGE && msg->type == NDPERF_ALIVE)
			continue;
		if (ev != CONTROL_NONE)
			return client_control_broke(
				c, ev == CONTROL_MESSAGE ? CONTROL_GARBAGE : ev);
		if (app_stopping())
			return APP_EXIT_SIGNAL;
		if (c->opt->wait == NDPERF_WAIT_POLL)
			app_idle_wait(&c->idle);
		else if (!app_idle_stay(&c->idle))
			app_cq_sleep(c->control.cq, CLIENT_SLEEP_MS);
	}
	app_complain("the server has not answered for %d s", (int)(ANSWER_WAIT_NS / APP_NS_PER_S));
	return APP_EXIT_TRANSFER;
}
