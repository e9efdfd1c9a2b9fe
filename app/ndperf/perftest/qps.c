/* SPDX-License-Identifier: BSD-3-Clause */
#include "qps.h"

#include <arpa/inet.h>
#include <stdlib.h>

#include "cm.h"
#include "common/fail.h"
#include "test.h"

#define RECEIVES_MAX  512u
#define TIMEOUT_CODE  16 /* local ACK timeout: 4.096 us * 2^16 = 0.27 s */
#define RETRIES	      7
#define MIN_RNR_TIMER 12

static bool
op_is(const struct perftest *p, enum ndperf_op op)
{
	return p->opt->params.op == op;
}

static uint32_t
qps_region_flags(const struct perftest *p)
{
	if (op_is(p, NDPERF_WRITE))
		return ND_MR_FLAG_ALLOW_REMOTE_WRITE;
	if (op_is(p, NDPERF_READ))
		return ND_MR_FLAG_ALLOW_REMOTE_READ | ND_MR_FLAG_ALLOW_LOCAL_WRITE |
		       ND_MR_FLAG_RDMA_READ_SINK;
	if (op_is(p, NDPERF_ATOMIC))
		return ND_MR_FLAG_ALLOW_REMOTE_ATOMIC | ND_MR_FLAG_ALLOW_LOCAL_WRITE;
	return ND_MR_FLAG_ALLOW_LOCAL_WRITE;
}

static uint32_t
qps_access(const struct perftest *p)
{
	if (op_is(p, NDPERF_WRITE))
		return ND_QP_ALLOW_REMOTE_WRITE;
	if (op_is(p, NDPERF_READ))
		return ND_QP_ALLOW_REMOTE_READ;
	return op_is(p, NDPERF_ATOMIC) ? ND_QP_ALLOW_REMOTE_ATOMIC : 0;
}

static nd_status
qps_create_one(struct perftest *p, uint32_t i, uint64_t part)
{
	struct perftest_qp *q = &p->qps[i];
	struct nd_qp_options o = {.receive_cq = p->cq,
		.initiator_cq = p->cq,
		.context = q,
		.receive_depth = p->receives,
		.initiator_depth = p->depth,
		.max_receive_sge = 1,
		.max_initiator_sge = 1,
		.inline_bytes = p->inline_bytes};
	nd_status st = nd_qp_create(p->pd, &o, &q->conn.qp);
	struct nd_qp_info info;

	if (st == ND_SUCCESS)
		st = nd_qp_query(q->conn.qp, &info);
	if (st != ND_SUCCESS)
		return st;
	q->out = p->buf.mem + 2 * i * part;
	q->in = q->out + part;
	q->ours = (struct perftest_dest){.out_reads = p->info.max_inbound_reads,
		.number = info.number,
		.psn = info.first_psn,
		.rkey = ntohl(nd_mr_remote_token(p->buf.mr)),
		.address = (uintptr_t)q->in};
	perftest_gid(&p->local, q->ours.gid);
	return ND_SUCCESS;
}

static void
qps_settle_limits(struct perftest *p)
{
	const struct ndperf_options *o = p->opt;
	uint32_t fits = o->inline_bytes == NDPERF_INLINE_AUTO ? p->info.inline_request_threshold
							      : o->inline_bytes;

	p->depth = o->params.depth < p->info.max_initiator_depth ? o->params.depth
								 : p->info.max_initiator_depth;
	p->receives = op_is(p, NDPERF_SEND) ? RECEIVES_MAX : 1;
	if (p->receives > p->info.max_receive_depth)
		p->receives = p->info.max_receive_depth;
	if (o->iterations != 0 && p->receives > o->iterations)
		p->receives = (uint32_t)o->iterations;
	if (o->inline_bytes == NDPERF_INLINE_AUTO && fits > p->info.max_inline_bytes)
		fits = p->info.max_inline_bytes;
	p->inline_bytes = op_is(p, NDPERF_SEND) || op_is(p, NDPERF_WRITE) ? fits : 0;
}

int
perftest_qps_create(struct perftest *p)
{
	const struct ndperf_params *params = &p->opt->params;
	uint64_t part = params->max_bytes > p->cycle ? params->max_bytes : p->cycle;
	nd_status st;

	qps_settle_limits(p);
	part = (part + 63) / 64 * 64;
	p->qps = calloc(params->qps, sizeof(*p->qps));
	st = p->qps == NULL
		     ? ND_NO_MEMORY
		     : nd_cq_create(p->adapter, params->qps * (p->depth + p->receives), &p->cq);
	if (st == ND_SUCCESS)
		st = buffer_create(&p->buf, p->adapter, p->pd, p->opt->memory,
			2 * part * params->qps, qps_region_flags(p));
	for (uint32_t i = 0; st == ND_SUCCESS && i < params->qps; i++)
		st = qps_create_one(p, i, part);
	if (st == ND_SUCCESS)
		return APP_EXIT_OK;
	app_fail(st, "can't make the test's objects (%u queue pairs, depth %u, %llu bytes)",
		params->qps, p->depth, (unsigned long long)(2 * part * params->qps));
	return APP_EXIT_LOCAL;
}

static int
qps_bring_up_one(struct perftest *p, struct perftest_qp *q)
{
	struct nd_qp_attributes attr = {
		.mask = ND_QP_TO_RTR | ND_QP_TO_RTS | ND_QP_ATTRIBUTE_ACCESS,
		.access = qps_access(p),
		.traffic_class = (uint8_t)(p->opt->dscp << 2),
		.path_mtu = p->path_mtu,
		.peer_number = q->theirs.number,
		.rq_psn = q->theirs.psn,
		.sq_psn = q->ours.psn,
		.inbound_reads = (uint8_t)p->info.max_inbound_reads,
		.outbound_reads = (uint8_t)p->info.max_outbound_reads,
		.timeout = TIMEOUT_CODE,
		.retries = RETRIES,
		.rnr_retries = 7,
		.min_rnr_timer = MIN_RNR_TIMER,
	};
	char ours[APP_ADDR_TEXT], theirs[APP_ADDR_TEXT];
	struct nd_overlapped ov = {0};
	struct app_addr peer;
	nd_status st;

	perftest_address(q->theirs.gid, &peer);
	app_addr_text(&peer, false, theirs);
	if (peer.ss.ss_family != p->local.ss.ss_family) {
		app_complain("the peer is at %s, we are at %s: choose another GID there (-x), or "
			     "another address here (--bind)",
			theirs, app_addr_text(&p->local, false, ours));
		return APP_EXIT_CONNECT;
	}
	attr.peer = peer.ss;
	if (q->theirs.out_reads > 0 && q->theirs.out_reads < attr.outbound_reads)
		attr.outbound_reads = (uint8_t)q->theirs.out_reads;
	st = nd_qp_modify(q->conn.qp, ND_QP_STATE_RTS, &attr, &ov);
	if (st == ND_PENDING)
		st = nd_overlapped_wait(&ov, -1);
	if (st == ND_SUCCESS)
		return APP_EXIT_OK;
	app_fail(st, "can't bring up a queue pair to %s", theirs);
	return APP_EXIT_CONNECT;
}

int
perftest_qps_bring_up(struct perftest *p)
{
	int rc = APP_EXIT_OK;

	for (uint32_t i = 0; rc == APP_EXIT_OK && i < p->opt->params.qps; i++)
		rc = qps_bring_up_one(p, &p->qps[i]);
	return rc;
}

int
perftest_qps_connect(struct perftest *p)
{
	int rc = APP_EXIT_OK;

	for (uint32_t i = 0; rc == APP_EXIT_OK && i < p->opt->params.qps; i++)
		rc = p->opt->server ? perftest_cm_accept(p, &p->qps[i].conn)
				    : perftest_cm_connect(p, &p->qps[i].conn, true);
	return rc;
}

void
perftest_qps_close(struct perftest *p)
{
	for (uint32_t i = 0; p->qps != NULL && i < p->opt->params.qps; i++) {
		perftest_cm_disconnect(p, &p->qps[i].conn);
		conn_destroy(&p->qps[i].conn);
	}
	free(p->qps);
	p->qps = NULL;
}
