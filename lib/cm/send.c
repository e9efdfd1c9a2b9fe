/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a connection has to send is a bit; the MAD is made when the host pulls it. So a slow
 * host loses nothing, and a retransmission that finds its predecessor still waiting is one MAD.
 */
#include <string.h>

#include "cm/private.h"

void
cm_tx_set(struct roce_cm *cm, struct roce_cm_conn *c, uint32_t tx)
{
	if (c->tx == 0 && tx != 0)
		TAILQ_INSERT_TAIL(&cm->tx_queue, c, tx_entry);
	if (c->tx != 0 && tx == 0)
		TAILQ_REMOVE(&cm->tx_queue, c, tx_entry);
	c->tx = (uint8_t)tx;
}

void
cm_send(struct roce_cm *cm, struct roce_cm_conn *c, uint32_t what)
{
	cm_tx_set(cm, c, c->tx | what);
}

/* ---- the MADs of a connection ---- */

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
	m->remote_id = 0;
	m->service_id = cm_service_id(c->remote.port);
	m->ca_guid = cm->cfg.ca_guid;
	m->qpn = c->qp.qpn;
	m->psn = c->qp.psn;
	m->responder_resources = c->qp.responder_resources;
	m->initiator_depth = c->qp.initiator_depth;
	m->remote_resp_timeout = CM_RESPONSE_TIMEOUT;
	m->local_resp_timeout = CM_RESPONSE_TIMEOUT;
	m->max_retries = CM_PEER_MAX_RETRIES;
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
	m->which = c->state == CM_MRA_REP_SENT ? CM_WHICH_REP : CM_WHICH_REQ;
	m->service_timeout = CM_SERVICE_TIMEOUT;
}

/* what: one CM_TX_ bit. */
static void
build(const struct roce_cm *cm, const struct roce_cm_conn *c, uint32_t what, struct cm_mad *m)
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
		m->qpn = c->peer.qpn;
		break;
	case CM_TX_DREP:
		m->attr = CM_ATTR_DREP;
		m->tid = c->drep_tid;
		break;
	case CM_TX_SIDR:
		cm_build_sidr(c, m);
		break;
	default:
		build_rej(c, m);
		break;
	}
}

/* ---- answers without a connection ---- */

static void
answer(struct roce_cm *cm, const struct cm_in *in, const struct cm_mad *m)
{
	struct roce_cm_tx *tx;

	if (cm->stateless_n == CM_STATELESS) {
		cm->counters.tx_dropped++;
		return;
	}
	tx = &cm->stateless[(cm->stateless_head + cm->stateless_n++) % CM_STATELESS];
	/* W-CM-02: back to where it came from, from where it was addressed to. */
	tx->sgid = in->local;
	tx->dgid = in->remote;
	tx->port = in->port;
	tx->tos = in->tos;
	tx->hop_limit = ROCE_HOP_LIMIT;
	cm_mad_encode(tx->mad, m);
}

void
cm_answer_rej(struct roce_cm *cm, const struct cm_in *in, enum cm_which which, uint16_t reason)
{
	struct cm_mad m = {
		.attr = CM_ATTR_REJ,
		.tid = in->mad.tid,
		.local_id = which == CM_WHICH_REQ ? 0 : in->mad.remote_id,
		.remote_id = in->mad.local_id,
		.which = which,
		.reason = reason,
	};

	if (reason == ROCE_CM_REASON_INVALID_GID) {
		/* The ARI names a GID that would do: the one that they reached us by. */
		m.ari_bytes = sizeof(in->local.raw);
		memcpy(m.ari, in->local.raw, sizeof(in->local.raw));
	}
	answer(cm, in, &m);
}

void
cm_answer_drep(struct roce_cm *cm, const struct cm_in *in)
{
	const struct cm_mad m = {
		.attr = CM_ATTR_DREP,
		.tid = in->mad.tid,
		.local_id = in->mad.remote_id,
		.remote_id = in->mad.local_id,
	};

	answer(cm, in, &m);
}

void
cm_answer_sidr(struct roce_cm *cm, const struct cm_in *in, enum roce_cm_sidr_status status)
{
	const struct cm_mad m = {
		.attr = CM_ATTR_SIDR_REP,
		.tid = in->mad.tid,
		.local_id = in->mad.local_id,
		.status = status,
		.service_id = in->mad.service_id,
	};

	answer(cm, in, &m);
}

/* ---- out ---- */

static void
pull_conn(struct roce_cm *cm, struct roce_cm_conn *c, struct roce_cm_tx *tx)
{
	const uint32_t what = c->tx & -(uint32_t)c->tx;
	struct cm_mad m;

	build(cm, c, what, &m);
	cm_mad_encode(tx->mad, &m);
	tx->sgid = c->local.gid;
	tx->dgid = c->remote.gid;
	tx->port = c->port;
	tx->tos = c->tos;
	tx->hop_limit = c->hop_limit;
	cm_tx_set(cm, c, c->tx & ~what);
	cm_conn_put(cm, c);
}

bool
roce_cm_tx(struct roce_cm *cm, struct roce_cm_tx *tx)
{
	struct roce_cm_conn *c = TAILQ_FIRST(&cm->tx_queue);

	if (c != NULL) {
		pull_conn(cm, c, tx);
	} else if (cm->stateless_n > 0) {
		*tx = cm->stateless[cm->stateless_head];
		cm->stateless_head = (cm->stateless_head + 1) % CM_STATELESS;
		cm->stateless_n--;
	} else {
		return false;
	}
	cm->counters.tx_mads++;
	return true;
}
