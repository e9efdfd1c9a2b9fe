/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Latency with perftest: one message at a time. Sends and writes go back and forth, and both ends
 * report half of the time from one of their messages to the next. For reads and atomics the client
 * alone reports, and what it reports is the whole round trip. The last byte of a write counts the
 * writes from one, modulo 256.
 */
#include "lat.h"

#include "comm.h"
#include "common/clock.h"
#include "common/fail.h"
#include "common/wait.h"
#include "step.h"
#include "test.h"

#define SAMPLES	    (1u << 20)
#define CHECK_EVERY 1024u

struct ping {
	struct perftest *p;
	struct perftest_qp *q;
	uint64_t bytes, deadline_ns;
	struct latency samples;
	uint64_t before_ns; /* time of the last post */
};

static int
ping_post(struct ping *l)
{
	uint64_t now = app_now_ns();

	if (l->before_ns != 0)
		latency_add(&l->samples, now - l->before_ns);
	l->before_ns = now;
	if (l->p->opt->params.op == NDPERF_WRITE)
		l->q->out[l->bytes - 1] = (uint8_t)(l->q->posted + 1);
	return perftest_post(l->p, l->q, l->bytes, true);
}

static int
ping_wait_completed(struct ping *l)
{
	int rc = APP_EXIT_OK;
	int32_t n;

	while (rc == APP_EXIT_OK && l->q->completed < l->q->posted)
		rc = perftest_take(l->p, l->bytes, &n);
	return rc;
}

/* The peer has gone on: the message that this end waits for will not come. */
static int
ping_missing(struct ping *l, uint64_t n)
{
	app_complain("the peer went on after %llu of %llu messages: -n must be the same at both "
		     "ends",
		(unsigned long long)n, (unsigned long long)l->p->opt->iterations);
	return APP_EXIT_TRANSFER;
}

static int
ping_wait_send(struct ping *l, uint64_t n)
{
	int rc = APP_EXIT_OK;

	while (rc == APP_EXIT_OK && l->q->received < n) {
		bool went_on = l->p->idle.empty > CHECK_EVERY && perftest_peer_went_on(l->p);
		int32_t got;

		rc = perftest_take(l->p, l->bytes, &got);
		l->p->idle.empty += got == 0;
		if (rc == APP_EXIT_OK && got == 0 && went_on && l->q->received < n)
			rc = ping_missing(l, l->q->received);
	}
	return rc;
}

/* A write that arrives makes no event, so this wait polls and never sleeps. */
static int
ping_wait_write(struct ping *l, uint64_t n)
{
	const uint8_t *last = l->q->in + l->bytes - 1;
	struct perftest *p = l->p;

	app_idle_reset(&p->idle);
	p->moved_ns = app_now_ns();
	while (__atomic_load_n(last, __ATOMIC_ACQUIRE) != (uint8_t)n) {
		app_idle_wait(&p->idle);
		if (p->idle.empty % CHECK_EVERY != 0)
			continue;
		if (app_stopping())
			return APP_EXIT_SIGNAL;
		/* A peer that is done sends its next message, or leaves, after its last write. */
		if (perftest_peer_went_on(p) &&
			__atomic_load_n(last, __ATOMIC_ACQUIRE) != (uint8_t)n)
			return ping_missing(l, n - 1);
	}
	return APP_EXIT_OK;
}

/* The first message is the client's in ib_send_lat and the server's in ib_write_lat: so do
 * perftest's functions run_iter_lat_send() and run_iter_lat_write(). */
static int
ping_both_ways(struct ping *l)
{
	const struct ndperf_options *o = l->p->opt;
	bool sends = o->params.op == NDPERF_SEND, first = sends != o->server;
	int rc = APP_EXIT_OK;

	for (uint64_t n = 1; rc == APP_EXIT_OK && n <= o->iterations; n++) {
		if (first)
			rc = ping_post(l);
		if (rc == APP_EXIT_OK)
			rc = sends ? ping_wait_send(l, n) : ping_wait_write(l, n);
		if (rc == APP_EXIT_OK && !first)
			rc = ping_post(l);
		/* The peer's message shows that this end's has arrived, so the completion is here
		 * or near; taking it now keeps the queue short. */
		if (rc == APP_EXIT_OK)
			rc = ping_wait_completed(l);
	}
	return rc;
}

static int
ping_one_sided(struct ping *l)
{
	const struct ndperf_options *o = l->p->opt;
	int rc = APP_EXIT_OK;

	for (uint64_t n = 0; rc == APP_EXIT_OK; n++) {
		uint64_t now = app_now_ns();

		if (o->iterations != 0 ? n == o->iterations : now >= l->deadline_ns)
			break;
		rc = perftest_post(l->p, l->q, l->bytes, true);
		if (rc == APP_EXIT_OK)
			rc = ping_wait_completed(l);
		if (rc == APP_EXIT_OK)
			latency_add(&l->samples, app_now_ns() - now);
	}
	return rc;
}

int
perftest_latency(struct perftest *p, uint64_t bytes, struct ndperf_row *row)
{
	enum ndperf_op op = p->opt->params.op;
	bool both = op == NDPERF_SEND || op == NDPERF_WRITE;
	struct ping l = {.p = p, .q = &p->qps[0], .bytes = bytes};
	int rc;

	if (!latency_init(&l.samples, SAMPLES)) {
		app_complain("no memory for samples");
		return APP_EXIT_LOCAL;
	}
	l.deadline_ns = app_now_ns() + (uint64_t)(p->opt->seconds * (double)APP_NS_PER_S);
	rc = both ? ping_both_ways(&l) : ping_one_sided(&l);
	row->bytes = bytes;
	row->iterations = l.q->posted;
	latency_summarise(&l.samples, both ? 0.5 : 1.0, &row->lat);
	latency_free(&l.samples);
	return rc;
}
