/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host is told: events, reasons, and the record of the last abnormal events of a queue
 * pair. */
#include "roce/shard/event.h"

#include "base/list.h"
#include "roce/qp/qp.h"
#include "roce/queue/cq.h"
#include "roce/queue/srq.h"
#include "roce/shard/line.h"
#include "roce/shard/shard.h"

/* An event is a bit in its object: there is always room for it. */
void
roce_qp_event(struct roce_shard *s, struct roce_qp *qp, enum roce_event_type type)
{
	qp->events |= (uint8_t)(1u << type);
	roce_line_join(s, qp->send_cq->client, ROCE_LINE_QP_EVENTS, &qp->event_link);
}

static bool
qp_event_take(struct roce_qp *qp, struct roce_event *ev)
{
	/* COMM_EST first: it happened first. */
	static const enum roce_event_type order[] = {ROCE_EV_COMM_EST, ROCE_EV_SQ_DRAINED,
		ROCE_EV_CLIENT_BREACH, ROCE_EV_QP_ERROR, ROCE_EV_LAST_WQE};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (!(qp->events & 1u << order[i]))
			continue;
		qp->events &= (uint8_t) ~(1u << order[i]);
		*ev = (struct roce_event){.type = order[i],
			.qp = qp,
			.owner = qp->owner,
			.reason = qp->reason,
			.syndrome = qp->syndrome};
		return true;
	}
	return false;
}

bool
roce_shard_event(struct roce_shard *s, struct roce_event *ev)
{
	struct base_link *l = roce_line_next(s, ROCE_LINE_CQ_EVENTS);

	if (l != NULL) {
		struct roce_cq *cq = base_container(l, struct roce_cq, event);

		base_list_remove(l);
		*ev = (struct roce_event){.type = ROCE_EV_CQ_ERROR,
			.cq = cq,
			.owner = cq->owner,
			.reason = (uint8_t)roce_cq_reason(cq)};
		return true;
	}
	l = roce_line_next(s, ROCE_LINE_SRQ_EVENTS);
	if (l != NULL) {
		struct roce_srq *srq = base_container(l, struct roce_srq, event);

		base_list_remove(l);
		*ev = (struct roce_event){
			.type = ROCE_EV_SRQ_LIMIT, .srq = srq, .owner = srq->owner};
		return true;
	}
	while ((l = roce_line_next(s, ROCE_LINE_QP_EVENTS)) != NULL) {
		struct roce_qp *qp = base_container(l, struct roce_qp, event_link);

		if (qp_event_take(qp, ev))
			return true;
		base_list_remove(l);
	}
	return false;
}

void
roce_qp_note(const struct roce_shard *s, struct roce_qp *qp, enum roce_record_kind kind,
	uint32_t psn, uint32_t detail)
{
	qp->record[qp->record_next] = (struct roce_qp_record){.now_ns = s->now_ns,
		.kind_psn = (uint32_t)kind << 24 | (psn & ROCE_PSN_MASK),
		.detail = detail};
	qp->record_next = (uint8_t)((qp->record_next + 1u) % ROCE_RECORDS);
	if (qp->record_count < ROCE_RECORDS)
		qp->record_count++;
}

unsigned
roce_qp_records(const struct roce_qp *qp, struct roce_qp_record *out)
{
	for (unsigned i = 0; i < qp->record_count; i++)
		out[i] = qp->record[(qp->record_next + ROCE_RECORDS - qp->record_count + i) %
				    ROCE_RECORDS];
	return qp->record_count;
}

const char *
roce_reason_name(enum roce_reason r)
{
	static const char *const names[ROCE_REASON_COUNT] = {
		[ROCE_REASON_NONE] = "none",
		[ROCE_REASON_MODIFY] = "closed by its owner",
		[ROCE_REASON_LOCAL_PROT] = "local token, range or right refused",
		[ROCE_REASON_LOCAL_LEN] = "local length error",
		[ROCE_REASON_LOCAL_OP] = "request not possible on this queue pair",
		[ROCE_REASON_RETRY_EXC] = "no answer from the peer, retries used up",
		[ROCE_REASON_RNR_RETRY_EXC] = "peer had no receive posted, retries used up",
		[ROCE_REASON_NAK_INV_REQ] = "peer refused: invalid request",
		[ROCE_REASON_NAK_REM_ACCESS] = "peer refused: remote access",
		[ROCE_REASON_NAK_REM_OP] = "peer refused: remote operation",
		[ROCE_REASON_BAD_RESPONSE] = "response of the peer does not fit its request",
		[ROCE_REASON_SENT_INV_REQ] = "we refused: invalid request",
		[ROCE_REASON_SENT_REM_ACCESS] = "we refused: remote access",
		[ROCE_REASON_SENT_REM_OP] = "we refused: remote operation",
		[ROCE_REASON_RECV_TOO_SMALL] = "message longer than the receive posted",
		[ROCE_REASON_RECV_PROT] = "token, range or right of a receive refused",
		[ROCE_REASON_CQ_OVERRUN] = "completion queue overrun",
		[ROCE_REASON_CQ_FATAL] = "completion queue lost its memory",
		[ROCE_REASON_CLIENT_BREACH] = "descriptor breaks the contract",
		[ROCE_REASON_INTERNAL] = "internal error",
		[ROCE_REASON_LOCAL_BIND] = "window, region, range or right of a bind refused",
		[ROCE_REASON_LOCAL_INV] = "token to invalidate is of nothing that is bound here",
		[ROCE_REASON_LOCAL_FRMR] =
			"fast register: registered already, or a page not shared",
		[ROCE_REASON_LOCAL_AH] = "datagram: no such address handle",
		[ROCE_REASON_GUESSES] = "peers at that address use too many wrong keys",
		[ROCE_REASON_RECV_INV] = "peer invalidated a token that it has no right to",
	};

	return r < ROCE_REASON_COUNT ? names[r] : "unknown";
}
