/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends that the host asks for: of a connection, in any state, and of a listener. */
#include "cm/disconnect.h"
#include "cm/event.h"
#include "cm/manager.h"
#include "cm/outbox.h"
#include "cm/reject.h"
#include "cm/sidr_conn.h"

/* End it as far as it is not over: DREQ if established, else REJ (W-CM-48, W-CM-49). */
static void
conn_end(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	switch ((enum cm_state)c->state) {
	case CM_ESTABLISHED:
		cm_send_dreq(cm, now_ns, c);
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
	case CM_SIDR_SENT: /* nothing was promised to the peer */
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

	conn_end(cm, now_ns, c);
	if (early)
		cm_event_raise(cm, c, ROCE_CM_EV_DISCONNECTED);
}

void
roce_cm_destroy(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	c->host_holds = false;
	cm_event_forget(cm, c);
	conn_end(cm, now_ns, c);
	cm_conn_put(cm, c);
}

void
roce_cm_unlisten(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_listener *l)
{
	struct roce_cm_conn *c;

	while ((c = LIST_FIRST(&l->requests)) != NULL) {
		if (c->host_holds) {
			LIST_REMOVE(c, list_entry);
			c->listener = NULL;
		} else if (c->state == CM_SIDR_RCVD) {
			cm_sidr_request_reject(cm, now_ns, c);
		} else {
			cm_event_forget(cm, c);
			cm_refuse(cm, now_ns, c, ROCE_CM_REASON_CONSUMER);
		}
	}
	cm_listener_put(cm, l);
}
