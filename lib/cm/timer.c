/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One deadline per connection in a binary heap: thousands of connections, and the next
 * deadline is always at hand.
 */
#include "cm/private.h"

static void
heap_place(struct roce_cm *cm, uint32_t i, struct roce_cm_conn *c)
{
	cm->heap[i] = c;
	c->timer_pos = i + 1;
}

static void
heap_up(struct roce_cm *cm, uint32_t i, struct roce_cm_conn *c)
{
	for (; i > 0; i = (i - 1) / 2) {
		struct roce_cm_conn *parent = cm->heap[(i - 1) / 2];

		if (parent->deadline_ns <= c->deadline_ns)
			break;
		heap_place(cm, i, parent);
	}
	heap_place(cm, i, c);
}

static void
heap_down(struct roce_cm *cm, uint32_t i, struct roce_cm_conn *c)
{
	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= cm->heap_n)
			break;
		if (child + 1 < cm->heap_n &&
			cm->heap[child + 1]->deadline_ns < cm->heap[child]->deadline_ns)
			child++;
		if (c->deadline_ns <= cm->heap[child]->deadline_ns)
			break;
		heap_place(cm, i, cm->heap[child]);
		i = child;
	}
	heap_place(cm, i, c);
}

void
cm_timer_cancel(struct roce_cm *cm, struct roce_cm_conn *c)
{
	const uint32_t i = c->timer_pos - 1;
	struct roce_cm_conn *last;

	if (c->timer_pos == 0)
		return;
	c->timer_pos = 0;
	last = cm->heap[--cm->heap_n];
	if (last == c)
		return;
	heap_up(cm, i, last);
	heap_down(cm, last->timer_pos - 1, last);
}

void
cm_timer_set(struct roce_cm *cm, struct roce_cm_conn *c, uint64_t deadline_ns)
{
	cm_timer_cancel(cm, c);
	c->deadline_ns = deadline_ns;
	heap_up(cm, cm->heap_n++, c);
}

uint64_t
roce_cm_next_deadline(const struct roce_cm *cm)
{
	return cm->heap_n > 0 ? cm->heap[0]->deadline_ns : UINT64_MAX;
}

/* A CM timeout code, 4.096 us * 2^code, as Linux rounds it (3.7); at most what an MRA of ours asks.
 */
static uint64_t
code_ns(uint32_t code)
{
	if (code > CM_SERVICE_TIMEOUT)
		code = CM_SERVICE_TIMEOUT;
	return CM_MS << (code > 8 ? code - 8 : 0);
}

/* W-CM-52. The code is the peer's word: neither a moment nor hours. */
uint64_t
cm_timewait_ns(uint8_t ack_timeout)
{
	if (ack_timeout < 16)
		ack_timeout = 16;
	return code_ns(ack_timeout < 20 ? ack_timeout : 20);
}

void
cm_retry_start(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	c->retries = 0;
	c->retry_ns = cm->cfg.req_first_retry_ns;
	c->give_up_ns = now_ns + cm->cfg.give_up_ns;
	cm_timer_set(cm, c, now_ns + c->retry_ns);
}

void
cm_retry_extend(
	struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, uint32_t service_timeout)
{
	const uint64_t until = now_ns + code_ns(service_timeout) + code_ns(c->ack_timeout);

	cm_retry_start(cm, until, c);
	cm_timer_set(cm, c, until);
}

/*
 * Send what once more, or give up: when cfg says so, but never before the peer had a
 * few chances, however late this host was with its ticks.
 */
static void
retry(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, uint32_t what)
{
	const bool tried = c->retries >= CM_MIN_RETRIES;

	if (c->retries >= cm->cfg.max_retries || (tried && now_ns >= c->give_up_ns)) {
		cm->counters.timeouts++;
		cm_give_up(cm, now_ns, c);
		return;
	}
	c->retries++;
	cm->counters.tx_retries++;
	cm_send(cm, c, what);
	c->retry_ns = c->retry_ns * 2 < CM_RETRY_CAP_NS ? c->retry_ns * 2 : CM_RETRY_CAP_NS;
	if (now_ns < c->give_up_ns && c->give_up_ns - now_ns < c->retry_ns)
		cm_timer_set(cm, c, c->give_up_ns);
	else
		cm_timer_set(cm, c, now_ns + c->retry_ns);
}

static void
expired(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	switch ((enum cm_state)c->state) {
	case CM_REQ_SENT:
	case CM_MRA_REQ_RCVD:
		retry(cm, now_ns, c, CM_TX_REQ);
		break;
	case CM_REP_SENT:
	case CM_MRA_REP_RCVD:
		retry(cm, now_ns, c, CM_TX_REP);
		break;
	case CM_DREQ_SENT:
		retry(cm, now_ns, c, CM_TX_DREQ);
		break;
	case CM_REQ_RCVD: /* the host takes its time: the peer shall not give up (R-CONN-06) */
		cm_conn_state(cm, c, CM_MRA_REQ_SENT);
		cm_send(cm, c, CM_TX_MRA);
		break;
	case CM_SIDR_SENT:
		retry(cm, now_ns, c, CM_TX_SIDR);
		break;
	case CM_SIDR_RCVD:
		cm_sidr_request_gone(cm, c);
		break;
	case CM_SIDR_ANSWERED:
	case CM_TIMEWAIT:
		cm_conn_dead(cm, c);
		break;
	default: /* the other states have no deadline */
		break;
	}
}

void
roce_cm_tick(struct roce_cm *cm, uint64_t now_ns)
{
	while (cm->heap_n > 0 && cm->heap[0]->deadline_ns <= now_ns) {
		struct roce_cm_conn *c = cm->heap[0];

		cm_timer_cancel(cm, c);
		expired(cm, now_ns, c);
	}
}
