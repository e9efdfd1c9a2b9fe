/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "cm/build.h"
#include "cm/manager.h"
#include "cm/retry.h"
#include "cm/sidr.h"
#include "cm/timer.h"

static void
build_req(const struct roce_cm *cm, const struct roce_cm_conn *c, struct cm_mad *m)
{
	const bool routed = c->hop_limit > 1;
	const struct cm_ip_hdr ip = {
		.src = c->local.gid,
		.dst = c->remote.gid,
		.src_port = c->local.port,
	};

	m->attr = CM_ATTR_REQ;
	m->service_id = cm_service_id(c->remote.port);
	m->ca_guid = cm->cfg.ca_guid;
	m->qpn = c->qp.qpn;
	m->psn = c->qp.psn;
	m->responder_resources = c->qp.responder_resources;
	m->initiator_depth = c->qp.initiator_depth;
	m->remote_resp_timeout = CM_RESPONSE_TIMEOUT;
	m->local_resp_timeout = CM_RESPONSE_TIMEOUT;
	m->max_retries = c->max_retries;
	m->retry_count = c->qp.retry_count;
	m->rnr_retry = c->qp.rnr_retry;
	m->srq = c->qp.srq;
	m->pkey = ROCE_PKEY_DEFAULT;
	m->mtu = c->mtu_code;
	m->slid = m->dlid = routed ? 0xffff : 0;
	m->subnet_local = !routed;
	m->sgid = c->local.gid;
	m->dgid = c->remote.gid;
	m->flow_label = c->flow_label;
	m->tclass = c->tos;
	m->hop_limit = c->hop_limit;
	m->sl = c->sl;
	m->ack_timeout = c->ack_timeout;
	cm_ip_hdr_encode(m->priv, &ip);
	memcpy(m->priv + CM_IP_HDR_BYTES, c->out_priv, ROCE_CM_REQ_PRIV);
}

static void
build_rep(const struct roce_cm *cm, const struct roce_cm_conn *c, struct cm_mad *m)
{
	m->attr = CM_ATTR_REP;
	m->qpn = c->qp.qpn;
	m->psn = c->qp.psn;
	m->responder_resources = c->qp.responder_resources;
	m->initiator_depth = c->qp.initiator_depth;
	m->target_ack_delay = CM_TARGET_ACK_DELAY;
	m->rnr_retry = c->qp.rnr_retry;
	m->srq = c->qp.srq;
	m->ca_guid = cm->cfg.ca_guid;
	memcpy(m->priv, c->out_priv, ROCE_CM_REP_PRIV);
}

static void
build_rej(const struct roce_cm_conn *c, struct cm_mad *m)
{
	m->attr = CM_ATTR_REJ;
	if (c->rej_without_id)
		m->local_id = 0;
	m->which = c->rej_which;
	m->reason = c->rej_reason;
	m->ari_bytes = c->ari_bytes;
	memcpy(m->ari, c->ari, c->ari_bytes);
	memcpy(m->priv, c->out_priv, ROCE_CM_REJ_PRIV);
}

static void
build_mra(const struct roce_cm_conn *c, struct cm_mad *m)
{
	m->attr = CM_ATTR_MRA;
	m->which = c->active ? CM_WHICH_REP : CM_WHICH_REQ; /* what came from the other side */
	m->service_timeout = CM_SERVICE_TIMEOUT;
}

static void
build_sidr(const struct roce_cm_conn *c, struct cm_mad *m)
{
	const struct cm_ip_hdr ip = {
		.src = c->local.gid, .dst = c->remote.gid, .src_port = c->local.port};

	if (c->active) {
		m->attr = CM_ATTR_SIDR_REQ;
		m->pkey = ROCE_PKEY_DEFAULT;
		m->service_id = CM_SERVICE_PS_UDP | c->remote.port;
		cm_ip_hdr_encode(m->priv, &ip);
		memcpy(m->priv + CM_IP_HDR_BYTES, c->out_priv, ROCE_CM_SIDR_QUERY_PRIV);
		return;
	}
	m->attr = CM_ATTR_SIDR_REP;
	m->local_id = c->remote_id; /* the id of the request */
	m->status = c->rej_reason;
	m->service_id = CM_SERVICE_PS_UDP | c->local.port;
	m->qpn = c->qp.qpn;
	m->qkey = c->q_key;
	memcpy(m->priv, c->out_priv, ROCE_CM_SIDR_REPLY_PRIV);
}

void
cm_build_mad(
	const struct roce_cm *cm, const struct roce_cm_conn *c, uint32_t what, struct cm_mad *m)
{
	memset(m, 0, sizeof(*m));
	m->tid = c->tid;
	m->local_id = c->local_id;
	m->remote_id = c->remote_id;
	switch (what) {
	case CM_TX_REQ:
		build_req(cm, c, m);
		break;
	case CM_TX_MRA:
		build_mra(c, m);
		break;
	case CM_TX_REP:
		build_rep(cm, c, m);
		break;
	case CM_TX_RTU:
		m->attr = CM_ATTR_RTU;
		break;
	case CM_TX_DREQ:
		m->attr = CM_ATTR_DREQ;
		m->tid = c->dreq_tid;
		/* While the connection lives it is a challenge, which ends nothing: cm_stale(). */
		m->qpn = c->state == CM_ESTABLISHED ? ROCE_QPN_GSI : c->peer.qpn;
		break;
	case CM_TX_DREP:
		m->attr = CM_ATTR_DREP;
		m->tid = c->drep_tid;
		break;
	case CM_TX_SIDR:
		build_sidr(c, m);
		break;
	default:
		build_rej(c, m);
		break;
	}
}
