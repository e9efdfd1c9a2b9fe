/* SPDX-License-Identifier: BSD-3-Clause */
/* The passive side: REQ in, REP out, RTU in. */
#include "cm/disconnect.h"
#include "cm/event.h"
#include "cm/manager.h"
#include "cm/message.h"
#include "cm/outbox.h"
#include "cm/passive.h"
#include "cm/reject.h"
#include "cm/retry.h"
#include "cm/stateless.h"
#include "cm/table.h"
#include "cm/timer.h"

#define CM_SLOW_ACCEPT_NS (1000 * CM_MS)
/* A peer that our MRA asks for 65.5 s has given up 74 s later (W-CM-62, W-CM-63). */
#define CM_UNDECIDED_NS (150000 * CM_MS)

/* ---- REQ ---- */

void
cm_request_waits(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	cm_conn_state(cm, c, CM_MRA_REQ_SENT);
	cm_send(cm, c, CM_TX_MRA);
	cm_timer_set(cm, c, now_ns + CM_UNDECIDED_NS);
}

/* A REQ for an exchange that we know (W-CM-42). */
static void
req_again(struct roce_cm *cm, const struct cm_in *in, struct roce_cm_conn *c)
{
	cm->counters.rx_duplicate++;
	if (c->state == CM_REQ_RCVD || c->state == CM_MRA_REQ_SENT) {
		cm_request_waits(cm, in->now_ns, c);
	} else if (c->refused) {
		/* Whatever we refused, the peer has only its REQ to match the REJ with. */
		cm_refuse_again(cm, in->now_ns, c, CM_WHICH_REQ);
	} else if (c->state == CM_TIMEWAIT) {
		cm_answer_rej(cm, in, ROCE_CM_REASON_STALE_CONN);
	}
}

/* What is wrong with a REQ; 0: nothing. Stricter than Linux about addresses (W-CM-08). */
static uint16_t
req_fault(const struct cm_in *in, struct cm_ip_hdr *ip)
{
	const struct cm_mad *m = &in->mad;

	if (m->transport != 0 || m->ext_transport != 0)
		return ROCE_CM_REASON_INVALID_TRANSPORT_TYPE;
	if (!roce_gid_equal(&m->dgid, &in->local) || (m->pkey & 0x7fff) != 0x7fff)
		return ROCE_CM_REASON_INVALID_GID;
	if (m->mtu < 1 || m->mtu > 5)
		return ROCE_CM_REASON_INVALID_MTU;
	if (!cm_ip_hdr_decode(ip, m->priv) || !roce_gid_equal(&ip->dst, &in->local) ||
		!roce_gid_equal(&ip->src, &in->remote) || !roce_gid_equal(&m->sgid, &in->remote))
		return ROCE_CM_REASON_CONSUMER;
	return 0;
}

static void
req_fill(struct roce_cm_conn *c, const struct cm_in *in, const struct cm_ip_hdr *ip)
{
	const struct cm_mad *m = &in->mad;

	c->remote_id = m->local_id;
	c->remote_guid = m->ca_guid;
	c->tid = m->tid;
	c->local = (struct roce_cm_addr){in->local, (uint16_t)m->service_id};
	c->remote = (struct roce_cm_addr){in->remote, ip->src_port};
	c->port = in->port;
	c->peer = (struct roce_cm_qp_params){
		.qpn = m->qpn,
		.psn = m->psn,
		.responder_resources = (uint8_t)m->responder_resources,
		.initiator_depth = (uint8_t)m->initiator_depth,
		.retry_count = (uint8_t)m->retry_count,
		.rnr_retry = (uint8_t)m->rnr_retry,
		.srq = m->srq != 0,
	};
	c->max_retries = cm_retries_granted(m->max_retries);
	c->resp_timeout = (uint8_t)m->local_resp_timeout;
	c->mtu_code = (uint8_t)m->mtu;
	c->ack_timeout = (uint8_t)m->ack_timeout;
	/* W-CM-73. Its ECN bits stay behind: whether what we send reacts to congestion is not the
	 * peer's to say. */
	c->tos = (uint8_t)(m->tclass & ~ROCE_TOS_ECN);
	/* Old peers say 0 or 1 for "same subnet"; routers count too (W-CM-74). */
	c->hop_limit = m->hop_limit > 1 ? (uint8_t)m->hop_limit : ROCE_HOP_LIMIT;
	c->flow_label = m->flow_label;
	cm_set_in_priv(c, m->priv + CM_IP_HDR_BYTES, ROCE_CM_REQ_PRIV);
}

/* W-CM-50: an MRA leaves before the peer may expect an answer. */
static uint64_t
req_patience(const struct cm_mad *m)
{
	const uint64_t half = cm_code_ns(m->remote_resp_timeout) / 2;

	return half < CM_SLOW_ACCEPT_NS ? half : CM_SLOW_ACCEPT_NS;
}

static void
req_accept(struct roce_cm *cm, const struct cm_in *in, struct roce_cm_listener *l)
{
	const struct cm_claim claim = cm_claim_passive(l, in->origin);
	struct roce_cm_conn *c;
	struct cm_ip_hdr ip;
	const uint16_t fault = req_fault(in, &ip);

	if (fault != 0) {
		cm->counters.rejected_invalid++;
		cm_answer_rej(cm, in, fault);
		return;
	}
	if (cm_listener_is_full(l)) {
		cm->counters.rejected_backlog++;
		cm_answer_rej(cm, in, ROCE_CM_REASON_CONSUMER);
		return;
	}
	c = cm_conn_new(cm, CM_REQ_RCVD, &claim);
	if (c == NULL) {
		cm_answer_rej(cm, in, ROCE_CM_REASON_NO_RESOURCES);
		return;
	}
	req_fill(c, in, &ip);
	cm_listener_add(l, c);
	cm_table_link(cm, c, CM_BY_REMOTE_ID);
	cm_table_link(cm, c, CM_BY_REMOTE_QPN);
	cm_timer_set(cm, c, in->now_ns + req_patience(&in->mad));
	cm_event_request(cm, c, ROCE_CM_EV_REQUEST);
}

/* A repeated REQ is answered before a stale one is, and that before a listener is looked for
 * (W-CM-42, W-CM-53). */
void
cm_recv_req(struct roce_cm *cm, const struct cm_in *in)
{
	const struct cm_mad *m = &in->mad;
	struct roce_cm_listener *l;
	struct roce_cm_conn *c;

	if (m->local_id == 0 || m->qpn <= ROCE_QPN_GSI) {
		cm->counters.rx_malformed++;
		return;
	}
	c = cm_find_remote_id(cm, m->ca_guid, &in->remote, m->local_id);
	if (c != NULL) {
		req_again(cm, in, c);
		return;
	}
	c = cm_find_remote_qpn(cm, m->ca_guid, &in->remote, m->qpn);
	if (c != NULL) {
		cm->counters.stale++;
		cm_answer_rej(cm, in, ROCE_CM_REASON_STALE_CONN);
		cm_stale(cm, in->now_ns, c);
		return;
	}
	l = in->mad.service_id == cm_service_id((uint16_t)in->mad.service_id)
		    ? cm_find_listener(cm, in)
		    : NULL;
	if (l == NULL || l->paused) {
		cm->counters.rejected_no_listener++;
		cm_answer_rej(cm, in, ROCE_CM_REASON_INVALID_SERVICE_ID);
		return;
	}
	req_accept(cm, in, l);
}

/* ---- REP and RTU ---- */

static uint8_t
least_depth(uint8_t wanted, uint8_t offered)
{
	return wanted < offered ? wanted : offered;
}

bool
roce_cm_accept(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c,
	const struct roce_cm_qp_params *qp, const void *priv, uint32_t priv_bytes, void *owner)
{
	if (c->state != CM_REQ_RCVD && c->state != CM_MRA_REQ_SENT)
		return false;
	if (!cm_set_out_priv(c, priv, priv_bytes, ROCE_CM_REP_PRIV))
		return false;
	c->owner = owner;
	c->qp = *qp;
	/* What we serve is what the peer may issue, and the other way round (W-CM-30). */
	c->qp.responder_resources = least_depth(qp->responder_resources, c->peer.initiator_depth);
	c->qp.initiator_depth = least_depth(qp->initiator_depth, c->peer.responder_resources);
	cm_table_link(cm, c, CM_BY_LOCAL_QPN);
	cm_conn_state(cm, c, CM_REP_SENT);
	cm_send(cm, c, CM_TX_REP);
	cm_retry_start(cm, now_ns, c);
	return true;
}

void
roce_cm_established(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	(void)now_ns;
	if (c->state != CM_REP_SENT && c->state != CM_MRA_REP_RCVD)
		return;
	cm_conn_state(cm, c, CM_ESTABLISHED);
	cm_event_raise(cm, c, ROCE_CM_EV_ESTABLISHED);
}

void
cm_recv_rtu(struct roce_cm *cm, const struct cm_in *in)
{
	struct roce_cm_conn *c = cm_find_both(cm, in);

	if (c == NULL)
		cm->counters.rx_dropped++;
	else if (c->state == CM_REP_SENT || c->state == CM_MRA_REP_RCVD)
		roce_cm_established(cm, in->now_ns, c);
	else
		cm->counters.rx_duplicate++;
}
