/* SPDX-License-Identifier: BSD-3-Clause */
/* REJ, sent and received: what it says, and for how long it is held. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_at.h"

/* checks W-CM-09[2] */
Test(cm_reject, r_conn_04_reject_with_private_data)
{
	static const uint32_t sizes[] = {0, 1, ROCE_CM_REJ_PRIV};
	uint8_t data[ROCE_CM_REJ_PRIV];

	memset(data, 0x5a, sizeof(data));
	for (unsigned i = 0; i < 3; i++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
		const struct roce_cm_event *ev;

		p->hold_requests = true;
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(10));
		cr_assert(roce_cm_reject(p->cm, net->now_ns, p->conn, 28, data, sizes[i]));
		roce_cm_destroy(p->cm, net->now_ns, p->conn);
		cm_net_settle(net);
		ev = cm_net_only_event(a, ROCE_CM_EV_REJECTED);
		cr_expect_eq(ev->reason, 28);
		cr_expect_eq(ev->priv_bytes, ROCE_CM_REJ_PRIV);
		cr_expect_arr_eq(ev->priv, data, sizes[i]);
		cr_expect_eq(p->n_log, 1, "no event follows a reject");
		cm_net_assert_empty(net);
		cm_net_free(net);
	}
}

/* checks W-CM-32[4] */
Test(cm_reject, t_cm_7_mtu_that_the_port_has_not)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	p->hold_requests = true;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cr_assert(roce_cm_reject_mtu(p->cm, net->now_ns, p->conn, 2));
	roce_cm_destroy(p->cm, net->now_ns, p->conn);
	cm_net_settle(net);
	cr_expect_eq(cm_net_only_event(a, ROCE_CM_EV_REJECTED)->reason, 26);
	cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].ari_bytes, 1);
	cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].ari[0], 0x20, "W-CM-32");
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/*
 * checks W-CM-42[2]: a REJ that is lost: the repeated REQ is no new request, and gets the same
 * REJ.
 */
Test(cm_reject, lost_rej_is_repeated)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	p->reject_reason = 28;
	p->drop[ATTR(CM_ATTR_REJ)] = 3;
	cm_net_connect(net, NULL, 0);
	cm_net_settle(net);
	cr_assert_eq(cm_net_events(p, ROCE_CM_EV_REQUEST), 1);
	cr_assert_eq(cm_net_events(a, ROCE_CM_EV_REJECTED), 1);
	cr_expect_arr_eq(cm_net_event(a, ROCE_CM_EV_REJECTED, 0)->priv, "no", 2);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* checks W-CM-42[3]: however long the peer asks, as Linux may for 74 s. */
Test(cm_reject, each_repeated_rej_renews_the_memory)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	a->cfg.give_up_ns = MS(60000);
	cm_net_restart(net, CM_NET_A);
	p->reject_reason = 28;
	p->drop[ATTR(CM_ATTR_REJ)] = 12;
	cm_net_connect(net, NULL, 0);
	cm_net_settle(net);
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_REQUEST), 1);
	cr_expect_eq(cm_net_events(a, ROCE_CM_EV_REJECTED), 1);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/*
 * A peer that had an MRA waits for a minute before it asks again (W-CM-50), whoever of the two was
 * slow: its REJ comes again unasked. Before, one that was lost was told 65 s later.
 */
Test(cm_reject, a_rej_behind_an_mra_that_is_lost)
{
	for (unsigned slow = CM_NET_A; slow <= CM_NET_P; slow++) {
		for (unsigned lost = 0; lost < 6; lost++) {
			static const unsigned at_ms[] = {0, 200, 600, 1400, 3000, 6200};
			struct cm_net *net = cm_net_new(false);
			struct cm_net_host *from = &net->host[slow], *to = &net->host[!slow];

			net->host[CM_NET_A].hold_replies = slow == CM_NET_A;
			net->host[CM_NET_P].hold_requests = slow == CM_NET_P;
			from->drop[ATTR(CM_ATTR_REJ)] = lost;
			cm_net_connect(net, NULL, 0);
			cm_net_run(net, MS(3500));
			cr_assert_geq(from->sent[ATTR(CM_ATTR_MRA)], 1);
			cr_assert(roce_cm_reject(from->cm, net->now_ns, from->conn, 28, "no", 3));
			roce_cm_destroy(from->cm, net->now_ns, from->conn);
			if (lost > 0)
				cm_net_run(net, MS(at_ms[lost] - 1));
			cr_expect_eq(cm_net_events(to, ROCE_CM_EV_REJECTED), 0);
			cm_net_run(net, MS(10));
			cr_assert_eq(cm_net_events(to, ROCE_CM_EV_REJECTED), 1, "%u lost", lost);
			cr_expect_arr_eq(cm_net_event(to, ROCE_CM_EV_REJECTED, 0)->priv, "no", 3);
			cm_net_settle(net);
			cr_expect_eq(from->sent[ATTR(CM_ATTR_REJ)], 6);
			cr_expect_geq(roce_cm_counters(from->cm)->tx_retries, 5);
			cr_expect_eq(cm_net_events(to, ROCE_CM_EV_REJECTED), 1,
				"the copies are nothing");
			cm_net_assert_empty(net);
			cm_net_free(net);
		}
	}
}

/* The MRA did not arrive: the peer asks again, is answered, and then goes on asking by itself. */
Test(cm_reject, no_copies_for_a_peer_that_asks)
{
	struct cm_at_bench b = cm_at_bring(P_MRA_REQ_SENT);
	struct roce_cm_tx tx;

	cr_assert(roce_cm_reject(b.cm, b.net->now_ns, b.conn, 28, NULL, 0));
	cr_assert(roce_cm_tx(b.cm, &tx));
	cr_expect_eq(roce_cm_next_deadline(b.cm) - b.net->now_ns, MS(200));
	cm_at_inject(&b, REQ_SAME);
	cr_expect(roce_cm_tx(b.cm, &tx));
	cr_expect_eq(roce_cm_next_deadline(b.cm) - b.net->now_ns, MS(10000));
	cm_net_free(b.net);
}

/* checks R-CONN-12[1]: the active side refuses the REP, and its REJ is lost. */
Test(cm_reject, a_reject_after_the_reply)
{
	for (unsigned lost = 0; lost < 4; lost++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

		a->hold_replies = true;
		a->drop[ATTR(CM_ATTR_REJ)] = lost;
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(10));
		cr_assert(roce_cm_reject(a->cm, net->now_ns, a->conn, 28, "bye", 4));
		roce_cm_destroy(a->cm, net->now_ns, a->conn);
		cm_net_settle(net);
		cr_assert_eq(cm_net_events(p, ROCE_CM_EV_REJECTED), 1);
		cr_expect_arr_eq(cm_net_event(p, ROCE_CM_EV_REJECTED, 0)->priv, "bye", 4);
		cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].attr, 0, "it does not answer a REJ");
		cm_net_assert_empty(net);
		cm_net_free(net);
	}
}

/* checks W-CM-42[4]: refused peers may fill a part of the table only. */
Test(cm_reject, held_refusals_are_bounded)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];
	struct roce_cm_usage u;

	p->reject_reason = 28;
	for (unsigned i = 0; i < 60; i++) {
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(5));
	}
	cm_net_run(net, MS(1000));
	roce_cm_usage(p->cm, &u);
	cr_expect_eq(u.conns, 16);
	cm_net_settle(net);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* checks W-CM-48[1-3]: what a REJ says of itself, by what the peer has seen of us. */
Test(cm_reject, w_cm_48_form_of_a_rej_by_state)
{
	static const struct {
		enum cm_at at;
		enum cm_which which;
		bool local_id;
	} cases[] = {{P_REQ_RCVD, CM_WHICH_REQ, false}, {P_MRA_REQ_SENT, CM_WHICH_REQ, true},
		{A_REP_RCVD, CM_WHICH_REP, true}, {A_MRA_REP_SENT, CM_WHICH_REP, true}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cm_at_bench b = cm_at_bring(cases[i].at);
		const char *name = cm_at_names[cases[i].at];
		struct roce_cm_tx tx;
		struct cm_mad m;

		cr_assert(roce_cm_reject(b.cm, 0, b.conn, 33, "why", 3), "%s", name);
		cr_assert(roce_cm_tx(b.cm, &tx));
		cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
		cr_expect_eq(m.attr, CM_ATTR_REJ);
		cr_expect_eq(m.which, cases[i].which, "%s", name);
		cr_expect_eq(tx.mad[24 + 8] >> 6, i < 2 ? 0 : 1, "%s", name);
		cr_expect_eq(m.local_id, cases[i].local_id ? b.conn->local_id : 0, "%s", name);
		cr_expect_eq(m.remote_id, CM_AT_PEER_ID, "%s", name);
		cr_expect_eq(m.reason, 33);
		cr_expect_eq(m.ari_bytes, 0);
		cr_expect_arr_eq(m.priv, "why\0", 4);
		cm_net_free(b.net);
	}
}

/*
 * A refused REQ is remembered for 10 s from the last time that the peer asked, and is a new
 * request after that; checks W-CM-42[2,3].
 */
Test(cm_reject, w_cm_42_how_long_a_refusal_is_held)
{
	struct cm_at_bench b = cm_at_bring(P_REFUSED);
	struct roce_cm_event ev;
	struct roce_cm_tx tx;

	b.net->now_ns = MS(9999);
	roce_cm_tick(b.cm, b.net->now_ns);
	cm_at_inject(&b, REQ_SAME);
	cr_expect(roce_cm_tx(b.cm, &tx), "the REJ again");
	cr_expect_eq(roce_cm_next_deadline(b.cm), MS(19999));
	b.net->now_ns = MS(19999);
	roce_cm_tick(b.cm, b.net->now_ns);
	cm_at_inject(&b, REQ_SAME);
	cr_expect_not(roce_cm_tx(b.cm, &tx));
	cr_assert(roce_cm_event(b.cm, &ev));
	cr_expect_eq(ev.type, ROCE_CM_EV_REQUEST);
	cm_net_free(b.net);
}

/*
 * checks W-CM-41[6,9]: a REJ with reason 4 names its sender by GUID and ID. One with another
 * GUID, length of it, ID or address is of no connection.
 */
Test(cm_reject, w_cm_41_timeout_by_guid)
{
	for (unsigned wrong = 0; wrong < 6; wrong++) {
		struct cm_at_bench b = cm_at_bring(P_REP_SENT);
		struct cm_mad m = cm_at_mad(&b, REJ_TIMEOUT);

		m.ari[7] ^= wrong == 1;
		m.ari_bytes = wrong == 2 ? 7 : 8;
		m.local_id += wrong == 3;
		b.net->host[CM_NET_P].gid.raw[15] ^= wrong == 4;
		m.reason = wrong == 5 ? ROCE_CM_REASON_CONSUMER : ROCE_CM_REASON_TIMEOUT;
		cm_net_inject(b.net, CM_NET_P, &m);
		cr_expect_eq(
			b.conn->state, wrong == 0 ? CM_TIMEWAIT : CM_REP_SENT, "case %u", wrong);
		cr_expect_eq(roce_cm_counters(b.cm)->rx_dropped, wrong != 0, "case %u", wrong);
		cm_net_free(b.net);
	}
}

/*
 * checks W-CM-47[3]: after the handshake a REJ is the peer's disconnect, and carries no data to
 * the host.
 */
Test(cm_reject, w_cm_47_a_rej_of_an_established_connection)
{
	static const enum cm_at at[] = {A_ESTABLISHED, P_ESTABLISHED, A_DREQ_SENT};

	for (unsigned i = 0; i < 3; i++) {
		struct cm_at_bench b = cm_at_bring(at[i]);
		struct roce_cm_event ev;

		cm_at_inject(&b, REJ_OTHER);
		cr_assert(roce_cm_event(b.cm, &ev));
		cr_expect_eq(ev.type, ROCE_CM_EV_DISCONNECTED);
		cr_expect_eq(ev.by_peer, at[i] != A_DREQ_SENT, "%s", cm_at_names[at[i]]);
		cr_expect_eq(ev.reason, 0);
		cr_expect_eq(ev.priv_bytes, 0);
		cm_net_free(b.net);
	}
}

/* checks W-CM-41: the GUID in the additional information finds a connection for the reason 4 alone;
 * with any other the information is another, and the ids have to match. */
Test(cm_reject, w_cm_41_a_guid_counts_with_a_timeout_alone)
{
	for (uint32_t reason = 0; reason < 40; reason++) {
		struct cm_at_bench b = cm_at_bring(P_REP_SENT);
		struct cm_mad m = cm_at_mad(&b, REJ_TIMEOUT);
		const bool means = reason == ROCE_CM_REASON_TIMEOUT;

		m.reason = reason;
		cm_net_inject(b.net, CM_NET_P, &m);
		cr_expect_eq(b.conn->state, means ? CM_TIMEWAIT : CM_REP_SENT, "reason %u", reason);
		cr_expect_eq(roce_cm_counters(b.cm)->rx_dropped, !means, "reason %u", reason);
		cm_net_free(b.net);
	}
}

/* checks W-CM-41[11]: the peer's comm id and its GUID, which others may know, end no connection
 * that is established: a peer that has got so far knows our id. */
Test(cm_reject, w_cm_41_a_guid_ends_nothing_that_is_established)
{
	static const enum cm_at at[] = {A_ESTABLISHED, P_ESTABLISHED, A_DREQ_SENT, P_DREQ_SENT};

	for (unsigned i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct cm_at_bench b = cm_at_bring(at[i]);
		struct cm_mad m = cm_at_mad(&b, REJ_TIMEOUT);

		cm_net_inject(b.net, CM_NET_P, &m);
		cr_expect_eq(b.conn->state, cm_at_states[at[i]], "%s", cm_at_names[at[i]]);
		cr_expect_eq(roce_cm_counters(b.cm)->rx_dropped, 1);
		m.remote_id = b.conn->local_id;
		cm_net_inject(b.net, CM_NET_P, &m);
		cr_expect_eq(b.conn->state, CM_TIMEWAIT, "%s, by both ids", cm_at_names[at[i]]);
		cm_net_free(b.net);
	}
}

/* A REQ that is refused before anything is known of the peer leaves nothing, whatever the reason,
 * but one: a stale connection's ids must rest (W-CM-53). */
Test(cm_reject, of_a_req_leaves_nothing_for_any_reason_but_one)
{
	for (uint16_t reason = 1; reason < 40; reason++) {
		struct cm_at_bench b = cm_at_bring(A_REQ_SENT);
		struct cm_mad m = cm_at_mad(&b, REJ_REQ);

		m.reason = reason;
		cm_net_inject(b.net, CM_NET_P, &m);
		cr_expect_eq(b.conn->state,
			reason == ROCE_CM_REASON_STALE_CONN ? CM_TIMEWAIT : CM_DEAD, "reason %u",
			reason);
		cm_net_free(b.net);
	}
}
