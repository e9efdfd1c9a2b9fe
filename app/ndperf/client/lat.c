/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Latency: one message at a time on one queue pair. Write and send are ping-pong, and the client
 * reports half of their round trip. A read is one-sided, and the client reports its whole round
 * trip.
 */
#include "lat.h"

#include <string.h>

#include "common/clock.h"
#include "common/fail.h"
#include "ndperf/pattern.h"

#define SAMPLES_BY_TIME (1u << 20)
#define SAMPLES_MAX	(1u << 22)

struct lat {
	struct client *c;
	struct client_qp *q;
	uint64_t size;
	uint32_t flags;
	uint32_t answers; /* SEND: receives that completed and that no ping has waited for yet */
	uint32_t answer_bytes;
	struct latency samples;
};

/* Take completions; with nothing else to do, wait for one in the way that the user chose. */
static int
lat_reap(struct lat *l, bool nothing_else)
{
	struct client *c = l->c;
	struct nd_result r[CLIENT_BATCH];
	int32_t n;
	int rc = client_take(c, nothing_else, r, &n);

	for (int32_t i = 0; i < n && rc == APP_EXIT_OK; i++) {
		if (r[i].status != ND_SUCCESS) {
			rc = client_failed(c, &r[i], 0);
		} else if (r[i].request_type == ND_REQUEST_RECEIVE) {
			l->answers++;
			l->answer_bytes = r[i].bytes_transferred;
		} else {
			l->q->completed = (uintptr_t)r[i].request_context + 1;
		}
	}
	return rc;
}

/* A poll found nothing: yield, unless lat_reap() sleeps instead, and check the control connection
 * now and then. in_memory: the caller polled memory, not the completion queue. */
static int
lat_idle(struct lat *l, bool in_memory)
{
	int rc = in_memory ? client_run_own_server(l->c) : APP_EXIT_OK; /* lat_reap() has run it */

	if (rc != APP_EXIT_OK)
		return rc;
	if (in_memory || l->c->opt->wait == NDPERF_WAIT_POLL)
		app_idle_wait(&l->c->idle);
	else
		l->c->idle.empty++;
	if (l->c->idle.empty % CLIENT_POLLS_EVERY != 0)
		return APP_EXIT_OK;
	return client_poll_control(l->c);
}

/* Post the request of ping n. The queue has room: lat_ping() waits until fewer than depth requests
 * are yet to complete. */
static int
lat_post(struct lat *l, uint64_t n)
{
	struct client *c = l->c;
	struct client_qp *q = l->q;
	struct nd_sge sge = {q->region, (uint32_t)l->size, c->token};
	void *context = (void *)(uintptr_t)n;
	bool visible = q->unsignaled + 1 >= c->opt->cq_mod || c->opt->params.op == NDPERF_READ;
	uint32_t flags = l->flags | (visible ? 0 : ND_OP_FLAG_SILENT_SUCCESS);
	nd_status st;

	switch (c->opt->params.op) {
	case NDPERF_SEND:
		st = nd_qp_send(q->conn.qp, context, &sge, 1, flags);
		break;
	case NDPERF_READ:
		st = nd_qp_read(q->conn.qp, context, &sge, 1, q->remote, c->welcome.token, flags);
		break;
	default:
		st = nd_qp_write(q->conn.qp, context, &sge, 1, q->remote, c->welcome.token, flags);
		break;
	}
	if (st != ND_SUCCESS) {
		ndperf_report_clear(c->report);
		app_fail(st, "can't post message %llu", (unsigned long long)n);
		return APP_EXIT_TRANSFER;
	}
	q->posted++;
	q->unsignaled = visible ? 0 : q->unsignaled + 1;
	return APP_EXIT_OK;
}

/* The last byte of each write is a count; the server's answer has the same count in its last
 * byte. */
static int
lat_wait_write(struct lat *l, uint64_t n)
{
	const uint8_t *last = l->c->buf.mem + l->c->layout.echo + l->size - 1;
	int rc = APP_EXIT_OK;

	while (rc == APP_EXIT_OK && __atomic_load_n(last, __ATOMIC_ACQUIRE) != (uint8_t)(n + 1)) {
		rc = lat_idle(l, true);
		if (rc == APP_EXIT_OK && l->c->idle.empty % CLIENT_POLLS_EVERY == 0)
			rc = lat_reap(l, false); /* a failed request shows only there */
	}
	return rc;
}

static int
lat_wait_send(struct lat *l)
{
	struct client *c = l->c;
	struct nd_sge sge = {
		c->buf.mem + c->layout.echo, (uint32_t)c->opt->params.max_bytes, c->token};
	nd_status st;
	int rc = APP_EXIT_OK;

	while (rc == APP_EXIT_OK && l->answers == 0) {
		rc = lat_reap(l, true);
		if (rc == APP_EXIT_OK && l->answers == 0)
			rc = lat_idle(l, false);
	}
	if (rc != APP_EXIT_OK)
		return rc;
	l->answers--;
	st = nd_qp_receive(l->q->conn.qp, NULL, &sge, 1);
	if (st != ND_SUCCESS) {
		app_fail(st, "can't post a receive");
		return APP_EXIT_TRANSFER;
	}
	return APP_EXIT_OK;
}

static int
lat_wait_read(struct lat *l)
{
	int rc = APP_EXIT_OK;

	while (rc == APP_EXIT_OK && l->q->completed != l->q->posted) {
		rc = lat_reap(l, true);
		if (rc == APP_EXIT_OK && l->q->completed != l->q->posted)
			rc = lat_idle(l, false);
	}
	return rc;
}

static void
lat_prepare(struct lat *l, uint64_t n)
{
	enum ndperf_op op = l->c->opt->params.op;

	if (l->c->opt->params.verify && op == NDPERF_READ)
		memset(l->q->region, 0, l->size);
	else if (l->c->opt->params.verify)
		pattern_fill(l->q->region, l->size, 0, n);
	if (op == NDPERF_WRITE)
		l->q->region[l->size - 1] = (uint8_t)(n + 1);
}

static int
lat_check(struct lat *l, uint64_t n)
{
	struct client *c = l->c;
	const uint8_t *echo = c->buf.mem + c->layout.echo;
	uint64_t size = l->size, at = size;

	if (!c->opt->params.verify)
		return APP_EXIT_OK;
	switch (c->opt->params.op) {
	case NDPERF_READ:
		at = pattern_check(l->q->region, size, 0, 0);
		break;
	case NDPERF_SEND:
		at = l->answer_bytes == size ? pattern_check(echo, size, PATTERN_BACK, n) : 0;
		break;
	default: /* write: all bytes but the last, which is the count */
		at = pattern_check(echo, size - 1, PATTERN_BACK, n);
		at = at == size - 1 ? size : at;
		break;
	}
	return at == size ? APP_EXIT_OK : client_differs(c, 0, n, size, at);
}

static int
lat_ping(struct lat *l, uint64_t n, uint64_t *ns)
{
	struct client *c = l->c;
	uint64_t start;
	int rc = APP_EXIT_OK;

	lat_prepare(l, n);
	app_idle_reset(&c->idle);
	while (rc == APP_EXIT_OK && l->q->posted - l->q->completed >= c->opt->params.depth) {
		rc = lat_reap(l, true);
		if (rc == APP_EXIT_OK)
			rc = lat_idle(l, false);
	}
	start = app_now_ns();
	if (rc == APP_EXIT_OK)
		rc = lat_post(l, n);
	if (rc != APP_EXIT_OK)
		return rc;
	switch (c->opt->params.op) {
	case NDPERF_SEND:
		rc = lat_wait_send(l);
		break;
	case NDPERF_READ:
		rc = lat_wait_read(l);
		break;
	default:
		rc = lat_wait_write(l, n);
		break;
	}
	*ns = app_now_ns() - start;
	if (rc == APP_EXIT_OK)
		rc = lat_reap(l, false);
	return rc == APP_EXIT_OK ? lat_check(l, n) : rc;
}

static int
lat_ping_all(struct lat *l)
{
	const struct ndperf_options *o = l->c->opt;
	uint64_t warm = o->warmup, begin = 0, limit_ns = (uint64_t)(o->seconds * 1e9), now, ns;
	int rc = APP_EXIT_OK;

	for (uint64_t n = 0; rc == APP_EXIT_OK; n++) {
		if (n == warm)
			begin = app_now_ns();
		rc = lat_ping(l, n, &ns);
		if (rc != APP_EXIT_OK || n < warm)
			continue;
		latency_add(&l->samples, ns);
		now = app_now_ns();
		if (n % 64 == 0)
			ndperf_report_progress(l->c->report, l->size,
				o->iterations > 0 ? (double)(n - warm) / (double)o->iterations
						  : (double)(now - begin) / (double)limit_ns,
				now);
		if (n % CLIENT_POLLS_EVERY == 0)
			rc = client_poll_control(l->c);
		if (o->iterations > 0 ? n + 1 - warm >= o->iterations : now - begin >= limit_ns)
			break;
	}
	return rc;
}

int
client_latency(struct client *c, uint64_t size, struct ndperf_row *row)
{
	uint64_t want = c->opt->iterations > 0 ? c->opt->iterations : SAMPLES_BY_TIME;
	struct lat l = {.c = c, .q = &c->qps[0], .size = size};
	int rc;

	if (!latency_init(&l.samples, want < SAMPLES_MAX ? (uint32_t)want : SAMPLES_MAX)) {
		app_complain("no memory for samples");
		return APP_EXIT_LOCAL;
	}
	l.flags =
		c->opt->params.op != NDPERF_READ && size <= c->inline_bytes ? ND_OP_FLAG_INLINE : 0;
	rc = lat_ping_all(&l);
	latency_summarise(&l.samples, c->opt->params.op == NDPERF_READ ? 1.0 : 0.5, &row->lat);
	row->iterations = l.samples.count;
	latency_free(&l.samples);
	return rc;
}
