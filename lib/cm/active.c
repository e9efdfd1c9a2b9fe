/* SPDX-License-Identifier: BSD-3-Clause */
/* The active side: REQ out, REP in, RTU out. */
#include "cm/build.h"
#include "cm/disconnect.h"
#include "cm/event.h"
#include "cm/id.h"
#include "cm/manager.h"
#include "cm/message.h"
#include "cm/outbox.h"
#include "cm/reject.h"
#include "cm/retry.h"
#include "cm/table.h"

#define CM_ACK_TIMEOUT 17u /* that CM_TARGET_ACK_DELAY and CM_PACKET_LIFETIME make */

struct roce_cm_conn *
roce_cm_connect(struct roce_cm *cm, uint64_t now_ns, const struct roce_cm_connect *p)
{
	const struct cm_claim claim = cm_claim_active(p->user);
	struct roce_cm_conn *c;

	if (p->priv_bytes > ROCE_CM_REQ_PRIV)
		return NULL;
	c = cm_conn_new(cm, CM_REQ_SENT, &claim);
	if (c == NULL)
		return NULL;
	c->host_holds = true;
	c->owner = p->owner;
	c->tid = cm_new_tid(cm, c->local_id);
	c->local = p->local;
	c->remote = p->remote;
	c->port = p->port;
	c->qp = p->qp;
	c->max_retries = cm->cfg.max_retries;
	c->mtu_code = p->mtu_code;
	c->ack_timeout = p->ack_timeout != 0 ? p->ack_timeout : CM_ACK_TIMEOUT;
	c->tos = p->tos;
	c->sl = p->sl;
	c->hop_limit = p->hop_limit != 0 ? p->hop_limit : ROCE_HOP_LIMIT;
	c->flow_label = p->flow_label != 0 ? p->flow_label & 0xfffff
					   : roce_cm_flow_label(p->local.port, p->remote.port);
	cm_set_out_priv(c, p->priv, p->priv_bytes, ROCE_CM_REQ_PRIV);
	cm_table_link(cm, c, CM_BY_LOCAL_QPN);
	cm_send(cm, c, CM_TX_REQ);
	cm_retry_start(cm, now_ns, c);
	return c;
}

/* ACK timeout from the peer's delay, of five bits, and the packet lifetime, all as exponents
 * (W-CM-33): the next one above their larger, if they are no more than one apart. */
static uint8_t
ack_timeout(uint32_t delay)
{
	const uint32_t there_and_back = CM_PACKET_LIFETIME + 1;

	if (delay > there_and_back)
		return (uint8_t)(delay + (there_and_back >= delay - 1));
	return (uint8_t)(there_and_back + (delay >= there_and_back - 1));
}

static void
rep_accept(struct roce_cm *cm, const struct cm_in *in, struct roce_cm_conn *c)
{
	const struct cm_mad *m = &in->mad;
	struct roce_cm_conn *old;

	c->remote_id = m->local_id;
	c->remote_guid = m->ca_guid;
	cm_conn_state(cm, c, CM_REP_RCVD);
	old = cm_find_remote_qpn(cm, m->ca_guid, &in->remote, m->qpn);
	if (old != NULL) { /* W-CM-43 */
		cm->counters.stale++;
		c->ev_reason = ROCE_CM_REASON_STALE_CONN;
		cm_event_raise(cm, c, ROCE_CM_EV_REJECTED);
		cm_refuse(cm, in->now_ns, c, ROCE_CM_REASON_STALE_CONN);
		cm_stale(cm, in->now_ns, old);
		return;
	}
	c->peer = (struct roce_cm_qp_params){
		.qpn = m->qpn,
		.psn = m->psn,
		.responder_resources = (uint8_t)m->responder_resources,
		.initiator_depth = (uint8_t)m->initiator_depth,
		.retry_count = c->qp.retry_count, /* our own: a REP has none */
		.rnr_retry = (uint8_t)m->rnr_retry,
		.srq = m->srq != 0,
	};
	c->reply_ack_timeout = ack_timeout(m->target_ack_delay);
	cm_table_link(cm, c, CM_BY_REMOTE_ID);
	cm_table_link(cm, c, CM_BY_REMOTE_QPN);
	cm_set_in_priv(c, m->priv, ROCE_CM_REP_PRIV);
	cm_event_raise(cm, c, ROCE_CM_EV_REPLY);
}

/* The peer did not hear our answer to its first REP (W-CM-43). */
static void
rep_again(struct roce_cm *cm, const struct cm_in *in, struct roce_cm_conn *c)
{
	if (c->remote_id != in->mad.local_id && c->remote_id != 0) {
		cm->counters.rx_dropped++;
		return;
	}
	cm->counters.rx_duplicate++;
	if (c->state == CM_ESTABLISHED) {
		cm_send(cm, c, CM_TX_RTU);
	} else if (c->state == CM_REP_RCVD || c->state == CM_MRA_REP_SENT) {
		/* Our host is slow, not dead (R-CONN-06). */
		cm_conn_state(cm, c, CM_MRA_REP_SENT);
		cm_send(cm, c, CM_TX_MRA);
	} else if (c->refused) {
		/* Our REJ was lost, or crossed this REP and could not name the peer's id. */
		c->remote_id = in->mad.local_id;
		cm_refuse_again(cm, in->now_ns, c, CM_WHICH_REP);
	}
}

void
cm_recv_rep(struct roce_cm *cm, const struct cm_in *in)
{
	struct roce_cm_conn *c = cm_find_mine(cm, in);

	if (in->mad.local_id == 0 || in->mad.qpn <= ROCE_QPN_GSI)
		cm->counters.rx_malformed++;
	else if (c == NULL || !c->active)
		cm->counters.rx_dropped++;
	else if (c->state == CM_REQ_SENT || c->state == CM_MRA_REQ_RCVD)
		rep_accept(cm, in, c);
	else
		rep_again(cm, in, c);
}

bool
roce_cm_complete(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	(void)now_ns;
	if (c->state != CM_REP_RCVD && c->state != CM_MRA_REP_SENT)
		return false;
	cm_conn_state(cm, c, CM_ESTABLISHED);
	cm_send(cm, c, CM_TX_RTU);
	return true;
}
