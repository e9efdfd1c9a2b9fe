/* SPDX-License-Identifier: BSD-3-Clause */
/* From a connection's values to its queue pair: next hop, path, states. */
#include <string.h>

#include "conn/bring_up.h"
#include "conn/conn.h"
#include "control/daemon.h"
#include "hostnet/path.h"
#include "lcore/call.h"
#include "object/qp.h"
#include "platform/log.h"
#include "session/session.h"

#define RNR_FOR_EVER 7 /* as RNR retry count: without end */

/* An empty shared receive queue is no reason for the peer to give up (R-SR-06). */
static uint8_t
conn_rnr_retry(const struct ndd_conn *c)
{
	return c->qp->srq != NULL ? RNR_FOR_EVER : c->session->daemon->cfg->rnr_retry;
}

struct roce_cm_qp_params
ndd_conn_own_values(const struct ndd_conn *c)
{
	if (c->by_numbers)
		return c->own;
	return (struct roce_cm_qp_params){
		.qpn = c->qp->qpn,
		.psn = c->qp->psn,
		.responder_resources = c->inbound,
		.initiator_depth = c->outbound,
		.retry_count = c->session->daemon->cfg->retry_count,
		.rnr_retry = conn_rnr_retry(c),
		.srq = c->qp->srq != NULL,
	};
}

static enum ndsh_status
conn_next_hop(const struct ndd_conn *c, uint64_t now_ns, struct net_nexthop *hop)
{
	return ndd_next_hop(c->session->daemon->net, now_ns, ndd_session_hop_owner(c->session),
		&c->local.gid, &c->remote.gid, hop);
}

enum ndsh_status
ndd_conn_resolve(struct ndd_conn *c, uint64_t now_ns)
{
	return conn_next_hop(c, now_ns, &c->hop);
}

struct bring_up {
	struct ndd_qp *qp;
	struct roce_qp_attr attr;
	enum roce_modify result;
	uint32_t keepalive_ms; /* as the client wants it */
	bool silent;	       /* no keepalive yet */
};

static void
on_shard_bring_up(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	const uint32_t rtr = ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN |
			     ROCE_QPA_MAX_DEST_RD | ROCE_QPA_MIN_RNR | ROCE_QPA_ACCESS |
			     ROCE_QPA_KEEPALIVE;
	const uint32_t rts = ROCE_QPA_TIMEOUT | ROCE_QPA_RETRY | ROCE_QPA_RNR_RETRY |
			     ROCE_QPA_SQ_PSN | ROCE_QPA_MAX_RD;
	struct bring_up *b = arg;
	struct roce_qp_attr before;

	(void)roce_qp_query(b->qp->engine, &before);
	b->keepalive_ms = before.keepalive_ms;
	b->attr.keepalive_ms = b->silent ? 0 : before.keepalive_ms;
	b->result =
		roce_qp_modify(shard->engine, b->qp->engine, now_ns, ROCE_QPS_RTR, rtr, &b->attr);
	if (b->result == ROCE_MODIFY_OK)
		b->result = roce_qp_modify(
			shard->engine, b->qp->engine, now_ns, ROCE_QPS_RTS, rts, &b->attr);
}

static void
conn_fill_path(const struct ndd_conn *c, struct roce_path *path)
{
	path->sgid = c->local.gid;
	path->dgid = c->remote.gid;
	path->tos = ndd_path_class(c->session->daemon, c->hop.port, c->tos | c->ecn);
	path->ttl = c->hop_limit;
	path->flow_label = c->flow_label;
	ndd_path_via(path, &c->hop, c->qp->qpn, c->peer.qpn);
}

/* The peer is what makes these lines come. */
static enum ndsh_status
brought_up(const struct ndd_conn *c, enum roce_modify result)
{
	if (result == ROCE_MODIFY_OK)
		return NDSH_OK;
	if (result != ROCE_MODIFY_DOOR_CLOSED) {
		ndd_log_limited(NDD_LOG_INFO,
			"session %lu: queue pair 0x%06x could not be brought up (%d)",
			c->session->serial, c->qp->qpn, result);
		return NDSH_ERR_INTERNAL;
	}
	ndd_log_limited(NDD_LOG_NOTICE,
		"session %lu: queue pair 0x%06x gets no way to its peer: too many wrong keys came "
		"from that address",
		c->session->serial, c->qp->qpn);
	return NDSH_ERR_REFUSED;
}

enum ndsh_status
ndd_conn_bring_up(struct ndd_conn *c)
{
	const struct config *cfg = c->session->daemon->cfg;
	/* The passive side sends nothing before the active one is ready (W-CM-35). */
	struct bring_up b = {.qp = c->qp, .silent = c->state == NDD_CONN_ACCEPTING};

	/* W-CM-30: the agreed number of reads; the rights of regions say the rest. */
	b.attr.access = NDSH_ACCESS_REMOTE_WRITE;
	if (c->inbound != 0)
		b.attr.access |= NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_ATOMIC;
	conn_fill_path(c, &b.attr.path);
	b.attr.port = c->hop.port;
	b.attr.mtu_bytes = 128u << c->mtu_code;
	b.attr.dest_qpn = c->peer.qpn;
	b.attr.rq_psn = c->qp->psn;
	b.attr.sq_psn = c->peer.psn;
	b.attr.max_dest_rd = c->inbound;
	b.attr.max_rd = c->outbound;
	b.attr.min_rnr_code = cfg->min_rnr_code;
	b.attr.timeout_code = c->ack_timeout != 0 ? c->ack_timeout : cfg->timeout_code;
	b.attr.retry = c->peer.retry_count;
	b.attr.rnr_retry = c->peer.rnr_retry;
	if (!c->peer.srq) /* R-SR-05, R-SR-06 */
		b.attr.rnr_give_up_ms = cfg->rnr_give_up_ms;
	ndd_peer_evict(c->session, &c->remote.gid, c->peer.qpn);
	ndd_peer_take(c->session, c->qp, &c->remote.gid, c->peer.qpn, false);
	c->brought_up = c->qp->connected = true;
	ndd_shard_call(c->session->shard, on_shard_bring_up, &b);
	c->keepalive_ms = b.keepalive_ms;
	return brought_up(c, b.result);
}

struct start_keepalive {
	struct roce_qp *engine;
	uint32_t ms;
};

/* One that has died meanwhile refuses. */
static void
on_shard_start_keepalive(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	const struct start_keepalive *k = arg;
	const struct roce_qp_attr attr = {.keepalive_ms = k->ms};

	(void)roce_qp_modify(
		shard->engine, k->engine, now_ns, ROCE_QPS_RTS, ROCE_QPA_KEEPALIVE, &attr);
}

void
ndd_conn_start_keepalive(struct ndd_conn *c)
{
	struct start_keepalive k = {.ms = c->keepalive_ms};

	if (c->qp == NULL || k.ms == 0)
		return;
	k.engine = c->qp->engine;
	ndd_shard_call(c->session->shard, on_shard_start_keepalive, &k);
}

/* W-GID-03: a neighbour that is being probed again keeps its old address meanwhile. */
void
ndd_conn_refresh(struct ndd_conn *c, uint64_t now_ns)
{
	struct net_nexthop hop;

	if (c->qp != NULL && conn_next_hop(c, now_ns, &hop) == NDSH_OK)
		ndd_qp_set_hop(c->session, c->qp, &c->hop, &hop);
}
