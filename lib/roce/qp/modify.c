/* SPDX-License-Identifier: BSD-3-Clause */
/* States of a queue pair, and the attributes that each transition requires and permits (IBTA
 * volume 1, chapter 11, Modify Queue Pair). */
#include "roce/qp/modify.h"

#include "base/list.h"
#include "roce/mem/door.h"
#include "roce/qp/error.h"
#include "roce/queue/flush.h"
#include "roce/qp/keepalive.h"
#include "roce/qp/qp.h"
#include "roce/queue/send_ring.h"
#include "roce/queue/wqe.h"
#include "roce/responder/farewell.h"
#include "roce/shard/event.h"
#include "roce/shard/shard.h"
#include "roce/tx.h"

#define REMOTE_RIGHTS                                                                              \
	(NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC)

struct transition {
	bool valid;
	uint16_t required, optional;
};

#define TO_RTR                                                                                     \
	(ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN |                      \
		ROCE_QPA_MAX_DEST_RD | ROCE_QPA_MIN_RNR)
#define TO_RTS                                                                                     \
	(ROCE_QPA_TIMEOUT | ROCE_QPA_RETRY | ROCE_QPA_RNR_RETRY | ROCE_QPA_SQ_PSN | ROCE_QPA_MAX_RD)
#define LIVE (ROCE_QPA_ACCESS | ROCE_QPA_MIN_RNR | ROCE_QPA_KEEPALIVE)
#define IN_SQD                                                                                     \
	(LIVE | ROCE_QPA_PATH | ROCE_QPA_TIMEOUT | ROCE_QPA_RETRY | ROCE_QPA_RNR_RETRY |           \
		ROCE_QPA_MAX_RD | ROCE_QPA_MAX_DEST_RD)

/* Without what acknowledgements and repetitions need, and READs. */
#define TO_UC_RTR (ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN)

static const struct transition transitions[ROCE_QPS_COUNT][ROCE_QPS_COUNT] = {
	[ROCE_QPS_RESET] =
		{
			[ROCE_QPS_RESET] = {true, 0, 0},
			[ROCE_QPS_INIT] = {true, ROCE_QPA_ACCESS, ROCE_QPA_KEEPALIVE},
		},
	[ROCE_QPS_INIT] =
		{
			[ROCE_QPS_RESET] = {true, 0, 0},
			[ROCE_QPS_INIT] = {true, 0, ROCE_QPA_ACCESS | ROCE_QPA_KEEPALIVE},
			[ROCE_QPS_RTR] = {true, TO_RTR, ROCE_QPA_ACCESS | ROCE_QPA_KEEPALIVE},
			[ROCE_QPS_UC_RTR] = {true, TO_UC_RTR, ROCE_QPA_ACCESS},
			[ROCE_QPS_ERR] = {true, 0, 0},
		},
	[ROCE_QPS_RTR] =
		{
			[ROCE_QPS_RESET] = {true, 0, 0},
			[ROCE_QPS_RTS] = {true, TO_RTS, LIVE},
			[ROCE_QPS_ERR] = {true, 0, 0},
		},
	[ROCE_QPS_RTS] =
		{
			[ROCE_QPS_RESET] = {true, 0, 0},
			[ROCE_QPS_RTS] = {true, 0, LIVE},
			[ROCE_QPS_SQD] = {true, 0, 0},
			[ROCE_QPS_ERR] = {true, 0, 0},
		},
	[ROCE_QPS_SQD] =
		{
			[ROCE_QPS_RESET] = {true, 0, 0},
			[ROCE_QPS_RTS] = {true, 0, LIVE},
			[ROCE_QPS_SQD] = {true, 0, IN_SQD},
			[ROCE_QPS_ERR] = {true, 0, 0},
		},
	[ROCE_QPS_ERR] =
		{
			[ROCE_QPS_RESET] = {true, 0, 0},
			[ROCE_QPS_ERR] = {true, 0, 0},
		},
	[ROCE_QPS_UC_RTR] =
		{
			[ROCE_QPS_RESET] = {true, 0, 0},
			[ROCE_QPS_UC_RTS] = {true, ROCE_QPA_SQ_PSN, ROCE_QPA_ACCESS},
			[ROCE_QPS_ERR] = {true, 0, 0},
		},
	[ROCE_QPS_UC_RTS] =
		{
			[ROCE_QPS_RESET] = {true, 0, 0},
			[ROCE_QPS_UC_RTS] = {true, 0, ROCE_QPA_ACCESS},
			[ROCE_QPS_UC_SQD] = {true, 0, 0},
			[ROCE_QPS_ERR] = {true, 0, 0},
		},
	[ROCE_QPS_UC_SQD] =
		{
			[ROCE_QPS_RESET] = {true, 0, 0},
			[ROCE_QPS_UC_RTS] = {true, 0, ROCE_QPA_ACCESS},
			[ROCE_QPS_UC_SQD] = {true, 0, ROCE_QPA_ACCESS | ROCE_QPA_PATH},
			[ROCE_QPS_ERR] = {true, 0, 0},
		},
	[ROCE_QPS_UC_SQE] =
		{
			[ROCE_QPS_RESET] = {true, 0, 0},
			[ROCE_QPS_UC_RTS] = {true, 0, ROCE_QPA_ACCESS},
			[ROCE_QPS_ERR] = {true, 0, 0},
		},
};

static bool
attr_mtu_ok(const struct roce_qp_attr *a)
{
	uint32_t bytes = a->mtu_bytes;

	if (a->port_mtu_bytes != 0 && bytes > a->port_mtu_bytes) /* W-QP-05 */
		return false;
	return bytes >= 256 && bytes <= ROCE_MTU_MAX && (bytes & (bytes - 1)) == 0;
}

static bool
attr_value_ok(uint32_t bit, const struct roce_qp_attr *a)
{
	switch (bit) {
	case ROCE_QPA_ACCESS:
		return (a->access & ~(uint32_t)REMOTE_RIGHTS) == 0;
	case ROCE_QPA_PATH:
		return roce_gid_is_v4(&a->path.sgid) == roce_gid_is_v4(&a->path.dgid) &&
		       (a->path.tos & ROCE_TOS_ECN & ~ROCE_TOS_ECT0) == 0;
	case ROCE_QPA_MTU:
		return attr_mtu_ok(a);
	case ROCE_QPA_DEST_QPN:
		return a->dest_qpn > ROCE_QPN_GSI && a->dest_qpn < ROCE_QPN_MASK;
	case ROCE_QPA_RQ_PSN:
		return a->rq_psn <= ROCE_PSN_MASK;
	case ROCE_QPA_SQ_PSN:
		return a->sq_psn <= ROCE_PSN_MASK;
	case ROCE_QPA_MAX_DEST_RD:
		return a->max_dest_rd <= ROCE_RD_ATOMIC_MAX;
	case ROCE_QPA_MAX_RD:
		return a->max_rd <= ROCE_RD_ATOMIC_MAX;
	case ROCE_QPA_MIN_RNR:
		return a->min_rnr_code <= 31;
	case ROCE_QPA_TIMEOUT:
		return a->timeout_code <= 31;
	case ROCE_QPA_RETRY:
		return a->retry <= 7;
	case ROCE_QPA_RNR_RETRY:
		return a->rnr_retry <= 7;
	default:
		return true;
	}
}

/* The bits of mask whose values in a are wrong. */
static uint32_t
attr_bad_values(uint32_t mask, const struct roce_qp_attr *a)
{
	uint32_t bad = 0;

	for (uint32_t left = mask; left != 0; left &= left - 1) {
		uint32_t bit = left & -left;

		if (!attr_value_ok(bit, a))
			bad |= bit;
	}
	return bad;
}

enum roce_modify
roce_modify_judge(enum roce_qp_state from, enum roce_qp_state to, uint32_t mask,
	const struct roce_qp_attr *attr, uint32_t *wrong)
{
	const struct transition *t;

	*wrong = 0;
	if ((unsigned)from >= ROCE_QPS_COUNT || (unsigned)to >= ROCE_QPS_COUNT ||
		!transitions[from][to].valid)
		return ROCE_MODIFY_BAD_TRANSITION;
	t = &transitions[from][to];
	*wrong = t->required & ~mask;
	if (*wrong != 0)
		return ROCE_MODIFY_MISSING_ATTR;
	*wrong = mask & ~(uint32_t)(t->required | t->optional);
	if (*wrong != 0)
		return ROCE_MODIFY_FORBIDDEN_ATTR;
	*wrong = attr_bad_values(mask, attr);
	return *wrong != 0 ? ROCE_MODIFY_BAD_VALUE : ROCE_MODIFY_OK;
}

static enum roce_modify
qp_judge(const struct roce_qp *qp, enum roce_qp_state to, uint32_t mask,
	const struct roce_qp_attr *attr)
{
	bool datagrams = qp->rx_bits & ROCE_RXB_DATAGRAMS;
	enum roce_modify verdict;
	uint32_t wrong;

	/* The other states of datagram queue pairs are set in ud.c. */
	if (datagrams && to != ROCE_QPS_ERR)
		return ROCE_MODIFY_BAD_TRANSITION;
	if (to == (qp->unreliable ? ROCE_QPS_RTR : ROCE_QPS_UC_RTR))
		return ROCE_MODIFY_BAD_TRANSITION;
	if (qp->unreliable && (mask & ROCE_QPA_KEEPALIVE)) /* nobody would answer */
		return ROCE_MODIFY_FORBIDDEN_ATTR;
	verdict = roce_modify_judge(
		datagrams ? ROCE_QPS_ERR : (enum roce_qp_state)qp->state, to, mask, attr, &wrong);
	/* Packets in flight were sent with the old attributes, and may have to be sent again. */
	if (verdict == ROCE_MODIFY_OK && mask != 0 &&
		(to == ROCE_QPS_SQD || to == ROCE_QPS_UC_SQD) && (qp->tx_bits & ROCE_TXB_DRAINING))
		return ROCE_MODIFY_DRAINING;
	return verdict;
}

static void
qp_apply_path(struct roce_shard *s, struct roce_qp *qp, const struct roce_qp_attr *a)
{
	qp->door = roce_door_of(s, &a->path.dgid);
	roce_hdr_tmpl_init(&qp->tmpl, &a->path);
	qp->port = a->port;
	qp->request_sport = qp->response_sport = 0;
}

static void
qp_apply_psns(struct roce_qp *qp, uint32_t mask, const struct roce_qp_attr *a)
{
	if (mask & ROCE_QPA_RQ_PSN) {
		qp->recv_psn = a->rq_psn;
		qp->placed_psn = a->rq_psn;
	}
	if (mask & ROCE_QPA_SQ_PSN) {
		qp->una_psn = a->sq_psn;
		qp->tx_psn = a->sq_psn;
		qp->snd_max = a->sq_psn;
		qp->load_psn = a->sq_psn;
	}
}

static void
qp_apply(struct roce_shard *s, struct roce_qp *qp, uint32_t mask, const struct roce_qp_attr *a)
{
	qp_apply_psns(qp, mask, a);
	if (mask & ROCE_QPA_ACCESS)
		qp->access = (uint8_t)a->access;
	if (mask & ROCE_QPA_PATH)
		qp_apply_path(s, qp, a);
	if (mask & ROCE_QPA_MTU)
		qp->mtu_shift = (uint8_t)__builtin_ctz(a->mtu_bytes);
	if (mask & ROCE_QPA_DEST_QPN)
		qp->dest_qpn = a->dest_qpn;
	if (mask & ROCE_QPA_MAX_DEST_RD)
		qp->max_dest_rd = a->max_dest_rd;
	if (mask & ROCE_QPA_MAX_RD)
		qp->max_rd = a->max_rd;
	if (mask & ROCE_QPA_MIN_RNR)
		qp->min_rnr_code = a->min_rnr_code;
	if (mask & ROCE_QPA_TIMEOUT)
		qp->timeout_code = a->timeout_code;
	if (mask & ROCE_QPA_RETRY)
		qp->retry = qp->retry_left = a->retry;
	if (mask & ROCE_QPA_RNR_RETRY) {
		qp->rnr_retry = qp->rnr_left = a->rnr_retry;
		qp->rnr_give_up_ms = a->rnr_give_up_ms;
	}
	if (mask & ROCE_QPA_KEEPALIVE) {
		qp->keepalive_ms = a->keepalive_ms;
		roce_tx_clear(qp, ROCE_TXB_KEEPALIVE);
		qp->tx_bits |= a->keepalive_ms != 0 ? ROCE_TXB_KEEPALIVE : 0;
	}
}

/* Requests that were posted and not fetched vanish too: their slots count as done. They are not
 * looked at, so that a deep ring takes no longer than a short one. */
void
roce_qp_reset(struct roce_shard *s, struct roce_qp *qp)
{
	roce_farewell(s, qp);
	roce_qp_stop(s, qp);
	ndsh_sq_skip(&qp->sq);
	ndsh_rq_skip(&qp->rq);
	roce_send_ring_leave(qp);
	base_list_remove(&qp->event_link);
	roce_qp_clear(qp);
	qp->sq_done = qp->sq.next;
	qp->rq_done = qp->rq.next;
	__atomic_store_n(&qp->page->sq_done, qp->sq_done, __ATOMIC_RELEASE);
	__atomic_store_n(&qp->page->rq_done, qp->rq_done, __ATOMIC_RELEASE);
	__atomic_store_n(&qp->page->dead, 0, __ATOMIC_RELEASE);
	roce_shard_publish(s);
}

/* A message that was begun is sent to its end in SQD; one of which nothing has left begins after it
 * (W-REQ-12). */
void
roce_qp_drained(struct roce_shard *s, struct roce_qp *qp)
{
	if (qp->wq_head != NULL && (qp->wq_head->bits & ROCE_WQB_ISSUED))
		return;
	roce_tx_clear(qp, ROCE_TXB_DRAINING);
	roce_qp_event(s, qp, ROCE_EV_SQ_DRAINED);
}

/* The queue pair came to its state, or got new attributes there. */
static void
qp_entered(struct roce_shard *s, struct roce_qp *qp, enum roce_qp_state from)
{
	if (from == ROCE_QPS_UC_SQE) {
		qp->restart_left = ndsh_sq_posted(&qp->sq);
		qp->reason = ROCE_REASON_NONE;
	}
	if (qp->state == ROCE_QPS_RTS || qp->state == ROCE_QPS_UC_RTS) {
		/* Requests may have been posted before, or in SQD. */
		roce_tx_clear(qp, ROCE_TXB_DRAINING);
		roce_send_ring_watch(s, qp);
		roce_tx_want(s, qp);
		if (qp->keepalive_ms != 0)
			roce_keepalive_start(s, qp);
	} else if (from == ROCE_QPS_RTS || from == ROCE_QPS_UC_RTS) {
		qp->tx_bits |= ROCE_TXB_DRAINING;
		roce_qp_drained(s, qp);
	}
}

/* A way that it has already is not taken from it. */
static bool
qp_has_way(const struct roce_shard *s, const struct roce_qp *qp, uint32_t mask,
	const struct roce_qp_attr *a)
{
	return !(mask & ROCE_QPA_PATH) || roce_door_open(s, qp->pd, roce_door_of(s, &a->path.dgid));
}

enum roce_modify
roce_qp_modify(struct roce_shard *s, struct roce_qp *qp, uint64_t now_ns, enum roce_qp_state to,
	uint32_t mask, const struct roce_qp_attr *attr)
{
	enum roce_modify verdict = qp_judge(qp, to, mask, attr);
	enum roce_qp_state from = (enum roce_qp_state)qp->state;

	if (verdict != ROCE_MODIFY_OK)
		return verdict;
	s->now_ns = now_ns;
	if (to == ROCE_QPS_RESET) {
		roce_qp_reset(s, qp);
		return ROCE_MODIFY_OK;
	}
	if (to == ROCE_QPS_ERR) {
		roce_qp_error(s, qp, ROCE_REASON_MODIFY, 0);
		roce_flush_some(s);
		return ROCE_MODIFY_OK;
	}
	if (!qp_has_way(s, qp, mask, attr)) {
		s->count.door_refusals++;
		return ROCE_MODIFY_DOOR_CLOSED;
	}
	qp_apply(s, qp, mask, attr);
	qp->state = (uint8_t)to;
	qp_entered(s, qp, from);
	return ROCE_MODIFY_OK;
}

bool
roce_qp_query(const struct roce_qp *qp, struct roce_qp_attr *a)
{
	*a = (struct roce_qp_attr){
		.access = qp->access,
		.mtu_bytes = qp->mtu_shift != 0 ? roce_qp_mtu(qp) : 0,
		.dest_qpn = qp->dest_qpn,
		.rq_psn = qp->recv_psn,
		.sq_psn = qp->snd_max,
		.max_dest_rd = qp->max_dest_rd,
		.max_rd = qp->max_rd,
		.min_rnr_code = qp->min_rnr_code,
		.timeout_code = qp->timeout_code,
		.retry = qp->retry,
		.rnr_retry = qp->rnr_retry,
		.rnr_give_up_ms = qp->rnr_give_up_ms,
		.keepalive_ms = qp->keepalive_ms,
	};
	return (qp->tx_bits & ROCE_TXB_DRAINING) != 0;
}
