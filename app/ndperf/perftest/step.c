/* SPDX-License-Identifier: BSD-3-Clause */
#include "step.h"

#include <arpa/inet.h>

#include "common/clock.h"
#include "common/fail.h"
#include "common/wait.h"
#include "test.h"

#define BATCH	    32u
#define PATIENCE_NS (30 * APP_NS_PER_S)
#define SLEEP_MS    50

static nd_status
step_post_receives(struct perftest *p, struct perftest_qp *q, uint64_t bytes)
{
	uint64_t limit = p->opt->iterations != 0 ? p->opt->iterations : UINT64_MAX;
	struct nd_sge sge = {q->in, (uint32_t)bytes, nd_mr_local_token(p->buf.mr)};
	nd_status st = ND_SUCCESS;

	while (st == ND_SUCCESS && q->receives < limit && q->receives - q->received < p->receives) {
		st = nd_qp_receive(q->conn.qp, NULL, &sge, 1);
		q->receives += st == ND_SUCCESS;
	}
	return st;
}

static bool
step_receives(const struct perftest *p)
{
	return p->opt->params.op == NDPERF_SEND &&
	       (p->opt->server || p->opt->both_ways || p->opt->params.mode == NDPERF_LAT);
}

int
perftest_step(struct perftest *p, uint64_t bytes)
{
	nd_status st = ND_SUCCESS;

	for (uint32_t i = 0; st == ND_SUCCESS && i < p->opt->params.qps; i++) {
		struct perftest_qp *q = &p->qps[i];

		q->posted = q->completed = q->receives = q->received = 0;
		q->unsignaled = 0;
		if (step_receives(p))
			st = step_post_receives(p, q, bytes);
	}
	p->moved_ns = app_now_ns();
	if (st == ND_SUCCESS)
		return APP_EXIT_OK;
	app_fail(st, "can't post receives");
	return APP_EXIT_TRANSFER;
}

/* The peer has told an address: an atomic adds one to the eight bytes there, a read or a write
 * begins there. */
int
perftest_post(struct perftest *p, struct perftest_qp *q, uint64_t bytes, bool visible)
{
	struct nd_sge sge = {q->out, (uint32_t)bytes, nd_mr_local_token(p->buf.mr)};
	uint32_t flags = (visible ? 0 : ND_OP_FLAG_SILENT_SUCCESS) |
			 (bytes <= p->inline_bytes ? ND_OP_FLAG_INLINE : 0);
	void *context = (void *)(uintptr_t)(q->posted + 1);
	uint32_t token = htonl(q->theirs.rkey);
	uint64_t to = q->theirs.address;
	nd_status st;

	switch (p->opt->params.op) {
	case NDPERF_SEND:
		st = nd_qp_send(q->conn.qp, context, &sge, 1, flags);
		break;
	case NDPERF_READ:
		st = nd_qp_read(q->conn.qp, context, &sge, 1, to, token, flags);
		break;
	case NDPERF_ATOMIC:
		st = nd_qp_fetch_add(q->conn.qp, context, &sge, to, token, 1, flags);
		break;
	default:
		st = nd_qp_write(q->conn.qp, context, &sge, 1, to, token, flags);
		break;
	}
	if (st == ND_SUCCESS) {
		q->posted++;
		return APP_EXIT_OK;
	}
	app_fail(st, "can't post message %llu", (unsigned long long)q->posted);
	return APP_EXIT_TRANSFER;
}

static int
step_count(struct perftest *p, const struct nd_result *r, uint64_t bytes)
{
	struct perftest_qp *q = r->qp_context;

	if (r->status != ND_SUCCESS)
		return perftest_failed(p, r);
	if (r->request_type != ND_REQUEST_RECEIVE) {
		q->completed = (uintptr_t)r->request_context;
		return APP_EXIT_OK;
	}
	if (r->bytes_transferred != bytes) {
		app_complain("the peer sent %u bytes, not %llu: --size (-s there) must be the same "
			     "at both ends",
			r->bytes_transferred, (unsigned long long)bytes);
		return APP_EXIT_TRANSFER;
	}
	q->received++;
	return step_post_receives(p, q, bytes) == ND_SUCCESS ? APP_EXIT_OK : APP_EXIT_TRANSFER;
}

/* The queue had no result: poll on, yield or sleep. */
static int
step_idle(struct perftest *p)
{
	bool sleepy = p->opt->wait == NDPERF_WAIT_EVENT ||
		      (p->opt->wait == NDPERF_WAIT_ADAPTIVE && !app_idle_stay(&p->idle));

	if (app_stopping())
		return APP_EXIT_SIGNAL;
	if (app_now_ns() - p->moved_ns > PATIENCE_NS) {
		app_complain("nothing happened for 30 s: are -s, -n, -D, -q and -b the same at "
			     "both ends?");
		return APP_EXIT_TRANSFER;
	}
	if (sleepy)
		app_cq_sleep(p->cq, SLEEP_MS);
	else
		app_idle_wait(&p->idle);
	return APP_EXIT_OK;
}

int
perftest_take(struct perftest *p, uint64_t bytes, int32_t *n)
{
	struct nd_result r[BATCH];
	int rc = APP_EXIT_OK;

	*n = nd_cq_get_results(p->cq, r, BATCH);
	if (*n == 0)
		return step_idle(p);
	if (*n < 0) {
		app_fail(*n, "completion queue");
		return APP_EXIT_TRANSFER;
	}
	app_idle_reset(&p->idle);
	p->moved_ns = app_now_ns();
	for (int32_t i = 0; rc == APP_EXIT_OK && i < *n; i++)
		rc = step_count(p, &r[i], bytes);
	return rc;
}
