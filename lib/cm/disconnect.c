/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm/disconnect.h"
#include "cm/event.h"
#include "cm/id.h"
#include "cm/manager.h"
#include "cm/message.h"
#include "cm/outbox.h"
#include "cm/retry.h"
#include "cm/stateless.h"
#include "cm/table.h"
#include "cm/timer.h"

#define CHALLENGE_EVERY_NS (1000 * CM_MS)

void
cm_send_dreq(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
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
	case CM_MRA_REP_RCVD: /* a DREQ comes after an RTU, which was lost or overtaken */
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
		if (cm_origin_may_ask(cm, in->now_ns, in->origin))
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

/* The peer does not know of a connection, which our host had no wish to end. */
static bool
drep_is_to_challenge(const struct roce_cm_conn *c, const struct cm_in *in)
{
	return c->state == CM_ESTABLISHED && c->challenged && in->mad.tid == c->dreq_tid;
}

void
cm_recv_drep(struct roce_cm *cm, const struct cm_in *in)
{
	struct roce_cm_conn *c = cm_find_both(cm, in);

	if (c == NULL || (c->state != CM_DREQ_SENT && !drep_is_to_challenge(c, in))) {
		cm->counters.rx_dropped++;
		return;
	}
	if (c->state == CM_ESTABLISHED)
		c->ev_by_peer = true;
	cm_event_raise(cm, c, ROCE_CM_EV_DISCONNECTED);
	cm_conn_timewait(cm, in->now_ns, c);
}

/*
 * A host that can send from the peer's address can claim that the peer has forgotten a connection;
 * so the peer itself is asked, by a DREQ that names a queue pair which none of its connections has.
 * If it knows of this one it ignores that (W-CM-45 [2]); if not it answers (W-CM-45 [1]). If
 * question or answer is lost, the next REQ brings the question anew.
 */
static void
conn_challenge(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	if (now_ns < c->challenge_ns)
		return;
	cm->counters.challenges++;
	c->challenged = true;
	c->challenge_ns = now_ns + CHALLENGE_EVERY_NS;
	c->dreq_tid = cm_new_tid(cm, c->local_id);
	cm_send(cm, c, CM_TX_DREQ);
}

void
cm_stale(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *old)
{
	if (old->state == CM_ESTABLISHED) {
		conn_challenge(cm, now_ns, old);
	} else if (old->state != CM_DREQ_SENT) {
		old->ev_reason = ROCE_CM_REASON_STALE_CONN;
		old->in_priv_bytes = 0;
		cm_event_raise(cm, old, ROCE_CM_EV_REJECTED);
		cm_conn_timewait(cm, now_ns, old);
	}
}
