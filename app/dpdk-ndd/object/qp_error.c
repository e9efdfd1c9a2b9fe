/* SPDX-License-Identifier: BSD-3-Clause */
/* What befalls a queue pair in use: its end, and another address of its next hop. */
#include <string.h>

#include "control/daemon.h"
#include "lcore/call.h"
#include "object/qp.h"
#include "platform/log.h"
#include "session/async.h"
#include "session/session.h"

static void
on_shard_qp_error(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	const struct roce_qp_attr none = {0};
	struct ndd_qp *qp = arg;

	(void)roce_qp_modify(shard->engine, qp->engine, now_ns, ROCE_QPS_ERR, 0, &none);
}

void
ndd_qp_has_failed(struct ndd_qp *qp)
{
	qp->failed = true;
	ndd_peer_give(qp);
}

void
ndd_qp_to_error(struct ndd_session *s, struct ndd_qp *qp)
{
	ndd_qp_has_failed(qp);
	ndd_shard_call(s->shard, on_shard_qp_error, qp);
}

void
ndd_qp_take_away(struct ndd_session *s, struct ndd_qp *qp, const char *why)
{
	ndd_notice("session %lu: queue pair 0x%06x ends: %s", s->serial, qp->qpn, why);
	ndd_qp_to_error(s, qp);
	ndd_async_qp_taken(s, qp);
}

void
ndd_qp_on_error(struct ndd_session *s, struct ndd_qp *qp, const struct ndd_event *ev)
{
	ndd_log_limited(NDD_LOG_INFO,
		"session %lu: queue pair 0x%06x went to error: %s (syndrome 0x%02x)", s->serial,
		qp->qpn, roce_reason_name(ev->reason), ev->syndrome);
	ndd_qp_has_failed(qp);
	if (qp->conn != NULL)
		qp->user->failed(qp->conn);
}

struct set_macs {
	struct roce_qp *qp;
	const struct net_nexthop *hop;
};

static void
on_shard_set_macs(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct set_macs *m = arg;

	(void)shard;
	(void)now_ns;
	roce_qp_set_macs(m->qp, m->hop->smac, m->hop->dmac);
}

void
ndd_qp_set_hop(struct ndd_session *s, struct ndd_qp *qp, struct net_nexthop *old,
	const struct net_nexthop *hop)
{
	struct set_macs m = {.qp = qp->engine, .hop = hop};
	uint32_t port = old->port;

	if (memcmp(old->dmac, hop->dmac, 6) != 0 || memcmp(old->smac, hop->smac, 6) != 0)
		ndd_shard_call(s->shard, on_shard_set_macs, &m);
	*old = *hop;
	old->port = port;
}
