/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state machine of doc/rules/wire.md as a table: every message in every state. What the
 * table does not name must do nothing at all: no answer, no event, no change.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_net.h"
#include "cm/conn.h"

#define PEER_ID	 0x77000001u
#define PEER_QPN 0x4242u
#define MY_QPN	 0x1000u
#define NOTHING	 0xffu

enum role { ACTIVE, PASSIVE };

/* How the connection under test got where it is. */
enum at {
	A_REQ_SENT,
	A_MRA_REQ_RCVD,
	A_REP_RCVD,
	A_MRA_REP_SENT,
	A_ESTABLISHED,
	A_DREQ_SENT,
	A_TIMEWAIT,  /* after DREP */
	A_REFUSED,   /* we refused the REP */
	A_ABANDONED, /* we gave the REQ up */
	A_DEAD,	     /* the peer refused the REQ */
	P_REQ_RCVD,
	P_MRA_REQ_SENT,
	P_REP_SENT,
	P_MRA_REP_RCVD,
	P_ESTABLISHED,
	P_DREQ_SENT,
	P_TIMEWAIT, /* after the peer's DREQ */
	P_REFUSED,  /* we refused the REQ */
	AT_COUNT,
};
static const char *const at_names[AT_COUNT] = {"A REQ_SENT", "A MRA_REQ_RCVD", "A REP_RCVD",
	"A MRA_REP_SENT", "A ESTABLISHED", "A DREQ_SENT", "A TIMEWAIT", "A refused", "A abandoned",
	"A dead", "P REQ_RCVD", "P MRA_REQ_SENT", "P REP_SENT", "P MRA_REP_RCVD", "P ESTABLISHED",
	"P DREQ_SENT", "P TIMEWAIT", "P refused"};

enum msg {
	REQ_SAME,  /* the same exchange (passive), or as good as */
	REQ_STALE, /* another exchange with the same QPN */
	REP_FIRST,
	REP_OTHER, /* another comm id of the peer */
	RTU,
	MRA_REQ,
	MRA_REP,
	REJ_REQ,
	REJ_REQ_STALE, /* reason 10 */
	REJ_REP,
	REJ_OTHER,
	REJ_TIMEOUT, /* finds us by GUID */
	DREQ,
	DREQ_WRONG_QPN,
	DREP,
	MSG_COUNT,
};
static const char *const msg_names[MSG_COUNT] = {"REQ", "REQ stale", "REP", "REP other id", "RTU",
	"MRA of REQ", "MRA of REP", "REJ of REQ", "REJ of REQ, stale", "REJ of REP", "REJ other",
	"REJ timeout", "DREQ", "DREQ wrong QPN", "DREP"};

struct cell {
	enum at at;
	enum msg msg;
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
	{A_ESTABLISHED, REJ_TIMEOUT, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{A_ESTABLISHED, DREQ, CM_TIMEWAIT, CM_ATTR_DREP, EV(DISCONNECTED)},
	{P_ESTABLISHED, REJ_OTHER, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{P_ESTABLISHED, REJ_REP, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{P_ESTABLISHED, REJ_TIMEOUT, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{P_ESTABLISHED, DREQ, CM_TIMEWAIT, CM_ATTR_DREP, EV(DISCONNECTED)},
	/* Disconnecting: DREP, the peer's own DREQ, or a REJ end it (W-CM-45 to W-CM-47). */
	{A_DREQ_SENT, DREP, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{A_DREQ_SENT, DREQ, CM_TIMEWAIT, CM_ATTR_DREP, EV(DISCONNECTED)},
	{A_DREQ_SENT, REJ_OTHER, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{A_DREQ_SENT, REJ_REP, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{A_DREQ_SENT, REJ_TIMEOUT, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{P_DREQ_SENT, DREP, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{P_DREQ_SENT, DREQ, CM_TIMEWAIT, CM_ATTR_DREP, EV(DISCONNECTED)},
	{P_DREQ_SENT, REJ_OTHER, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{P_DREQ_SENT, REJ_REP, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
	{P_DREQ_SENT, REJ_TIMEOUT, CM_TIMEWAIT, 0, EV(DISCONNECTED)},
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
	/* Established, and the peer has its QPN in a new connection: it lost this one. */
	{A_ESTABLISHED, REQ_STALE, CM_DREQ_SENT, CM_ATTR_REJ, NOTHING},
	{P_ESTABLISHED, REQ_STALE, CM_DREQ_SENT, CM_ATTR_REJ, NOTHING},
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
	/* Who does not know the peer's comm id, or nothing at all: a stranger's DREQ (W-CM-45). */
	{A_REQ_SENT, DREQ, CM_REQ_SENT, CM_ATTR_DREP, NOTHING},
	{A_REQ_SENT, DREQ_WRONG_QPN, CM_REQ_SENT, CM_ATTR_DREP, NOTHING},
	{A_MRA_REQ_RCVD, DREQ, CM_MRA_REQ_RCVD, CM_ATTR_DREP, NOTHING},
	{A_MRA_REQ_RCVD, DREQ_WRONG_QPN, CM_MRA_REQ_RCVD, CM_ATTR_DREP, NOTHING},
	{A_ABANDONED, DREQ, CM_TIMEWAIT, CM_ATTR_DREP, NOTHING},
	{A_ABANDONED, DREQ_WRONG_QPN, CM_TIMEWAIT, CM_ATTR_DREP, NOTHING},
	{A_DEAD, DREQ, CM_DEAD, CM_ATTR_DREP, NOTHING},
	{A_DEAD, DREQ_WRONG_QPN, CM_DEAD, CM_ATTR_DREP, NOTHING},
};

/* ---- bringing a connection there ---- */

struct bench {
	struct cm_net *net; /* only host A's CM is used; P's address is the peer's */
	struct roce_cm *cm;
	struct roce_cm_conn *conn;
};

static struct cm_mad
mad_of(const struct bench *b, enum msg msg)
{
	struct cm_mad m = {.tid = 1,
		.local_id = PEER_ID,
		.remote_id = b->conn != NULL ? b->conn->local_id : 0,
		.qpn = MY_QPN};
	const struct roce_gid *peer = &b->net->host[CM_NET_P].gid,
			      *me = &b->net->host[CM_NET_A].gid;
	const struct cm_ip_hdr ip = {.src = *peer, .dst = *me, .src_port = 5};

	switch (msg) {
	case REQ_STALE:
	case REQ_SAME:
		m.attr = CM_ATTR_REQ;
		m.local_id = msg == REQ_STALE ? PEER_ID + 1 : PEER_ID;
		m.remote_id = 0;
		m.service_id = cm_service_id(CM_NET_SERVICE);
		m.ca_guid = 0xfeed;
		m.qpn = PEER_QPN;
		m.pkey = 0xffff;
		m.mtu = 3;
		m.ack_timeout = 17;
		m.sgid = *peer;
		m.dgid = *me;
		cm_ip_hdr_encode(m.priv, &ip);
		break;
	case REP_FIRST:
	case REP_OTHER:
		m.attr = CM_ATTR_REP;
		m.local_id = msg == REP_OTHER ? PEER_ID + 1 : PEER_ID;
		m.ca_guid = 0xfeed;
		m.qpn = PEER_QPN;
		break;
	case RTU:
		m.attr = CM_ATTR_RTU;
		break;
	case MRA_REQ:
	case MRA_REP:
		m.attr = CM_ATTR_MRA;
		m.which = msg == MRA_REP ? CM_WHICH_REP : CM_WHICH_REQ;
		m.service_timeout = 20;
		break;
	case REJ_REQ:
	case REJ_REQ_STALE:
		m.attr = CM_ATTR_REJ;
		m.local_id = 0;
		m.reason = msg == REJ_REQ_STALE ? ROCE_CM_REASON_STALE_CONN
						: ROCE_CM_REASON_INVALID_SERVICE_ID;
		break;
	case REJ_REP:
	case REJ_OTHER:
		m.attr = CM_ATTR_REJ;
		m.which = msg == REJ_REP ? CM_WHICH_REP : CM_WHICH_OTHER;
		m.reason = ROCE_CM_REASON_CONSUMER;
		break;
	case REJ_TIMEOUT:
		m.attr = CM_ATTR_REJ;
		m.which = CM_WHICH_OTHER;
		m.remote_id = 0;
		m.reason = ROCE_CM_REASON_TIMEOUT;
		m.ari_bytes = 8;
		m.ari[6] = 0xfe;
		m.ari[7] = 0xed;
		break;
	case DREQ:
	case DREQ_WRONG_QPN:
		m.attr = CM_ATTR_DREQ;
		m.qpn = msg == DREQ_WRONG_QPN ? MY_QPN + 1 : MY_QPN;
		break;
	default:
		m.attr = CM_ATTR_DREP;
		break;
	}
	return m;
}

static void
inject(struct bench *b, enum msg msg)
{
	const struct cm_mad m = mad_of(b, msg);

	cm_net_inject(b->net, CM_NET_P, &m);
}

static void
drain(struct bench *b)
{
	struct roce_cm_tx tx;
	struct roce_cm_event ev;

	while (roce_cm_tx(b->cm, &tx))
		;
	while (roce_cm_event(b->cm, &ev)) {
		if (ev.type == ROCE_CM_EV_REQUEST)
			b->conn = ev.conn;
	}
}

static void
bring_active(struct bench *b, enum at at)
{
	struct cm_net *net = b->net;
	const bool replied =
		at != A_REQ_SENT && at != A_MRA_REQ_RCVD && at != A_ABANDONED && at != A_DEAD;

	net->host[CM_NET_A].qpn = MY_QPN;
	b->conn = cm_net_connect(net, NULL, 0);
	if (at == A_MRA_REQ_RCVD)
		inject(b, MRA_REQ);
	if (at == A_ABANDONED)
		roce_cm_disconnect(b->cm, 0, b->conn);
	if (at == A_DEAD)
		inject(b, REJ_REQ);
	if (!replied)
		return;
	inject(b, REP_FIRST);
	if (at == A_MRA_REP_SENT)
		inject(b, REP_FIRST);
	if (at == A_REFUSED)
		roce_cm_reject(b->cm, 0, b->conn, ROCE_CM_REASON_CONSUMER, NULL, 0);
	if (at == A_ESTABLISHED || at == A_DREQ_SENT || at == A_TIMEWAIT)
		cr_assert(roce_cm_complete(b->cm, 0, b->conn));
	if (at == A_DREQ_SENT || at == A_TIMEWAIT)
		roce_cm_disconnect(b->cm, 0, b->conn);
	if (at == A_TIMEWAIT)
		inject(b, DREP);
}

static void
bring_passive(struct bench *b, enum at at)
{
	const struct roce_cm_addr any = {.port = CM_NET_SERVICE};
	const struct roce_cm_qp_params qp = {.qpn = MY_QPN, .psn = 1};

	roce_cm_listen(b->cm, &any, 0, NULL, NULL);
	inject(b, REQ_SAME);
	drain(b);
	cr_assert_not_null(b->conn);
	if (at == P_MRA_REQ_SENT)
		inject(b, REQ_SAME);
	if (at == P_REFUSED)
		roce_cm_reject(b->cm, 0, b->conn, ROCE_CM_REASON_CONSUMER, NULL, 0);
	if (at == P_REQ_RCVD || at == P_MRA_REQ_SENT || at == P_REFUSED)
		return;
	roce_cm_accept(b->cm, 0, b->conn, &qp, NULL, 0, NULL);
	if (at == P_MRA_REP_RCVD)
		inject(b, MRA_REP);
	if (at == P_ESTABLISHED || at == P_DREQ_SENT || at == P_TIMEWAIT)
		inject(b, RTU);
	if (at == P_DREQ_SENT)
		roce_cm_disconnect(b->cm, 0, b->conn);
	if (at == P_TIMEWAIT)
		inject(b, DREQ);
}

static const enum cm_state state_at[AT_COUNT] = {CM_REQ_SENT, CM_MRA_REQ_RCVD, CM_REP_RCVD,
	CM_MRA_REP_SENT, CM_ESTABLISHED, CM_DREQ_SENT, CM_TIMEWAIT, CM_TIMEWAIT, CM_TIMEWAIT,
	CM_DEAD, CM_REQ_RCVD, CM_MRA_REQ_SENT, CM_REP_SENT, CM_MRA_REP_RCVD, CM_ESTABLISHED,
	CM_DREQ_SENT, CM_TIMEWAIT, CM_TIMEWAIT};

static struct bench
bench_at(enum at at)
{
	struct bench b = {.net = cm_net_new(at % 2 == 1)};

	b.cm = b.net->host[CM_NET_A].cm;
	if (at < P_REQ_RCVD)
		bring_active(&b, at);
	else
		bring_passive(&b, at);
	drain(&b);
	cr_assert_eq(b.conn->state, state_at[at], "%s", at_names[at]);
	return b;
}

/* ---- the table ---- */

static struct cell
expected(enum at at, enum msg msg)
{
	struct cell none = {at, msg, state_at[at], 0, NOTHING};
	const bool listening = at >= P_REQ_RCVD;

	for (unsigned i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		if (cells[i].at == at && cells[i].msg == msg)
			return cells[i];
	}
	/* A REQ that has nothing to do with the connection: refused where nobody listens. */
	if (!listening && (msg == REQ_STALE ||
				  (msg == REQ_SAME && (at <= A_MRA_REQ_RCVD || at == A_ABANDONED ||
							      at == A_DEAD))))
		none.sent = CM_ATTR_REJ;
	if (listening && msg == REQ_STALE)
		none.event = ROCE_CM_EV_REQUEST;
	return none;
}

static uint32_t
first_sent(struct bench *b)
{
	struct roce_cm_tx tx;
	struct cm_mad m = {0};
	uint32_t sent = 0;

	while (roce_cm_tx(b->cm, &tx)) {
		cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
		/* A stale connection's DREQ goes out along with the REJ. */
		if (m.attr != CM_ATTR_DREQ)
			sent = m.attr;
	}
	return sent;
}

/* checks W-CM-42, W-CM-43, W-CM-44, W-CM-45, W-CM-46, W-CM-47 */
Test(cm_states, every_message_in_every_state)
{
	for (enum at at = 0; at < AT_COUNT; at++) {
		for (enum msg msg = 0; msg < MSG_COUNT; msg++) {
			const struct cell want = expected(at, msg);
			struct bench b = bench_at(at);
			struct roce_cm_event ev;
			bool got;

			inject(&b, msg);
			cr_expect_eq(b.conn->state, want.next, "%s in %s: state %d, not %d",
				msg_names[msg], at_names[at], b.conn->state, want.next);
			got = roce_cm_event(b.cm, &ev);
			cr_expect_eq(got ? ev.type : NOTHING, want.event,
				"%s in %s: event %d, not %d", msg_names[msg], at_names[at],
				got ? (int)ev.type : -1, want.event == NOTHING ? -1 : want.event);
			const uint32_t sent = first_sent(&b);
			cr_expect_eq(sent, want.sent, "%s in %s: sent %x, not %x", msg_names[msg],
				at_names[at], sent, want.sent);
			cm_net_free(b.net);
		}
	}
}

/* From every state the host may leave, and the CM gives everything back in the end. */
Test(cm_states, destroy_in_every_state)
{
	for (enum at at = 0; at < AT_COUNT; at++) {
		struct bench b = bench_at(at);
		struct roce_cm_usage u;

		roce_cm_destroy(b.cm, 0, b.conn);
		for (uint64_t now = 0; now < MS(60000); now += MS(100)) {
			roce_cm_tick(b.cm, now);
			drain(&b);
		}
		roce_cm_usage(b.cm, &u);
		cr_expect_eq(u.conns, 0, "%s", at_names[at]);
		cr_expect_eq(u.timewait, 0, "%s", at_names[at]);
		cr_expect_not(roce_cm_qpn_resting(b.cm, MY_QPN), "%s", at_names[at]);
		cm_net_free(b.net);
	}
}

/* What destroy tells the peer, by state; checks W-CM-48, W-CM-49. */
Test(cm_states, w_cm_48_what_destroy_sends)
{
	static const struct {
		enum at at;
		uint32_t attr, which, reason;
		bool local_id;
	} cases[] = {
		{A_REQ_SENT, CM_ATTR_REJ, CM_WHICH_OTHER, ROCE_CM_REASON_TIMEOUT, true},
		{A_MRA_REQ_RCVD, CM_ATTR_REJ, CM_WHICH_OTHER, ROCE_CM_REASON_TIMEOUT, true},
		{A_REP_RCVD, CM_ATTR_REJ, CM_WHICH_REP, ROCE_CM_REASON_CONSUMER, true},
		{A_MRA_REP_SENT, CM_ATTR_REJ, CM_WHICH_REP, ROCE_CM_REASON_CONSUMER, true},
		{A_ESTABLISHED, CM_ATTR_DREQ, 0, 0, true},
		{P_REQ_RCVD, CM_ATTR_REJ, CM_WHICH_REQ, ROCE_CM_REASON_CONSUMER, false},
		{P_MRA_REQ_SENT, CM_ATTR_REJ, CM_WHICH_REQ, ROCE_CM_REASON_CONSUMER, true},
		{P_REP_SENT, CM_ATTR_REJ, CM_WHICH_OTHER, ROCE_CM_REASON_CONSUMER, true},
		{P_MRA_REP_RCVD, CM_ATTR_REJ, CM_WHICH_OTHER, ROCE_CM_REASON_CONSUMER, true},
		{P_ESTABLISHED, CM_ATTR_DREQ, 0, 0, true},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench b = bench_at(cases[i].at);
		const char *name = at_names[cases[i].at];
		const uint32_t local_id = b.conn->local_id;
		struct roce_cm_tx tx;
		struct cm_mad m;

		roce_cm_destroy(b.cm, 0, b.conn);
		cr_assert(roce_cm_tx(b.cm, &tx), "%s", name);
		cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
		cr_expect_eq(m.attr, cases[i].attr, "%s", name);
		cr_expect_eq(m.which, cases[i].which, "%s", name);
		cr_expect_eq(m.reason, cases[i].reason, "%s", name);
		cr_expect_eq(m.local_id, cases[i].local_id ? local_id : 0, "%s", name);
		cr_expect_eq(m.ari_bytes, m.reason == ROCE_CM_REASON_TIMEOUT ? 8 : 0, "%s", name);
		cr_expect_not(roce_cm_tx(b.cm, &tx), "%s", name);
		cm_net_free(b.net);
	}
}

/* Calls of the host that come too late or too early change nothing. */
Test(cm_states, calls_in_the_wrong_state_are_refused)
{
	const struct roce_cm_qp_params qp = {.qpn = 5};

	for (enum at at = 0; at < AT_COUNT; at++) {
		const bool request = at == P_REQ_RCVD || at == P_MRA_REQ_SENT;
		const bool reply = at == A_REP_RCVD || at == A_MRA_REP_SENT;
		struct bench b = bench_at(at);
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
		cr_expect_eq(b.conn->state, state_at[at], "%s", at_names[at]);
		cr_expect_not(roce_cm_tx(b.cm, &tx), "%s", at_names[at]);
		cm_net_free(b.net);
	}
}
