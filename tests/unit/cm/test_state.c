/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state machine of doc/rules/wire.md as a table: every message in every state. What the
 * table does not name must do nothing at all: no answer, no event, no change.
 */
#include <criterion/criterion.h>

#include "rigs/cm_at.h"

#define NOTHING 0xffu

struct cell {
	enum cm_at at;
	enum cm_at_msg msg;
	enum cm_state next;
	uint8_t sent;  /* enum cm_attr, 0: nothing */
	uint8_t event; /* enum roce_cm_event_type, or NOTHING */
};

#define EV(x) ROCE_CM_EV_##x
static const struct cell cells[] = {
	/* Active: the answer to our REQ. */
	{A_REQ_SENT, REP_FIRST, CM_REP_RCVD, 0, EV(REPLY)},
	{A_REQ_SENT, REP_OTHER, CM_REP_RCVD, 0, EV(REPLY)},
	{A_REQ_SENT, MRA_REQ, CM_MRA_REQ_RCVD, 0, NOTHING},
	{A_REQ_SENT, REJ_REQ, CM_DEAD, 0, EV(REJECTED)},
	{A_REQ_SENT, REJ_REQ_STALE, CM_TIMEWAIT, 0, EV(REJECTED)},
	{A_MRA_REQ_RCVD, REP_FIRST, CM_REP_RCVD, 0, EV(REPLY)},
	{A_MRA_REQ_RCVD, REP_OTHER, CM_REP_RCVD, 0, EV(REPLY)},
	{A_MRA_REQ_RCVD, REJ_REQ, CM_DEAD, 0, EV(REJECTED)},
	{A_MRA_REQ_RCVD, REJ_REQ_STALE, CM_TIMEWAIT, 0, EV(REJECTED)},
	/* Our host is slow to complete: patience for each further REP (W-CM-43). */
	{A_REP_RCVD, REP_FIRST, CM_MRA_REP_SENT, CM_ATTR_MRA, NOTHING},
	{A_REP_RCVD, REJ_OTHER, CM_TIMEWAIT, 0, EV(REJECTED)},
	{A_REP_RCVD, REJ_REP, CM_TIMEWAIT, 0, EV(REJECTED)},
	{A_REP_RCVD, REJ_TIMEOUT, CM_TIMEWAIT, 0, EV(REJECTED)},
	{A_REP_RCVD, DREQ, CM_TIMEWAIT, CM_ATTR_DREP, EV(REJECTED)},
	{A_MRA_REP_SENT, REP_FIRST, CM_MRA_REP_SENT, CM_ATTR_MRA, NOTHING},
	{A_MRA_REP_SENT, REJ_OTHER, CM_TIMEWAIT, 0, EV(REJECTED)},
	{A_MRA_REP_SENT, REJ_REP, CM_TIMEWAIT, 0, EV(REJECTED)},
	{A_MRA_REP_SENT, REJ_TIMEOUT, CM_TIMEWAIT, 0, EV(REJECTED)},
	{A_MRA_REP_SENT, DREQ, CM_TIMEWAIT, CM_ATTR_DREP, EV(REJECTED)},
	/* Established: a lost RTU, or the end. */
	{A_ESTABLISHED, REP_FIRST, CM_ESTABLISHED, CM_ATTR_RTU, NOTHING},
	{A_ESTABLISHED, REJ_OTHER, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{A_ESTABLISHED, REJ_REP, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{A_ESTABLISHED, DREQ, CM_TIMEWAIT, CM_ATTR_DREP, EV(DISCONNECTED)},
	{P_ESTABLISHED, REJ_OTHER, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{P_ESTABLISHED, REJ_REP, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{P_ESTABLISHED, DREQ, CM_TIMEWAIT, CM_ATTR_DREP, EV(DISCONNECTED)},
	/* Disconnecting: DREP, the peer's own DREQ, or a REJ end it (W-CM-45 to W-CM-47). */
	{A_DREQ_SENT, DREP, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{A_DREQ_SENT, DREQ, CM_TIMEWAIT, CM_ATTR_DREP, EV(DISCONNECTED)},
	{A_DREQ_SENT, REJ_OTHER, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{A_DREQ_SENT, REJ_REP, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{P_DREQ_SENT, DREP, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{P_DREQ_SENT, DREQ, CM_TIMEWAIT, CM_ATTR_DREP, EV(DISCONNECTED)},
	{P_DREQ_SENT, REJ_OTHER, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{P_DREQ_SENT, REJ_REP, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	/* Passive: the host has not decided yet. */
	{P_REQ_RCVD, REQ_SAME, CM_MRA_REQ_SENT, CM_ATTR_MRA, NOTHING},
	{P_REQ_RCVD, REQ_STALE, CM_TIMEWAIT, CM_ATTR_REJ, EV(REJECTED)},
	{P_REQ_RCVD, REJ_OTHER, CM_TIMEWAIT, 0, EV(REJECTED)},
	{P_REQ_RCVD, REJ_REP, CM_TIMEWAIT, 0, EV(REJECTED)},
	{P_REQ_RCVD, REJ_TIMEOUT, CM_TIMEWAIT, 0, EV(REJECTED)},
	{P_MRA_REQ_SENT, REQ_SAME, CM_MRA_REQ_SENT, CM_ATTR_MRA, NOTHING},
	{P_MRA_REQ_SENT, REQ_STALE, CM_TIMEWAIT, CM_ATTR_REJ, EV(REJECTED)},
	{P_MRA_REQ_SENT, REJ_OTHER, CM_TIMEWAIT, 0, EV(REJECTED)},
	{P_MRA_REQ_SENT, REJ_REP, CM_TIMEWAIT, 0, EV(REJECTED)},
	{P_MRA_REQ_SENT, REJ_TIMEOUT, CM_TIMEWAIT, 0, EV(REJECTED)},
	/* Passive: accepted. A DREQ proves that the RTU was sent. */
	{P_REP_SENT, REQ_STALE, CM_TIMEWAIT, CM_ATTR_REJ, EV(REJECTED)},
	{P_REP_SENT, RTU, CM_ESTABLISHED, 0, EV(ESTABLISHED)},
	{P_REP_SENT, MRA_REP, CM_MRA_REP_RCVD, 0, NOTHING},
	{P_REP_SENT, REJ_REP, CM_TIMEWAIT, 0, EV(REJECTED)},
	{P_REP_SENT, REJ_OTHER, CM_TIMEWAIT, 0, EV(REJECTED)},
	{P_REP_SENT, REJ_TIMEOUT, CM_TIMEWAIT, 0, EV(REJECTED)},
	{P_REP_SENT, DREQ, CM_TIMEWAIT, CM_ATTR_DREP, EV(ESTABLISHED)},
	{P_MRA_REP_RCVD, REQ_STALE, CM_TIMEWAIT, CM_ATTR_REJ, EV(REJECTED)},
	{P_MRA_REP_RCVD, RTU, CM_ESTABLISHED, 0, EV(ESTABLISHED)},
	{P_MRA_REP_RCVD, REJ_REP, CM_TIMEWAIT, 0, EV(REJECTED)},
	{P_MRA_REP_RCVD, REJ_OTHER, CM_TIMEWAIT, 0, EV(REJECTED)},
	{P_MRA_REP_RCVD, REJ_TIMEOUT, CM_TIMEWAIT, 0, EV(REJECTED)},
	{P_MRA_REP_RCVD, DREQ, CM_TIMEWAIT, CM_ATTR_DREP, EV(ESTABLISHED)},
	/* Established, and the peer is said to have its QPN in a new connection: it is asked. */
	{A_ESTABLISHED, REQ_STALE, CM_ESTABLISHED, CM_ATTR_REJ, NOTHING},
	{P_ESTABLISHED, REQ_STALE, CM_ESTABLISHED, CM_ATTR_REJ, NOTHING},
	{A_REP_RCVD, REQ_STALE, CM_TIMEWAIT, CM_ATTR_REJ, EV(REJECTED)},
	{A_MRA_REP_SENT, REQ_STALE, CM_TIMEWAIT, CM_ATTR_REJ, EV(REJECTED)},
	{A_DREQ_SENT, REQ_STALE, CM_DREQ_SENT, CM_ATTR_REJ, NOTHING},
	{P_DREQ_SENT, REQ_STALE, CM_DREQ_SENT, CM_ATTR_REJ, NOTHING},
	/* Time-wait answers what the peer sends again (W-CM-42, W-CM-45). */
	{A_TIMEWAIT, DREQ, CM_TIMEWAIT, CM_ATTR_DREP, NOTHING},
	{A_TIMEWAIT, REQ_SAME, CM_TIMEWAIT, CM_ATTR_REJ, NOTHING},
	{P_TIMEWAIT, DREQ, CM_TIMEWAIT, CM_ATTR_DREP, NOTHING},
	{P_TIMEWAIT, REQ_SAME, CM_TIMEWAIT, CM_ATTR_REJ, NOTHING},
	{P_REFUSED, REQ_SAME, CM_TIMEWAIT, CM_ATTR_REJ, NOTHING},
	{A_REFUSED, REP_FIRST, CM_TIMEWAIT, CM_ATTR_REJ, NOTHING},
	{A_REFUSED, REQ_SAME, CM_TIMEWAIT, CM_ATTR_REJ, NOTHING},
	{A_REFUSED, DREQ, CM_TIMEWAIT, CM_ATTR_DREP, NOTHING},
	{A_ABANDONED, REP_FIRST, CM_TIMEWAIT, CM_ATTR_REJ, NOTHING},
	{A_ABANDONED, REP_OTHER, CM_TIMEWAIT, CM_ATTR_REJ, NOTHING},
	/* The peer's comm id is not known, or nothing at all is: a stranger's DREQ (W-CM-45). */
	{A_REQ_SENT, DREQ, CM_REQ_SENT, CM_ATTR_DREP, NOTHING},
	{A_REQ_SENT, DREQ_WRONG_QPN, CM_REQ_SENT, CM_ATTR_DREP, NOTHING},
	{A_MRA_REQ_RCVD, DREQ, CM_MRA_REQ_RCVD, CM_ATTR_DREP, NOTHING},
	{A_MRA_REQ_RCVD, DREQ_WRONG_QPN, CM_MRA_REQ_RCVD, CM_ATTR_DREP, NOTHING},
	{A_ABANDONED, DREQ, CM_TIMEWAIT, CM_ATTR_DREP, NOTHING},
	{A_ABANDONED, DREQ_WRONG_QPN, CM_TIMEWAIT, CM_ATTR_DREP, NOTHING},
	{A_DEAD, DREQ, CM_DEAD, CM_ATTR_DREP, NOTHING},
	{A_DEAD, DREQ_WRONG_QPN, CM_DEAD, CM_ATTR_DREP, NOTHING},
};

static struct cell
expected(enum cm_at at, enum cm_at_msg msg)
{
	struct cell none = {at, msg, cm_at_states[at], 0, NOTHING};
	const bool listening = at >= P_REQ_RCVD;

	for (unsigned i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		if (cells[i].at == at && cells[i].msg == msg)
			return cells[i];
	}
	/* A REQ that has nothing to do with the connection: refused without a listener. */
	if (!listening && (msg == REQ_STALE ||
				  (msg == REQ_SAME && (at <= A_MRA_REQ_RCVD || at == A_ABANDONED ||
							      at == A_DEAD))))
		none.sent = CM_ATTR_REJ;
	if (listening && msg == REQ_STALE)
		none.event = ROCE_CM_EV_REQUEST;
	return none;
}

static uint32_t
first_sent(struct cm_at_bench *b)
{
	struct roce_cm_tx tx;
	struct cm_mad m = {0};
	uint32_t sent = 0;

	while (roce_cm_tx(b->cm, &tx)) {
		cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
		/* The question whether it is stale goes out along with the REJ. */
		if (m.attr != CM_ATTR_DREQ)
			sent = m.attr;
	}
	return sent;
}

/*
 * checks W-CM-03[1], W-CM-40[5], W-CM-41[4], W-CM-42[1,2], W-CM-43[1-3,5,6], W-CM-44[1,2],
 * W-CM-45[1-6], W-CM-46[1], W-CM-47[1-5], W-CM-50[5], W-CM-51[5]
 */
Test(cm_state, every_message_in_every_state)
{
	for (enum cm_at at = 0; at < AT_COUNT; at++) {
		for (enum cm_at_msg msg = 0; msg < MSG_COUNT; msg++) {
			const struct cell want = expected(at, msg);
			struct cm_at_bench b = cm_at_bring(at);
			struct roce_cm_event ev;
			bool got;

			cm_at_inject(&b, msg);
			cr_expect_eq(b.conn->state, want.next, "%s in %s: state %d, not %d",
				cm_at_msg_names[msg], cm_at_names[at], b.conn->state, want.next);
			got = roce_cm_event(b.cm, &ev);
			cr_expect_eq(got ? ev.type : NOTHING, want.event,
				"%s in %s: event %d, not %d", cm_at_msg_names[msg], cm_at_names[at],
				got ? (int)ev.type : -1, want.event == NOTHING ? -1 : want.event);
			const uint32_t sent = first_sent(&b);
			cr_expect_eq(sent, want.sent, "%s in %s: sent %x, not %x",
				cm_at_msg_names[msg], cm_at_names[at], sent, want.sent);
			cm_net_free(b.net);
		}
	}
}

/* Calls of the host that come too late or too early change nothing. */
Test(cm_state, calls_in_the_wrong_state_are_refused)
{
	const struct roce_cm_qp_params qp = {.qpn = 5};

	for (enum cm_at at = 0; at < AT_COUNT; at++) {
		const bool request = at == P_REQ_RCVD || at == P_MRA_REQ_SENT;
		const bool reply = at == A_REP_RCVD || at == A_MRA_REP_SENT;
		struct cm_at_bench b = cm_at_bring(at);
		struct roce_cm_tx tx;

		if (!request)
			cr_expect_not(roce_cm_accept(b.cm, 0, b.conn, &qp, NULL, 0, NULL));
		if (!reply)
			cr_expect_not(roce_cm_complete(b.cm, 0, b.conn));
		if (!request && !reply) {
			cr_expect_not(roce_cm_reject(b.cm, 0, b.conn, 28, NULL, 0));
			cr_expect_not(roce_cm_reject_mtu(b.cm, 0, b.conn, 3));
		}
		if (at != P_REP_SENT && at != P_MRA_REP_RCVD)
			roce_cm_established(b.cm, 0, b.conn);
		cr_expect_eq(b.conn->state, cm_at_states[at], "%s", cm_at_names[at]);
		cr_expect_not(roce_cm_tx(b.cm, &tx), "%s", cm_at_names[at]);
		cm_net_free(b.net);
	}
}
