/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "rigs/cm_at.h"

const char *const cm_at_names[AT_COUNT] = {"A REQ_SENT", "A MRA_REQ_RCVD", "A REP_RCVD",
	"A MRA_REP_SENT", "A ESTABLISHED", "A DREQ_SENT", "A TIMEWAIT", "A refused", "A abandoned",
	"A dead", "P REQ_RCVD", "P MRA_REQ_SENT", "P REP_SENT", "P MRA_REP_RCVD", "P ESTABLISHED",
	"P DREQ_SENT", "P TIMEWAIT", "P refused"};

const char *const cm_at_msg_names[MSG_COUNT] = {"REQ", "REQ stale", "REP", "REP other id", "RTU",
	"MRA of REQ", "MRA of REP", "REJ of REQ", "REJ of REQ, stale", "REJ of REP", "REJ other",
	"REJ timeout", "DREQ", "DREQ wrong QPN", "DREP"};

const enum cm_state cm_at_states[AT_COUNT] = {CM_REQ_SENT, CM_MRA_REQ_RCVD, CM_REP_RCVD,
	CM_MRA_REP_SENT, CM_ESTABLISHED, CM_DREQ_SENT, CM_TIMEWAIT, CM_TIMEWAIT, CM_TIMEWAIT,
	CM_DEAD, CM_REQ_RCVD, CM_MRA_REQ_SENT, CM_REP_SENT, CM_MRA_REP_RCVD, CM_ESTABLISHED,
	CM_DREQ_SENT, CM_TIMEWAIT, CM_TIMEWAIT};

struct cm_mad
cm_at_mad(const struct cm_at_bench *b, enum cm_at_msg msg)
{
	struct cm_mad m = {.tid = 1,
		.local_id = CM_AT_PEER_ID,
		.remote_id = b->conn != NULL ? b->conn->local_id : 0,
		.qpn = CM_AT_MY_QPN};
	const struct roce_gid *peer = &b->net->host[CM_NET_P].gid,
			      *me = &b->net->host[CM_NET_A].gid;
	const struct cm_ip_hdr ip = {.src = *peer, .dst = *me, .src_port = 5};

	switch (msg) {
	case REQ_STALE:
	case REQ_SAME:
		m.attr = CM_ATTR_REQ;
		m.local_id = msg == REQ_STALE ? CM_AT_PEER_ID + 1 : CM_AT_PEER_ID;
		m.remote_id = 0;
		m.service_id = cm_service_id(CM_NET_SERVICE);
		m.ca_guid = 0xfeed;
		m.qpn = CM_AT_PEER_QPN;
		m.pkey = 0xffff;
		m.mtu = 3;
		m.ack_timeout = 17;
		m.remote_resp_timeout = m.local_resp_timeout = 20;
		m.max_retries = 15;
		m.sgid = *peer;
		m.dgid = *me;
		cm_ip_hdr_encode(m.priv, &ip);
		break;
	case REP_FIRST:
	case REP_OTHER:
		m.attr = CM_ATTR_REP;
		m.local_id = msg == REP_OTHER ? CM_AT_PEER_ID + 1 : CM_AT_PEER_ID;
		m.ca_guid = 0xfeed;
		m.qpn = CM_AT_PEER_QPN;
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
		m.qpn = msg == DREQ_WRONG_QPN ? CM_AT_MY_QPN + 1 : CM_AT_MY_QPN;
		break;
	default:
		m.attr = CM_ATTR_DREP;
		break;
	}
	return m;
}

void
cm_at_inject(struct cm_at_bench *b, enum cm_at_msg msg)
{
	const struct cm_mad m = cm_at_mad(b, msg);

	cm_net_inject(b->net, CM_NET_P, &m);
}

void
cm_at_drain(struct cm_at_bench *b)
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
bring_active(struct cm_at_bench *b, enum cm_at at)
{
	struct cm_net *net = b->net;
	const bool replied =
		at != A_REQ_SENT && at != A_MRA_REQ_RCVD && at != A_ABANDONED && at != A_DEAD;

	net->host[CM_NET_A].qpn = CM_AT_MY_QPN;
	b->conn = cm_net_connect(net, NULL, 0);
	if (at == A_MRA_REQ_RCVD)
		cm_at_inject(b, MRA_REQ);
	if (at == A_ABANDONED)
		roce_cm_disconnect(b->cm, 0, b->conn);
	if (at == A_DEAD)
		cm_at_inject(b, REJ_REQ);
	if (!replied)
		return;
	cm_at_inject(b, REP_FIRST);
	if (at == A_MRA_REP_SENT)
		cm_at_inject(b, REP_FIRST);
	if (at == A_REFUSED)
		roce_cm_reject(b->cm, 0, b->conn, ROCE_CM_REASON_CONSUMER, NULL, 0);
	if (at == A_ESTABLISHED || at == A_DREQ_SENT || at == A_TIMEWAIT)
		cr_assert(roce_cm_complete(b->cm, 0, b->conn));
	if (at == A_DREQ_SENT || at == A_TIMEWAIT)
		roce_cm_disconnect(b->cm, 0, b->conn);
	if (at == A_TIMEWAIT)
		cm_at_inject(b, DREP);
}

static void
bring_passive(struct cm_at_bench *b, enum cm_at at)
{
	const struct roce_cm_addr any = {.port = CM_NET_SERVICE};
	const struct roce_cm_qp_params qp = {.qpn = CM_AT_MY_QPN, .psn = 1};

	roce_cm_listen(b->cm, &any, CM_NET_PORT, 0, NULL, NULL);
	cm_at_inject(b, REQ_SAME);
	cm_at_drain(b);
	cr_assert_not_null(b->conn);
	if (at == P_MRA_REQ_SENT)
		cm_at_inject(b, REQ_SAME);
	if (at == P_REFUSED)
		roce_cm_reject(b->cm, 0, b->conn, ROCE_CM_REASON_CONSUMER, NULL, 0);
	if (at == P_REQ_RCVD || at == P_MRA_REQ_SENT || at == P_REFUSED)
		return;
	roce_cm_accept(b->cm, 0, b->conn, &qp, NULL, 0, NULL);
	if (at == P_MRA_REP_RCVD)
		cm_at_inject(b, MRA_REP);
	if (at == P_ESTABLISHED || at == P_DREQ_SENT || at == P_TIMEWAIT)
		cm_at_inject(b, RTU);
	if (at == P_DREQ_SENT)
		roce_cm_disconnect(b->cm, 0, b->conn);
	if (at == P_TIMEWAIT)
		cm_at_inject(b, DREQ);
}

struct cm_at_bench
cm_at_bring(enum cm_at at)
{
	struct cm_at_bench b = {.net = cm_net_new(at % 2 == 1)};

	b.cm = b.net->host[CM_NET_A].cm;
	if (at < P_REQ_RCVD)
		bring_active(&b, at);
	else
		bring_passive(&b, at);
	cm_at_drain(&b);
	cr_assert_eq(b.conn->state, cm_at_states[at], "%s", cm_at_names[at]);
	return b;
}
