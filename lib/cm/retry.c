/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm/manager.h"
#include "cm/message.h"
#include "cm/outbox.h"
#include "cm/retry.h"
#include "cm/table.h"
#include "cm/timer.h"

#define CM_RETRY_CAP_NS (4000 * CM_MS) /* W-CM-60 */
#define CM_MIN_RETRIES	3u	       /* even if the host slept past the time to give up */

void
cm_retry_start(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	c->retries = 0;
	c->retry_ns = cm->cfg.req_first_retry_ns;
	c->give_up_ns = now_ns + cm->cfg.give_up_ns;
	cm_timer_set(cm, c, now_ns + c->retry_ns);
}

/* Give up when cfg says so, but never before the peer had a few chances, however late this host was
 * with its ticks. */
bool
cm_retry(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, uint32_t what)
{
	const bool tried = c->retries >= CM_MIN_RETRIES;

	if (c->retries >= cm->cfg.max_retries || (tried && now_ns >= c->give_up_ns)) {
		cm->counters.timeouts++;
		return false;
	}
	c->retries++;
	cm->counters.tx_retries++;
	cm_send(cm, c, what);
	c->retry_ns = c->retry_ns * 2 < CM_RETRY_CAP_NS ? c->retry_ns * 2 : CM_RETRY_CAP_NS;
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
