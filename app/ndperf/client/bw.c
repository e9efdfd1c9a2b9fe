/* SPDX-License-Identifier: BSD-3-Clause */
/* Bandwidth: the client keeps as many requests under way as depth allows, on all queue pairs in
 * turns. */
#include "bw.h"

#include <endian.h>
#include <string.h>

#include "common/clock.h"
#include "common/fail.h"
#include "ndperf/pattern.h"

/* A step, or within it a phase: warm-up, measurement. */
struct bw {
	struct client *c;
	uint64_t size;
	uint32_t slots;
	uint32_t window; /* requests under way at a queue pair */
	uint32_t cq_mod;
	uint32_t flags;
	uint64_t last; /* each queue pair ends the phase after this message; UINT64_MAX: by time */
	uint64_t begin_ns, deadline_ns;
	struct rate rate;
};

/* Fill the slot of the next message. A read brings the server's contents: message n of a read has
 * what the server filled into n's slot, and the client clears its own slot before. */
static uint8_t *
bw_prepare_slot(const struct bw *b, const struct client_qp *q)
{
	uint8_t *at = q->region + q->slot * ndperf_stride(b->size);

	if (b->c->opt->params.verify && b->c->opt->params.op == NDPERF_READ)
		memset(at, 0, b->size);
	else if (b->c->opt->params.verify)
		pattern_fill(at, b->size, q->index, q->posted);
	return at;
}

/* May the client send so many more messages? The server writes the credits with one aligned 8-byte
 * RDMA write, so the client never sees half of a value. */
static bool
bw_has_credit(const struct bw *b, const struct client_qp *q, uint64_t messages)
{
	return b->c->opt->params.op != NDPERF_SEND ||
	       q->sent + messages <= le64toh(__atomic_load_n(q->credits, __ATOMIC_ACQUIRE));
}

static nd_status
bw_post(struct bw *b, struct client_qp *q)
{
	struct client *c = b->c;
	struct nd_sge sge = {bw_prepare_slot(b, q), (uint32_t)b->size, c->token};
	uint64_t remote = q->remote + q->slot * ndperf_stride(b->size);
	void *context = (void *)(uintptr_t)q->posted;
	/* The message with the last credit completes visibly too: credits make no event, so this
	 * completion is what wakes a client that sleeps until it may post again. */
	bool visible = q->unsignaled + 1 >= b->cq_mod || q->posted + 1 == q->limit ||
		       !bw_has_credit(b, q, 2);
	uint32_t flags = b->flags | (visible ? 0 : ND_OP_FLAG_SILENT_SUCCESS);
	nd_status st;

	switch (c->opt->params.op) {
	case NDPERF_SEND:
		st = nd_qp_send(q->conn.qp, context, &sge, 1, flags);
		break;
	case NDPERF_READ:
		st = nd_qp_read(q->conn.qp, context, &sge, 1, remote, c->welcome.token, flags);
		break;
	default:
		st = nd_qp_write(q->conn.qp, context, &sge, 1, remote, c->welcome.token, flags);
		break;
	}
	if (st != ND_SUCCESS)
		return st;
	q->posted++;
	q->sent++;
	q->slot = q->slot + 1 < b->slots ? q->slot + 1 : 0;
	q->unsignaled = visible ? 0 : q->unsignaled + 1;
	return ND_SUCCESS;
}

/* Fill all queues. *more: some queue pair has not completed all messages up to its limit. */
static int
bw_post_round(struct bw *b, uint32_t *posted, bool *more)
{
	struct client *c = b->c;
	nd_status st;

	*posted = 0;
	*more = false;
	for (uint32_t i = 0; i < c->opt->params.qps; i++) {
		struct client_qp *q = &c->qps[i];

		*more |= q->completed != q->limit;
		while (q->posted < q->limit && q->posted - q->completed < b->window &&
			bw_has_credit(b, q, 1)) {
			st = bw_post(b, q);
			/* The queue is full, or the connection ended: in the second case the
			 * completions to come have the reason, and bw_reap() prints it. */
			if (st == ND_NO_MORE_ENTRIES ||
				(st == ND_CONNECTION_INVALID && q->posted > q->completed))
				break;
			if (st != ND_SUCCESS) {
				ndperf_report_clear(c->report);
				app_fail(st, "queue pair %u: can't post message %llu", i,
					(unsigned long long)q->posted);
				return APP_EXIT_TRANSFER;
			}
			++*posted;
		}
	}
	return APP_EXIT_OK;
}

/* Messages up to n of q have completed. Those of a read lie in the client's memory: check them. */
static int
bw_complete(struct bw *b, struct client_qp *q, uint64_t n, uint64_t *messages)
{
	struct client *c = b->c;
	bool check = c->opt->params.verify && c->opt->params.op == NDPERF_READ;
	uint64_t stride = ndperf_stride(b->size);

	*messages += n + 1 - q->completed;
	for (uint64_t k = q->completed; check && k <= n; k++) {
		uint32_t slot = (uint32_t)(k % b->slots);
		size_t at = pattern_check(q->region + slot * stride, b->size, q->index, slot);

		if (at < b->size)
			return client_differs(c, q->index, k, b->size, at);
	}
	q->completed = n + 1;
	return APP_EXIT_OK;
}

/* Take completions and count their messages; wait for some if there is nothing else to do. */
static int
bw_reap(struct bw *b, bool nothing_else, uint64_t *messages)
{
	struct client *c = b->c;
	struct nd_result r[CLIENT_BATCH];
	int32_t n;
	int rc = client_take(c, nothing_else, r, &n);

	*messages = 0;
	for (int32_t i = 0; i < n && rc == APP_EXIT_OK; i++) {
		if (r[i].status != ND_SUCCESS)
			return client_failed(c, &r[i], 0);
		rc = bw_complete(b, r[i].qp_context, (uintptr_t)r[i].request_context, messages);
	}
	return rc;
}

static uint64_t
client_requests_under_way(const struct client *c)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->opt->params.qps; i++)
		sum += c->qps[i].posted - c->qps[i].completed;
	return sum;
}

static bool
bw_checked_at_server(const struct bw *b)
{
	return b->c->opt->params.verify && b->c->opt->params.op == NDPERF_WRITE;
}

/* Set the message up to which each queue pair may post now. */
static void
bw_set_limits(struct bw *b)
{
	for (uint32_t i = 0; i < b->c->opt->params.qps; i++) {
		struct client_qp *q = &b->c->qps[i];

		q->limit = b->last;
		/* The server must check a window before the next one overwrites it. */
		if (bw_checked_at_server(b) && q->limit - q->posted > b->slots)
			q->limit = q->posted + b->slots;
	}
}

/* The time is over: post nothing but, where the last requests are silent, one that completes
 * visibly and so tells that they are done. */
static void
bw_wind_up(struct bw *b)
{
	b->last = 0;
	for (uint32_t i = 0; i < b->c->opt->params.qps; i++) {
		struct client_qp *q = &b->c->qps[i];

		if (q->posted < q->limit)
			q->limit = q->posted + (q->unsignaled > 0);
	}
}

/* All queue pairs have completed their window of writes: let the server check it. */
static int
bw_check_window(struct bw *b, uint64_t first, bool *more)
{
	struct client *c = b->c;
	struct ndperf_msg msg = {.type = NDPERF_CHECK,
		.size = b->size,
		.message = first,
		.count = c->qps[0].completed - first};
	int rc = client_ask(c, &msg, NDPERF_CHECKED);

	*more = c->qps[0].completed < b->last;
	for (uint32_t i = 0; i < c->opt->params.qps; i++)
		c->qps[i].slot = 0;
	if (*more)
		bw_set_limits(b);
	return rc;
}

static void
bw_show_progress(struct bw *b, uint64_t now)
{
	struct client *c = b->c;
	double done;

	if (b->last == UINT64_MAX)
		done = (double)(now - b->begin_ns) / (double)(b->deadline_ns - b->begin_ns);
	else
		done = b->last > 0 ? (double)c->qps[0].completed / (double)b->last : 1.0;
	ndperf_report_progress(c->report, b->size, done, now);
}

/* Post and reap until all queue pairs have completed what their limits say, or the time is over. */
static int
bw_run_window(struct bw *b, bool timed)
{
	struct client *c = b->c;
	uint32_t posted, rounds = 0;
	uint64_t messages, now;
	bool more;
	int rc = bw_post_round(b, &posted, &more);

	app_idle_reset(&c->idle);
	while (rc == APP_EXIT_OK && more) {
		rc = bw_reap(b, posted == 0 && client_requests_under_way(c) > 0, &messages);
		now = app_now_ns();
		if (messages > 0)
			rate_add(&b->rate, now, messages, messages * b->size);
		if (timed && b->last == UINT64_MAX && now >= b->deadline_ns &&
			!bw_checked_at_server(b))
			bw_wind_up(b);
		if (++rounds % CLIENT_POLLS_EVERY == 0) {
			bw_show_progress(b, now);
			rc = rc == APP_EXIT_OK ? client_poll_control(c) : rc;
		}
		if (rc == APP_EXIT_OK)
			rc = bw_post_round(b, &posted, &more);
		if (messages > 0 || posted > 0)
			app_idle_reset(&c->idle);
		else if (c->opt->wait == NDPERF_WAIT_POLL || client_requests_under_way(c) == 0)
			app_idle_wait(&c->idle); /* credits make no event: keep polling */
	}
	return rc;
}

/* Run count more messages of each queue pair, or, with count 0, as many as the time allows. */
static int
bw_run_phase(struct bw *b, uint64_t count)
{
	struct client *c = b->c;
	uint64_t first = c->qps[0].posted;
	bool more = true;
	int rc = APP_EXIT_OK;

	b->last = count > 0 ? first + count : UINT64_MAX;
	b->begin_ns = app_now_ns();
	b->deadline_ns = b->begin_ns + (uint64_t)(c->opt->seconds * 1e9);
	rate_start(&b->rate, b->begin_ns);
	bw_set_limits(b);
	while (rc == APP_EXIT_OK && more) {
		rc = bw_run_window(b, count == 0);
		more = false;
		if (rc != APP_EXIT_OK || !bw_checked_at_server(b))
			continue;
		if (count == 0 && app_now_ns() >= b->deadline_ns)
			b->last = 0;
		rc = bw_check_window(b, first, &more);
		first = c->qps[0].posted;
	}
	return rc;
}

int
client_bandwidth(struct client *c, uint64_t size, struct ndperf_row *row)
{
	const struct ndperf_options *o = c->opt;
	struct bw b = {.c = c, .size = size, .cq_mod = o->cq_mod};
	int rc = APP_EXIT_OK;

	b.slots = ndperf_slots(&o->params, &c->layout, size);
	/* A message whose contents are yet to be checked or fetched needs a slot of its own. */
	b.window = o->params.verify ? b.slots : o->params.depth;
	if (b.cq_mod > b.window)
		b.cq_mod = b.window;
	b.flags = o->params.op != NDPERF_READ && size <= c->inline_bytes ? ND_OP_FLAG_INLINE : 0;
	if (o->warmup > 0)
		rc = bw_run_phase(&b, o->warmup);
	if (rc == APP_EXIT_OK)
		rc = bw_run_phase(&b, o->iterations);
	rate_summarise(&b.rate, &row->rate);
	row->iterations = b.rate.messages;
	return rc;
}
