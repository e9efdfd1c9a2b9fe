/* SPDX-License-Identifier: BSD-3-Clause */
/* Refusals: which REJ fits, for how long it is held, and which connection one means. */
#include "base/bytes.h"
#include "cm/event.h"
#include "cm/manager.h"
#include "cm/message.h"
#include "cm/outbox.h"
#include "cm/reject.h"
#include "cm/table.h"
#include "cm/timer.h"

/* Longer than the longest pause between two copies of a REQ, ours or Linux's, as long as no MRA
 * asks the peer for patience. */
#define CM_REFUSED_HOLD_NS (10000 * CM_MS)
/* After an MRA: 0.2, 0.6, 1.4, 3 and 6.2 s after the first one. It is held for 12.6 s. */
#define CM_REJ_COPIES	     5
#define CM_REJ_FIRST_COPY_NS (200 * CM_MS)

/* W-CM-48: what a REJ says of itself depends on what was exchanged before. */
static void
conn_rej_form(struct roce_cm_conn *c)
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
 *
 * A peer that has had an MRA repeats nothing for as long as that asks it to wait, which is a
 * minute. So the REJ is repeated instead; the peer drops what it does not need.
 */
static void
conn_refuse(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, uint16_t reason)
{
	const bool patient = c->state == CM_MRA_REQ_SENT || c->state == CM_MRA_REP_SENT;

	conn_rej_form(c);
	c->rej_reason = reason;
	cm_conn_timewait(cm, now_ns, c);
	cm_send(cm, c, CM_TX_REJ);
	if (cm->refused < cm->cfg.max_passive / 4) {
		c->refused = true;
		cm->refused++;
		c->rej_copies = patient ? CM_REJ_COPIES : 0;
		c->retry_ns = patient ? CM_REJ_FIRST_COPY_NS : CM_REFUSED_HOLD_NS;
		cm_timer_set(cm, c, now_ns + c->retry_ns);
	}
}

bool
cm_refusal_repeats(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	if (c->rej_copies == 0)
		return false;
	c->rej_copies--;
	c->retry_ns *= 2;
	cm->counters.tx_retries++;
	cm_send(cm, c, CM_TX_REJ);
	cm_timer_set(cm, c, now_ns + c->retry_ns);
	return true;
}

void
cm_refuse(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, uint16_t reason)
{
	cm_set_out_priv(c, NULL, 0, 0);
	if (reason == ROCE_CM_REASON_TIMEOUT) {
		/* The peer finds us by GUID: it may not have told us its comm id (W-CM-49). */
		c->ari_bytes = sizeof(uint64_t);
		roce_put_be64(c->ari, cm->cfg.ca_guid);
	}
	conn_refuse(cm, now_ns, c, reason);
}

void
cm_refuse_again(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, enum cm_which which)
{
	c->rej_which = (uint8_t)which;
	c->rej_copies = 0; /* it asks */
	cm_send(cm, c, CM_TX_REJ);
	cm_timer_set(cm, c, now_ns + CM_REFUSED_HOLD_NS); /* this one may be lost as well */
}

static bool
conn_may_reject(const struct roce_cm_conn *c)
{
	return c->state == CM_REQ_RCVD || c->state == CM_MRA_REQ_SENT || c->state == CM_REP_RCVD ||
	       c->state == CM_MRA_REP_SENT;
}

bool
roce_cm_reject(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, uint16_t reason,
	const void *priv, uint32_t priv_bytes)
{
	if (!conn_may_reject(c) || !cm_set_out_priv(c, priv, priv_bytes, ROCE_CM_REJ_PRIV))
		return false;
	cm_event_forget(cm, c);
	conn_refuse(cm, now_ns, c, reason);
	return true;
}

bool
roce_cm_reject_mtu(
	struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, uint8_t max_mtu_code)
{
	if (!conn_may_reject(c))
		return false;
	c->ari_bytes = 1;
	c->ari[0] = (uint8_t)(max_mtu_code << 4);
	return roce_cm_reject(cm, now_ns, c, ROCE_CM_REASON_INVALID_MTU, NULL, 0);
}

/*
 * The connection that a REJ means (W-CM-41): a peer that gives up before the RTU may know only its
 * own comm id and names itself by GUID; one that refuses our REQ may have no comm id yet.
 */
static struct roce_cm_conn *
find_rejected(struct roce_cm *cm, const struct cm_in *in)
{
	const struct cm_mad *m = &in->mad;
	struct roce_cm_conn *c;

	if (m->reason == ROCE_CM_REASON_TIMEOUT && m->ari_bytes == sizeof(uint64_t)) {
		c = cm_find_remote_id(cm, roce_get_be64(m->ari), &in->remote, m->local_id);
		if (c != NULL && c->state < CM_ESTABLISHED &&
			roce_gid_equal(&c->local.gid, &in->local))
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
		/* Refused before anything was known of the peer: no message of it can come late. */
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
