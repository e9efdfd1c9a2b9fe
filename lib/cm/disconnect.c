/* SPDX-License-Identifier: BSD-3-Clause */
/* The ends of a connection: refused, disconnected, given up, forgotten. */
#include <string.h>

#include "cm/private.h"

/* ---- REJ out ---- */

/* W-CM-48: what a REJ says of itself depends on what was exchanged before. */
static void
rej_form(struct roce_cm_conn *c)
{
	switch ((enum cm_state)c->state) {
	case CM_REQ_RCVD:
		c->rej_without_id = true; /* the peer has not seen our comm id */
		c->rej_which = CM_WHICH_REQ;
		break;
	case CM_MRA_REQ_SENT:
		c->rej_which = CM_WHICH_REQ;
		break;
	case CM_REP_RCVD:
	case CM_MRA_REP_SENT:
		c->rej_which = CM_WHICH_REP;
		break;
	default:
		c->rej_which = CM_WHICH_OTHER;
		break;
	}
}

/*
 * The REJ may be lost, and the peer then repeats its REQ or REP. Without memory of the
 * exchange a repeated REQ would be a new request to the listener, so we hold it; but no
 * more than a part of the table, which refused peers must not fill.
 */
static void
refuse(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, uint16_t reason)
{
	rej_form(c);
	c->rej_reason = reason;
	cm_conn_timewait(cm, now_ns, c);
	cm_send(cm, c, CM_TX_REJ);
	if (cm->refused < cm->cfg.max_conns / 4) {
		c->refused = true;
		cm->refused++;
		cm_timer_set(cm, c, now_ns + CM_REFUSED_HOLD_NS);
	}
}

void
cm_refuse(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, uint16_t reason)
{
	cm_set_out_priv(c, NULL, 0, 0);
	if (reason == ROCE_CM_REASON_TIMEOUT) {
		/* The peer finds us by GUID: it may not have told us its comm id (W-CM-49). */
		c->ari_bytes = sizeof(c->ari);
		for (unsigned i = 0; i < sizeof(c->ari); i++)
			c->ari[i] = (uint8_t)(cm->cfg.ca_guid >> (56 - 8 * i));
	}
	refuse(cm, now_ns, c, reason);
}

void
cm_refuse_again(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, enum cm_which which)
{
	c->rej_which = (uint8_t)which;
	cm_send(cm, c, CM_TX_REJ);
	cm_timer_set(cm, c, now_ns + CM_REFUSED_HOLD_NS); /* this one may be lost as well */
}

static bool
may_reject(const struct roce_cm_conn *c)
{
	return c->state == CM_REQ_RCVD || c->state == CM_MRA_REQ_SENT || c->state == CM_REP_RCVD ||
	       c->state == CM_MRA_REP_SENT;
}

bool
roce_cm_reject(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, uint16_t reason,
	const void *priv, uint32_t priv_bytes)
{
	if (!may_reject(c) || !cm_set_out_priv(c, priv, priv_bytes, ROCE_CM_REJ_PRIV))
		return false;
	cm_event_forget(cm, c);
	refuse(cm, now_ns, c, reason);
	return true;
}

bool
roce_cm_reject_mtu(
	struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, uint8_t max_mtu_code)
{
	if (!may_reject(c))
		return false;
	c->ari_bytes = 1;
	c->ari[0] = (uint8_t)(max_mtu_code << 4);
	return roce_cm_reject(cm, now_ns, c, ROCE_CM_REASON_INVALID_MTU, NULL, 0);
}

/* ---- REJ in ---- */

/*
 * W-CM-41. Whom a REJ means: a peer that gives up may know only its own comm id and
 * names itself by GUID; one that refuses our REQ may have no comm id yet.
 */
static struct roce_cm_conn *
find_rejected(struct roce_cm *cm, const struct cm_in *in)
{
	const struct cm_mad *m = &in->mad;
	struct roce_cm_conn *c;
	uint64_t guid = 0;

	if (m->reason == ROCE_CM_REASON_TIMEOUT && m->ari_bytes == sizeof(guid)) {
		for (unsigned i = 0; i < sizeof(guid); i++)
			guid = guid << 8 | m->ari[i];
		c = cm_find_remote_id(cm, guid, &in->remote, m->local_id);
		if (c != NULL)
			return c;
	}
	if (m->which != CM_WHICH_REQ)
		return cm_find_both(cm, in);
	c = cm_find_mine(cm, in);
	return c != NULL && c->remote_id == 0 ? c : NULL;
}

void
cm_recv_rej(struct roce_cm *cm, const struct cm_in *in)
{
	struct roce_cm_conn *c = find_rejected(cm, in);

	switch (c != NULL ? (enum cm_state)c->state : CM_FREE) {
	case CM_REQ_SENT:
	case CM_MRA_REQ_RCVD:
	case CM_REP_RCVD:
	case CM_MRA_REP_SENT:
	case CM_REQ_RCVD:
	case CM_MRA_REQ_SENT:
	case CM_REP_SENT:
	case CM_MRA_REP_RCVD:
		c->ev_reason = (uint16_t)in->mad.reason;
		cm_set_in_priv(c, in->mad.priv, ROCE_CM_REJ_PRIV);
		cm_event_raise(cm, c, ROCE_CM_EV_REJECTED);
		/* Refused before anything was known of the peer: nothing of it can come late. */
		if (c->remote_id == 0 && in->mad.reason != ROCE_CM_REASON_STALE_CONN)
			cm_conn_dead(cm, c);
		else
			cm_conn_timewait(cm, in->now_ns, c);
		break;
	case CM_ESTABLISHED:
		c->ev_by_peer = true;
		/* fallthrough */
	case CM_DREQ_SENT:
		cm_event_raise(cm, c, ROCE_CM_EV_DISCONNECTED);
		cm_conn_timewait(cm, in->now_ns, c);
		break;
	default:
		cm->counters.rx_dropped++;
		break;
	}
}

/* ---- DREQ and DREP ---- */

static void
send_dreq(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	c->dreq_tid = cm_new_tid(cm, c->local_id);
	cm_conn_state(cm, c, CM_DREQ_SENT);
	cm_send(cm, c, CM_TX_DREQ);
	cm_retry_start(cm, now_ns, c);
}

/* A DREQ for a connection that we know: tell the host, and answer at once (W-CM-45). */
static void
dreq_accept(struct roce_cm *cm, const struct cm_in *in, struct roce_cm_conn *c)
{
	switch ((enum cm_state)c->state) {
	case CM_REP_RCVD:
	case CM_MRA_REP_SENT: /* no Linux does this; an accept that was taken back */
		c->ev_reason = ROCE_CM_REASON_CONSUMER;
		c->in_priv_bytes = 0;
		cm_event_raise(cm, c, ROCE_CM_EV_REJECTED);
		break;
	case CM_REP_SENT:
	case CM_MRA_REP_RCVD: /* only who sent RTU sends DREQ: the RTU was lost or overtaken */
		cm_event_raise(cm, c, ROCE_CM_EV_ESTABLISHED);
		/* fallthrough */
	case CM_ESTABLISHED:
		c->ev_by_peer = true;
		/* fallthrough */
	case CM_DREQ_SENT:
		cm_event_raise(cm, c, ROCE_CM_EV_DISCONNECTED);
		break;
	default:
		cm->counters.rx_dropped++;
		return;
	}
	cm_conn_timewait(cm, in->now_ns, c);
	cm_send(cm, c, CM_TX_DREP);
}

void
cm_recv_dreq(struct roce_cm *cm, const struct cm_in *in)
{
	struct roce_cm_conn *c = cm_find_both(cm, in);

	if (c == NULL) {
		/* Long forgotten, or of our life before a restart (W-CM-45, W-CM-53). */
		cm_answer_drep(cm, in);
	} else if (in->mad.qpn != c->qp.qpn) {
		cm->counters.rx_dropped++;
	} else {
		c->drep_tid = in->mad.tid;
		if (c->state == CM_TIMEWAIT) {
			cm->counters.rx_duplicate++;
			cm_send(cm, c, CM_TX_DREP);
		} else {
			dreq_accept(cm, in, c);
		}
	}
}

void
cm_recv_drep(struct roce_cm *cm, const struct cm_in *in)
{
	struct roce_cm_conn *c = cm_find_both(cm, in);

	if (c == NULL || c->state != CM_DREQ_SENT) {
		cm->counters.rx_dropped++;
		return;
	}
	cm_event_raise(cm, c, ROCE_CM_EV_DISCONNECTED);
	cm_conn_timewait(cm, in->now_ns, c);
}

/* ---- ends that come from here ---- */

void
cm_stale(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *old)
{
	if (old->state == CM_ESTABLISHED) {
		old->ev_by_peer = true;
		send_dreq(cm, now_ns, old);
	} else if (old->state != CM_DREQ_SENT) {
		old->ev_reason = ROCE_CM_REASON_STALE_CONN;
		old->in_priv_bytes = 0;
		cm_event_raise(cm, old, ROCE_CM_EV_REJECTED);
		cm_conn_timewait(cm, now_ns, old);
	}
}

void
cm_give_up(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	if (c->state == CM_DREQ_SENT) { /* W-CM-46 */
		c->ev_timed_out = true;
		cm_event_raise(cm, c, ROCE_CM_EV_DISCONNECTED);
		cm_conn_timewait(cm, now_ns, c);
	} else if (c->state == CM_SIDR_SENT) {
		cm_sidr_query_timed_out(cm, c);
	} else {
		cm_event_raise(cm, c, ROCE_CM_EV_UNREACHABLE);
		cm_refuse(cm, now_ns, c, ROCE_CM_REASON_TIMEOUT);
	}
}

/* End it as far as it is not over: DREQ if established, else REJ (W-CM-48, W-CM-49). */
static void
end(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	switch ((enum cm_state)c->state) {
	case CM_ESTABLISHED:
		send_dreq(cm, now_ns, c);
		break;
	case CM_REQ_SENT:
	case CM_MRA_REQ_RCVD:
		cm_refuse(cm, now_ns, c, ROCE_CM_REASON_TIMEOUT);
		break;
	case CM_REP_RCVD:
	case CM_MRA_REP_SENT:
	case CM_REQ_RCVD:
	case CM_MRA_REQ_SENT:
	case CM_REP_SENT:
	case CM_MRA_REP_RCVD:
		cm_refuse(cm, now_ns, c, ROCE_CM_REASON_CONSUMER);
		break;
	case CM_SIDR_SENT: /* nobody is left to tell */
		cm_tx_set(cm, c, 0);
		cm_conn_dead(cm, c);
		break;
	case CM_SIDR_RCVD:
		cm_sidr_request_reject(cm, now_ns, c);
		break;
	default:
		break;
	}
}

void
roce_cm_disconnect(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	const bool early = c->state < CM_ESTABLISHED;

	end(cm, now_ns, c);
	if (early)
		cm_event_raise(cm, c, ROCE_CM_EV_DISCONNECTED);
}

void
roce_cm_destroy(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	c->host_holds = false;
	cm_event_forget(cm, c);
	end(cm, now_ns, c);
	cm_conn_put(cm, c);
}
