/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bandwidth with perftest: the client keeps as many requests under way as the depth allows, on all
 * queue pairs. The server receives what the client sends; for the other operations it has nothing
 * to do.
 */
#include "bw.h"

#include "comm.h"
#include "common/clock.h"
#include "common/fail.h"
#include "step.h"
#include "test.h"

struct flow {
	struct perftest *p;
	uint64_t bytes;
	uint64_t goal, deadline_ns; /* messages of each queue pair, or the end of the time */
	bool sends, receives, closing;
	struct rate rate;
	uint64_t seen; /* messages that rate has counted */
};

static int
flow_post_all(struct flow *f)
{
	struct perftest *p = f->p;
	int rc = APP_EXIT_OK;

	for (uint32_t i = 0; i < p->opt->params.qps; i++) {
		struct perftest_qp *q = &p->qps[i];

		while (rc == APP_EXIT_OK && q->posted < f->goal &&
			q->posted - q->completed < p->depth) {
			bool visible = q->unsignaled + 1 >= p->opt->cq_mod ||
				       q->posted + 1 == f->goal ||
				       q->posted + 1 - q->completed == p->depth;

			rc = perftest_post(p, q, f->bytes, visible);
			q->unsignaled = visible ? 0 : q->unsignaled + 1;
		}
	}
	return rc;
}

/* The messages that the figures count: those that this end sent, or else those that it received. */
static uint64_t
flow_messages(const struct flow *f)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < f->p->opt->params.qps; i++)
		sum += f->sends ? f->p->qps[i].completed : f->p->qps[i].received;
	return sum;
}

static void
flow_measure(struct flow *f)
{
	uint64_t now = app_now_ns(), sum = flow_messages(f);

	if (sum > f->seen && f->seen == 0 && !f->sends)
		rate_start(&f->rate, now); /* a receiver's clock starts with its first message */
	else if (sum > f->seen)
		rate_add(&f->rate, now, sum - f->seen, (sum - f->seen) * f->bytes);
	f->seen = sum;
}

static bool
flow_is_complete(const struct flow *f)
{
	for (uint32_t i = 0; i < f->p->opt->params.qps; i++) {
		const struct perftest_qp *q = &f->p->qps[i];

		if ((f->sends && q->completed < q->posted) ||
			(f->sends && !f->closing && q->posted < f->goal) ||
			(f->receives && f->deadline_ns == 0 && q->received < f->goal))
			return false;
	}
	return f->sends || f->deadline_ns == 0;
}

/* The peer has gone on to its next step, and the queue is empty: nothing more will come. */
static int
flow_end_by_peer(struct flow *f, bool *over)
{
	if (f->deadline_ns != 0) {
		*over = true;
		return APP_EXIT_OK;
	}
	app_complain("the peer went on after %llu of %llu messages: -n must be the same at both "
		     "ends",
		(unsigned long long)flow_messages(f),
		(unsigned long long)f->goal * f->p->opt->params.qps);
	return APP_EXIT_TRANSFER;
}

/* Measuring by time: the sender stops when the time is over. It does not wait for the rest of its
 * sends: a peer that has stopped, too, never receives them. */
static bool
flow_end_by_time(struct flow *f)
{
	if (f->deadline_ns == 0 || !f->sends || app_now_ns() < f->deadline_ns)
		return false;
	f->closing = true;
	f->goal = 0;
	return f->p->opt->params.op == NDPERF_SEND;
}

int
perftest_bandwidth(struct perftest *p, uint64_t bytes, struct ndperf_row *row)
{
	const struct ndperf_options *o = p->opt;
	struct flow f = {.p = p,
		.bytes = bytes,
		.goal = o->iterations != 0 ? o->iterations : UINT64_MAX,
		.sends = !o->server || o->both_ways,
		.receives = o->params.op == NDPERF_SEND && (o->server || o->both_ways)};
	bool over = false;
	int rc = APP_EXIT_OK;

	rate_start(&f.rate, app_now_ns());
	if (o->iterations == 0)
		f.deadline_ns = app_now_ns() + (uint64_t)(o->seconds * (double)APP_NS_PER_S);
	while (rc == APP_EXIT_OK && !over) {
		/* Polling the exchange costs a system call, and means something only if the queue
		 * is empty. */
		bool went_on = !f.sends && p->idle.empty > 0 && perftest_peer_went_on(p);
		int32_t n;

		if (f.sends && !f.closing)
			rc = flow_post_all(&f);
		if (rc == APP_EXIT_OK)
			rc = perftest_take(p, bytes, &n);
		if (rc != APP_EXIT_OK)
			break;
		flow_measure(&f);
		p->idle.empty += n == 0;
		over = flow_end_by_time(&f) || flow_is_complete(&f);
		if (!over && went_on && n == 0)
			rc = flow_end_by_peer(&f, &over);
	}
	row->bytes = bytes;
	row->iterations = f.seen;
	rate_summarise(&f.rate, &row->rate);
	return rc;
}
