/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Latency with perftest: one message at a time. Sends and writes go back and forth, and both ends
 * report half of the time from one to the next; of reads and atomics the requester reports the
 * whole round trip. The last byte of a write counts, modulo 256, from one.
 */
#include "common/fail.h"
#include "common/wait.h"
#include "perftest.h"
#include "perftest_comm.h"
#include "perftest_step.h"

#define SAMPLES	   (1u << 20)
#define LOOK_EVERY 1024u

struct ping {
	struct perftest *p;
	struct perftest_qp *q;
	uint64_t bytes, deadline_ns;
	struct latency samples;
	uint64_t before_ns; /* the last post */
};

static int
lat_post(struct ping *l)
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
wait_completed(struct ping *l)
{
	int rc = APP_EXIT_OK;
	int32_t n;

	while (rc == APP_EXIT_OK && l->q->completed < l->q->posted)
		rc = perftest_take(l->p, l->bytes, &n);
	return rc;
}

/* A message of the peer's that is not yet here and will not come. */
static int
lat_missing(struct ping *l, uint64_t n)
{
	app_complain("the peer went on after %llu of %llu messages: -n must be the same at both "
		     "ends",
		(unsigned long long)n, (unsigned long long)l->p->opt->iterations);
	return APP_EXIT_TRANSFER;
}

static int
wait_send(struct ping *l, uint64_t n)
{
	int rc = APP_EXIT_OK;

	while (rc == APP_EXIT_OK && l->q->received < n) {
		bool stirs = l->p->idle.empty > LOOK_EVERY && perftest_has_news(l->p);
		int32_t got;

		rc = perftest_take(l->p, l->bytes, &got);
		l->p->idle.empty += got == 0;
		if (rc == APP_EXIT_OK && got == 0 && stirs && l->q->received < n)
			rc = lat_missing(l, l->q->received);
	}
	return rc;
}

/* Memory makes no event: this one always polls. */
static int
wait_write(struct ping *l, uint64_t n)
{
	const uint8_t *last = l->q->in + l->bytes - 1;
	struct perftest *p = l->p;

	app_idle_reset(&p->idle);
	p->moved_ns = app_now_ns();
	while (__atomic_load_n(last, __ATOMIC_ACQUIRE) != (uint8_t)n) {
		app_idle_wait(&p->idle);
		if (p->idle.empty % LOOK_EVERY != 0)
			continue;
		if (app_stopping())
			return APP_EXIT_SIGNAL;
		/* A peer that is done sends a message, or leaves, behind its last write. */
		if (perftest_has_news(p) && __atomic_load_n(last, __ATOMIC_ACQUIRE) != (uint8_t)n)
			return lat_missing(l, n - 1);
	}
	return APP_EXIT_OK;
}

/* ib_send_lat's client begins, ib_write_lat's server (4.5). */
static int
back_and_forth(struct ping *l)
{
	const struct ndperf_options *o = l->p->opt;
	bool sends = o->params.op == NDPERF_SEND, first = sends != o->server;
	int rc = APP_EXIT_OK;

	for (uint64_t n = 1; rc == APP_EXIT_OK && n <= o->iterations; n++) {
		if (first)
			rc = lat_post(l);
		if (rc == APP_EXIT_OK)
			rc = sends ? wait_send(l, n) : wait_write(l, n);
		if (rc == APP_EXIT_OK && !first)
			rc = lat_post(l);
		/* Done long ago, or nearly: the queue stays short. */
		if (rc == APP_EXIT_OK)
			rc = wait_completed(l);
	}
	return rc;
}

static int
there_and_back(struct ping *l)
{
	const struct ndperf_options *o = l->p->opt;
	int rc = APP_EXIT_OK;

	for (uint64_t n = 0; rc == APP_EXIT_OK; n++) {
		uint64_t now = app_now_ns();

		if (o->iterations != 0 ? n == o->iterations : now >= l->deadline_ns)
			break;
		rc = perftest_post(l->p, l->q, l->bytes, true);
		if (rc == APP_EXIT_OK)
			rc = wait_completed(l);
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
	rc = both ? back_and_forth(&l) : there_and_back(&l);
	row->bytes = bytes;
	row->iterations = l.q->posted;
	latency_summarise(&l.samples, both ? 0.5 : 1.0, &row->lat);
	latency_free(&l.samples);
	return rc;
}
