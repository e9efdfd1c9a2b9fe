/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm/manager.h"
#include "cm/message.h"
#include "cm/outbox.h"
#include "cm/retry.h"
#include "cm/table.h"
#include "cm/timer.h"

#define CM_RETRY_CAP_NS (4000 * CM_MS)	 /* W-CM-60 */
#define CM_PATIENCE_NS	(300000 * CM_MS) /* the longest that a peer may ask for */

uint8_t
cm_retries_granted(uint32_t asked)
{
	return (uint8_t)(asked > CM_RETRIES_LEAST ? asked : CM_RETRIES_LEAST);
}

/* The peer's word, but neither a moment nor hours: its queue pair is waited for here. */
static uint64_t
reply_patience_ns(const struct roce_cm *cm, const struct roce_cm_conn *c)
{
	const uint64_t asked = (c->max_retries + 1) * cm_code_ns(c->resp_timeout);

	if (asked > CM_PATIENCE_NS)
		return CM_PATIENCE_NS;
	return asked > cm->cfg.give_up_ns ? asked : cm->cfg.give_up_ns;
}

uint64_t
cm_retry_patience_ns(const struct roce_cm *cm, const struct roce_cm_conn *c)
{
	switch ((enum cm_state)c->state) {
	case CM_REQ_SENT:
	case CM_MRA_REQ_RCVD:
	case CM_SIDR_SENT: /* what our REQ says, and the way there and back */
		return (c->max_retries + 1) *
		       (cm_code_ns(CM_RESPONSE_TIMEOUT) + 2 * cm_code_ns(CM_PACKET_LIFETIME));
	case CM_REP_SENT:
	case CM_MRA_REP_RCVD:
		return reply_patience_ns(cm, c);
	default: /* DREQ_SENT: no application is asked */
		return cm->cfg.give_up_ns;
	}
}

void
cm_retry_start(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	c->retries = 0;
	c->retry_ns = cm->cfg.req_first_retry_ns;
	c->give_up_ns = now_ns + cm_retry_patience_ns(cm, c);
	cm_timer_set(cm, c, now_ns + c->retry_ns);
}

/* Twice the last one, but no longer than what spreads the copies over the time. */
static uint64_t
retry_next_ns(const struct roce_cm *cm, const struct roce_cm_conn *c)
{
	const uint64_t even = cm_retry_patience_ns(cm, c) / (c->max_retries + 1);
	const uint64_t cap = even > CM_RETRY_CAP_NS ? even : CM_RETRY_CAP_NS;

	return c->retry_ns * 2 < cap ? c->retry_ns * 2 : cap;
}

/* Give up when the time is over, but never before the peer had a few chances, however late this
 * host was with its ticks. */
bool
cm_retry(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, uint32_t what)
{
	const bool all = c->retries >= c->max_retries;

	if (now_ns >= c->give_up_ns && (all || c->retries >= CM_RETRIES_LEAST)) {
		cm->counters.timeouts++;
		return false;
	}
	if (all) {
		cm_timer_set(cm, c, c->give_up_ns);
		return true;
	}
	c->retries++;
	cm->counters.tx_retries++;
	cm_send(cm, c, what);
	c->retry_ns = retry_next_ns(cm, c);
	if (now_ns < c->give_up_ns && c->give_up_ns - now_ns < c->retry_ns)
		cm_timer_set(cm, c, c->give_up_ns);
	else
		cm_timer_set(cm, c, now_ns + c->retry_ns);
	return true;
}

/* The peer asked for patience: wait, then begin anew. */
static void
retry_extend(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, uint32_t service_timeout)
{
	const uint64_t until = now_ns + cm_code_ns(service_timeout) + cm_code_ns(c->ack_timeout);

	cm_retry_start(cm, until, c);
	cm_timer_set(cm, c, until);
}

/*
 * MRA: the peer lives and its consumer needs time. An MRA of the REQ comes before we know the
 * peer's comm id (W-CM-50).
 */
void
cm_recv_mra(struct roce_cm *cm, const struct cm_in *in)
{
	struct roce_cm_conn *c;

	if (in->mad.which == CM_WHICH_REQ) {
		c = cm_find_mine(cm, in);
		if (c != NULL && (c->state == CM_REQ_SENT || c->state == CM_MRA_REQ_RCVD)) {
			cm_conn_state(cm, c, CM_MRA_REQ_RCVD);
			retry_extend(cm, in->now_ns, c, in->mad.service_timeout);
			return;
		}
	} else if (in->mad.which == CM_WHICH_REP) {
		c = cm_find_both(cm, in);
		if (c != NULL && (c->state == CM_REP_SENT || c->state == CM_MRA_REP_RCVD)) {
			cm_conn_state(cm, c, CM_MRA_REP_RCVD);
			retry_extend(cm, in->now_ns, c, in->mad.service_timeout);
			return;
		}
	}
	cm->counters.rx_dropped++;
}
