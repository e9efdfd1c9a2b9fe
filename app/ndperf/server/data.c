/* SPDX-License-Identifier: BSD-3-Clause */
#include "data.h"

#include "common/fail.h"
#include "ndperf/pattern.h"

#define BATCH 32

static void
session_differs(struct session *s, uint32_t qp, uint64_t message, uint64_t offset)
{
	if (s->found.bad)
		return; /* only the first is reported */
	s->outcome = APP_EXIT_VERIFY;
	s->found = (struct ndperf_msg){.bad = true, .qp = qp, .message = message, .offset = offset};
	app_complain("%s: contents differ: queue pair %u, message %llu of %llu bytes, first at "
		     "byte %llu",
		s->peer, qp, (unsigned long long)message, (unsigned long long)s->start.size,
		(unsigned long long)offset);
}

nd_status
session_data_post(struct session *s, struct session_qp *q)
{
	uint8_t *at = q->region + q->next_receive * ndperf_stride(s->params.max_bytes);
	struct nd_sge sge = {at, (uint32_t)s->params.max_bytes, s->token};
	nd_status st = nd_qp_receive(q->conn.qp, at, &sge, 1);

	if (st == ND_SUCCESS) {
		q->posted++;
		q->next_receive = q->next_receive + 1 < s->slots_max ? q->next_receive + 1 : 0;
	}
	return st;
}

void
session_data_start(struct session *s)
{
	uint64_t stride = ndperf_stride(s->start.size);

	/* In latency of write the last byte counts the pings from 1. */
	if (s->params.op == NDPERF_WRITE && s->params.mode == NDPERF_LAT)
		s->buf.mem[s->start.size - 1] = 0;
	if (s->params.op != NDPERF_READ || !s->params.verify)
		return;
	for (uint32_t i = 0; i < s->params.qps; i++)
		for (uint32_t slot = 0; slot < s->slots; slot++)
			pattern_fill(s->qps[i].region + slot * stride, s->start.size, i, slot);
}

void
session_data_check(struct session *s, const struct ndperf_msg *window)
{
	uint64_t size = s->start.size, stride = ndperf_stride(size);

	if (s->params.op != NDPERF_WRITE || window->count > s->slots) {
		session_fail(s, APP_EXIT_TRANSFER, "the client asks for a check it may not");
		return;
	}
	for (uint32_t i = 0; i < s->params.qps; i++) {
		for (uint64_t k = 0; k < window->count; k++) {
			uint64_t n = window->message + k;
			size_t at = pattern_check(s->qps[i].region + k * stride, size, i, n);

			if (at < size)
				session_differs(s, i, n, at);
		}
	}
}

/* Fill the place for answers with the contents of the answer to ping n. */
static uint8_t *
session_echo_prepare(struct session *s, uint64_t n)
{
	uint8_t *echo = s->buf.mem + s->layout.echo;

	if (s->params.verify)
		pattern_fill(echo, s->start.size, PATTERN_BACK, n);
	return echo;
}

static uint32_t
session_echo_flags(const struct session *s)
{
	return s->start.size <= s->inline_bytes ? ND_OP_FLAG_INLINE : 0;
}

static void
session_echo_posted(struct session *s, nd_status st)
{
	if (st == ND_SUCCESS)
		s->echoes++;
	else
		session_fail(s, APP_EXIT_TRANSFER, "can't answer a ping (%s)", nd_status_name(st));
}

static void
session_echo_send(struct session *s, uint64_t n)
{
	struct nd_sge sge = {session_echo_prepare(s, n), (uint32_t)s->start.size, s->token};

	session_echo_posted(s, nd_qp_send(s->qps[0].conn.qp, NULL, &sge, 1, session_echo_flags(s)));
}

/* Latency of write: if the next ping has come, answer it and return true. */
static bool
session_echo_write(struct session *s)
{
	uint64_t n = s->seen, size = s->start.size;
	const uint8_t *last = s->buf.mem + size - 1;
	struct nd_sge sge;
	size_t at;

	if (__atomic_load_n(last, __ATOMIC_ACQUIRE) != (uint8_t)(n + 1))
		return false;
	if (s->params.verify) {
		at = pattern_check(s->buf.mem, size - 1, 0, n);
		if (at < size - 1)
			session_differs(s, 0, n, at);
	}
	sge = (struct nd_sge){session_echo_prepare(s, n), (uint32_t)size, s->token};
	((uint8_t *)sge.buffer)[size - 1] = (uint8_t)(n + 1);
	s->seen++;
	session_echo_posted(
		s, nd_qp_write(s->qps[0].conn.qp, NULL, &sge, 1, s->start.address + s->layout.echo,
			   s->start.token, session_echo_flags(s)));
	return true;
}

/* A message of a send has arrived: check it, post its receive again, answer it if it is a ping. */
static void
session_receive(struct session *s, const struct nd_result *r)
{
	struct session_qp *q = r->qp_context;
	uint32_t i = (uint32_t)(q - s->qps);
	uint64_t n = q->seen++;
	size_t at;
	nd_status st;

	s->seen++;
	if (r->bytes_transferred != s->start.size) {
		session_differs(s, i, n, r->bytes_transferred);
	} else if (s->params.verify) {
		at = pattern_check(r->request_context, r->bytes_transferred, i, n);
		if (at < r->bytes_transferred)
			session_differs(s, i, n, at);
	}
	st = session_data_post(s, q);
	if (st != ND_SUCCESS) {
		session_fail(s, APP_EXIT_TRANSFER, "can't post a receive (%s)", nd_status_name(st));
		return;
	}
	/* Credits are given in batches; the client still has most of its credits when a batch
	 * comes. */
	if (q->posted - q->credited >= (s->receives + 3) / 4)
		s->credits_due = true;
	if (s->params.mode == NDPERF_LAT)
		session_echo_send(s, n);
}

/* Tell the client of the receives that were posted since the last credits. If the control queue is
 * full, the rest waits for the next tick. */
static void
session_give_credits(struct session *s)
{
	s->credits_due = false;
	for (uint32_t i = 0; i < s->params.qps; i++) {
		struct session_qp *q = &s->qps[i];
		uint64_t at = s->start.address + s->layout.credits + 8ull * i;
		nd_status st;

		if (q->posted - q->credited < (s->receives + 3) / 4)
			continue;
		st = control_write(&s->control, q->posted, at, s->start.token);
		if (st == ND_NO_MORE_ENTRIES) {
			s->credits_due = true;
			return;
		}
		if (st != ND_SUCCESS) {
			session_fail(s, APP_EXIT_TRANSFER, "can't give credits (%s)",
				nd_status_name(st));
			return;
		}
		q->credited = q->posted;
	}
}

static void
session_complete(struct session *s, const struct nd_result *r)
{
	char text[APP_RESULT_TEXT];

	if (r->status != ND_SUCCESS) {
		/* The request was flushed by a disconnect, which session_poll_connection()
		 * judges. */
		if (r->status != ND_CANCELED)
			session_fail(s, APP_EXIT_TRANSFER, "a request failed: %s",
				app_result_text(r, text));
		return;
	}
	if (r->request_type == ND_REQUEST_RECEIVE)
		session_receive(s, r);
	else
		s->echoes--;
}

bool
session_data_tick(struct session *s)
{
	struct nd_result r[BATCH];
	int32_t n;

	if (session_awaits_ping(s) && s->echoes < BATCH / 2) {
		if (session_echo_write(s))
			return true;
		if (session_only_pings(s))
			return false;
	}
	n = nd_cq_get_results(s->cq, r, BATCH);
	if (n < 0) {
		session_fail(s, APP_EXIT_TRANSFER, "completion queue: %s", nd_status_name(n));
		return true;
	}
	for (int32_t i = 0; i < n && s->state == SESSION_STEP; i++)
		session_complete(s, &r[i]);
	if (s->credits_due)
		session_give_credits(s);
	return n > 0;
}
