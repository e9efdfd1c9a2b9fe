/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm/disconnect.h"
#include "cm/event.h"
#include "cm/manager.h"
#include "cm/message.h"
#include "cm/outbox.h"
#include "cm/retry.h"
#include "cm/stateless.h"
#include "cm/table.h"

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

void
cm_stale(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *old)
{
	if (old->state == CM_ESTABLISHED) {
		old->ev_by_peer = true;
		cm_send_dreq(cm, now_ns, old);
	} else if (old->state != CM_DREQ_SENT) {
		old->ev_reason = ROCE_CM_REASON_STALE_CONN;
		old->in_priv_bytes = 0;
		cm_event_raise(cm, old, ROCE_CM_EV_REJECTED);
		cm_conn_timewait(cm, now_ns, old);
	}
}
