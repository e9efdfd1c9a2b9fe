/* SPDX-License-Identifier: BSD-3-Clause */
/* Adapter, buffer and queue pairs of a test with perftest, and how they are connected. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fail.h"
#include "common/wait.h"
#include "perftest.h"
#include "perftest_comm.h"
#include "perftest_qps.h"

#define RECEIVES_MAX	 512u
#define TIMEOUT_CODE	 16 /* 0.27 s */
#define RETRIES		 7
#define MIN_RNR_TIMER	 12
#define COMPLETE_MS	 10000
#define DISCONNECT_MS	 3000
#define REFUSED_TRIES	 50
#define REFUSED_PAUSE_MS 100

static bool
test_is(const struct perftest *p, enum ndperf_op op)
{
	return p->opt->params.op == op;
}

/* ---- connecting by rdma_cm ------------------------------------------------------------- */

static int
connect_failed(struct perftest *p, struct conn *conn, nd_status st)
{
	uint32_t reason = nd_connector_reject_reason(conn->connector);
	char peer[APP_ADDR_TEXT];

	if (st == ND_CANCELED && app_stopping())
		return APP_EXIT_SIGNAL;
	app_addr_text(&p->opt->addr, true, peer);
	if (reason != 0)
		app_complain("connecting to %s: %s (%s, CM reason %u). perftest's server listens "
			     "there with -R alone",
			peer, app_reject_text(reason), nd_status_name(st), reason);
	else
		app_fail(st, "connecting to %s", peer);
	return APP_EXIT_CONNECT;
}

static nd_status
connect_once(struct perftest *p, struct conn *conn)
{
	nd_status st = nd_connector_connect(conn->connector, conn->qp,
		(const struct sockaddr *)&p->opt->addr.ss, p->opt->addr.bytes,
		p->info.max_inbound_reads, p->info.max_outbound_reads, NULL, 0, &conn->ov);

	return st == ND_PENDING ? app_wait(&conn->ov, -1) : st;
}

int
perftest_connect(struct perftest *p, struct conn *conn, bool patient)
{
	struct nd_overlapped never = {.status = ND_PENDING};
	nd_status st = nd_connector_create(p->adapter, &conn->connector);

	if (st == ND_SUCCESS && p->opt->has_bind)
		st = nd_connector_bind(
			conn->connector, (const struct sockaddr *)&p->local.ss, p->local.bytes);
	if (st == ND_SUCCESS)
		st = nd_connector_set_dscp(conn->connector, p->opt->dscp);
	if (st != ND_SUCCESS) {
		app_fail(st, "can't make a connector");
		return APP_EXIT_LOCAL;
	}
	/* perftest's server closes its listener and opens another between the connection to talk
	 * by and those of the test (4.5), and does not say when. */
	for (int tries = patient ? REFUSED_TRIES : 1; tries > 0; tries--) {
		st = connect_once(p, conn);
		if (st != ND_CONNECTION_REFUSED || tries == 1 ||
			app_wait(&never, REFUSED_PAUSE_MS) != ND_TIMEOUT)
			break;
	}
	if (st == ND_SUCCESS)
		st = nd_connector_complete_connect(conn->connector, &conn->ov);
	if (st == ND_PENDING)
		st = app_wait(&conn->ov, COMPLETE_MS);
	return st == ND_SUCCESS ? APP_EXIT_OK : connect_failed(p, conn, st);
}

int
perftest_accept(struct perftest *p, struct conn *conn)
{
	nd_status st = app_acceptor_next(&p->acceptor, -1, &conn->connector);

	if (st == ND_CANCELED)
		return APP_EXIT_SIGNAL;
	if (st != ND_SUCCESS)
		return APP_EXIT_LOCAL;
	st = nd_connector_accept(conn->connector, conn->qp, p->info.max_inbound_reads,
		p->info.max_outbound_reads, NULL, 0, &conn->ov);
	if (st == ND_PENDING)
		st = app_wait(&conn->ov, COMPLETE_MS);
	if (st == ND_SUCCESS)
		return APP_EXIT_OK;
	app_fail(st, "accepting a connection");
	return APP_EXIT_CONNECT;
}

int
perftest_qps_connect(struct perftest *p)
{
	int rc = APP_EXIT_OK;

	for (uint32_t i = 0; rc == APP_EXIT_OK && i < p->opt->params.qps; i++)
		rc = p->opt->server ? perftest_accept(p, &p->qps[i].conn)
				    : perftest_connect(p, &p->qps[i].conn, true);
	return rc;
}

/* ---- queue pairs ----------------------------------------------------------------------- */

int
perftest_open(struct perftest *p)
{
	const struct ndperf_options *o = p->opt;
	const struct app_addr *bind = o->has_bind ? &o->bind : NULL;
	char text[APP_ADDR_TEXT];
	nd_status st;

	if (o->cm && o->server) {
		st = app_acceptor_open(&p->acceptor, o->socket_path, bind, o->port);
		p->adapter = p->acceptor.adapter;
		p->local = p->acceptor.where;
		if (st == ND_SUCCESS)
			fprintf(stderr, "ndperf: listening at %s\n",
				app_addr_text(&p->local, true, text));
	} else if (o->cm) {
		st = app_open_for_remote(o->socket_path, bind, &o->addr, &p->adapter, &p->local);
	} else {
		st = app_open_local(o->socket_path, bind, &p->adapter, &p->local);
	}
	if (st != ND_SUCCESS)
		return st == ND_NETWORK_UNREACHABLE ? APP_EXIT_CONNECT : APP_EXIT_LOCAL;
	st = nd_adapter_query(p->adapter, &p->info);
	if (st == ND_SUCCESS)
		st = nd_pd_create(p->adapter, &p->pd);
	if (st == ND_SUCCESS)
		return APP_EXIT_OK;
	app_fail(st, "can't make a protection domain");
	return APP_EXIT_LOCAL;
}

static uint32_t
region_flags(const struct perftest *p)
{
	if (test_is(p, NDPERF_WRITE))
		return ND_MR_FLAG_ALLOW_REMOTE_WRITE;
	if (test_is(p, NDPERF_READ))
		return ND_MR_FLAG_ALLOW_REMOTE_READ | ND_MR_FLAG_ALLOW_LOCAL_WRITE |
		       ND_MR_FLAG_RDMA_READ_SINK;
	if (test_is(p, NDPERF_ATOMIC))
		return ND_MR_FLAG_ALLOW_REMOTE_ATOMIC | ND_MR_FLAG_ALLOW_LOCAL_WRITE;
	return ND_MR_FLAG_ALLOW_LOCAL_WRITE;
}

static uint32_t
qp_access(const struct perftest *p)
{
	if (test_is(p, NDPERF_WRITE))
		return ND_QP_ALLOW_REMOTE_WRITE;
	if (test_is(p, NDPERF_READ))
		return ND_QP_ALLOW_REMOTE_READ;
	return test_is(p, NDPERF_ATOMIC) ? ND_QP_ALLOW_REMOTE_ATOMIC : 0;
}

static nd_status
create_qp(struct perftest *p, uint32_t i, uint64_t part)
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
settle_limits(struct perftest *p)
{
	const struct ndperf_options *o = p->opt;
	uint32_t fits = o->inline_bytes == NDPERF_INLINE_AUTO ? p->info.inline_request_threshold
							      : o->inline_bytes;

	p->depth = o->params.depth < p->info.max_initiator_depth ? o->params.depth
								 : p->info.max_initiator_depth;
	p->receives = test_is(p, NDPERF_SEND) ? RECEIVES_MAX : 1;
	if (p->receives > p->info.max_receive_depth)
		p->receives = p->info.max_receive_depth;
	if (o->iterations != 0 && p->receives > o->iterations)
		p->receives = (uint32_t)o->iterations;
	if (o->inline_bytes == NDPERF_INLINE_AUTO && fits > p->info.max_inline_bytes)
		fits = p->info.max_inline_bytes;
	p->inline_bytes = test_is(p, NDPERF_SEND) || test_is(p, NDPERF_WRITE) ? fits : 0;
}

int
perftest_qps_create(struct perftest *p)
{
	const struct ndperf_params *params = &p->opt->params;
	uint64_t part = params->max_bytes > p->cycle ? params->max_bytes : p->cycle;
	nd_status st;

	settle_limits(p);
	part = (part + 63) / 64 * 64;
	p->qps = calloc(params->qps, sizeof(*p->qps));
	st = p->qps == NULL
		     ? ND_NO_MEMORY
		     : nd_cq_create(p->adapter, params->qps * (p->depth + p->receives), &p->cq);
	if (st == ND_SUCCESS)
		st = buffer_create(&p->buf, p->adapter, p->pd, p->opt->memory,
			2 * part * params->qps, region_flags(p));
	for (uint32_t i = 0; st == ND_SUCCESS && i < params->qps; i++)
		st = create_qp(p, i, part);
	if (st == ND_SUCCESS)
		return APP_EXIT_OK;
	app_fail(st, "can't make the test's objects (%u queue pairs, depth %u, %llu bytes)",
		params->qps, p->depth, (unsigned long long)(2 * part * params->qps));
	return APP_EXIT_LOCAL;
}

static int
bring_up(struct perftest *p, struct perftest_qp *q)
{
	struct nd_qp_attributes attr = {
		.mask = ND_QP_TO_RTR | ND_QP_TO_RTS | ND_QP_ATTRIBUTE_ACCESS,
		.access = qp_access(p),
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
		rc = bring_up(p, &p->qps[i]);
	return rc;
}

/* perftest's client disconnects and waits for the answer, its server is disconnected. */
static void
qp_disconnect(struct perftest *p, struct conn *conn)
{
	struct nd_overlapped gone = {0};

	if (conn->connector == NULL || nd_overlapped_status(&conn->ov) == ND_PENDING)
		return;
	if (p->opt->server && nd_connector_notify_disconnect(conn->connector, &gone) == ND_PENDING)
		app_wait(&gone, DISCONNECT_MS);
	if (nd_overlapped_status(&gone) == ND_PENDING)
		nd_connector_cancel(conn->connector);
	if (nd_connector_disconnect(conn->connector, &conn->ov) == ND_PENDING)
		nd_overlapped_wait(&conn->ov, DISCONNECT_MS);
}

void
perftest_close(struct perftest *p)
{
	for (uint32_t i = 0; p->qps != NULL && i < p->opt->params.qps; i++) {
		qp_disconnect(p, &p->qps[i].conn);
		conn_destroy(&p->qps[i].conn);
	}
	perftest_comm_close(p);
	if (p->cq != NULL)
		nd_cq_close(p->cq);
	buffer_destroy(&p->buf);
	if (p->pd != NULL)
		nd_pd_close(p->pd);
	if (p->acceptor.adapter != NULL)
		app_acceptor_close(&p->acceptor);
	else if (p->adapter != NULL)
		nd_adapter_close(p->adapter);
	free(p->qps);
}
