/* SPDX-License-Identifier: BSD-3-Clause */
/* What a deadline means, by state. */
#include "cm/check.h"
#include "cm/event.h"
#include "cm/manager.h"
#include "cm/passive.h"
#include "cm/reject.h"
#include "cm/retry.h"
#include "cm/sidr_conn.h"
#include "cm/timer.h"

#define TICK_BUDGET 512u

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

static void
conn_expired(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	const uint32_t repeats = cm_state_facts[c->state].repeats;

	if (repeats != 0 && cm_retry(cm, now_ns, c, repeats))
		return;
	switch ((enum cm_state)c->state) {
	case CM_REQ_RCVD: /* the host takes its time: the peer shall not give up (R-CONN-06) */
		cm_request_waits(cm, now_ns, c);
		break;
	case CM_MRA_REQ_SENT: /* the peer gave up */
		cm->counters.timeouts++;
		cm_give_up(cm, now_ns, c);
		break;
	case CM_SIDR_RCVD:
		cm_sidr_request_gone(cm, c);
		break;
	case CM_TIMEWAIT:
		if (!cm_refusal_repeats(cm, now_ns, c))
			cm_conn_dead(cm, c);
		break;
	case CM_SIDR_ANSWERED:
		cm_conn_dead(cm, c);
		break;
	default: /* those that repeat a message */
		cm_give_up(cm, now_ns, c);
		break;
	}
}

void
roce_cm_tick(struct roce_cm *cm, uint64_t now_ns)
{
	cm_assert_sound(cm);
	for (uint32_t n = 0; n < TICK_BUDGET && roce_cm_next_deadline(cm) <= now_ns; n++) {
		struct roce_cm_conn *c = cm->heap[0];

		cm_timer_cancel(cm, c);
		conn_expired(cm, now_ns, c);
	}
}
