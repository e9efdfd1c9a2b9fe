/* SPDX-License-Identifier: BSD-3-Clause */
/* DREQ and DREP, and connections that turn out to be stale. */
#include <criterion/criterion.h>

#include "rigs/cm_at.h"

Test(cm_disconnect, dreq_overtakes_rtu)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	a->delay_ns[ATTR(CM_ATTR_RTU)] = MS(50);
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(5));
	roce_cm_disconnect(a->cm, net->now_ns, a->conn);
	cm_net_settle(net);
	cr_assert_eq(p->n_log, 3);
	cr_expect_eq(p->log[1].type, ROCE_CM_EV_ESTABLISHED);
	cr_expect_eq(p->log[2].type, ROCE_CM_EV_DISCONNECTED);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* checks W-CM-47[1], W-CM-53 */
Test(cm_disconnect, t_cm_5_stale_connection)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cm_net_restart(net, CM_NET_A); /* and the same QPN again */
	a->qpn = 0x1000;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(100));
	cr_assert_eq(cm_net_events(a, ROCE_CM_EV_REJECTED), 1);
	cr_expect_eq(cm_net_event(a, ROCE_CM_EV_REJECTED, 0)->reason, 10);
	cr_assert_eq(cm_net_events(p, ROCE_CM_EV_DISCONNECTED), 1, "the old one, by DREQ and DREP");
	cr_expect(cm_net_event(p, ROCE_CM_EV_DISCONNECTED, 0)->by_peer, "not by our host's wish");
	cr_expect_eq(a->sent[ATTR(CM_ATTR_DREP)], 1);
	cr_expect(roce_cm_qpn_resting(a->cm, 0x1000), "W-CM-47");
	/* Another QPN, at once (W-CM-53). */
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(100));
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_ESTABLISHED), 2);
	cm_net_free(net);
}

/*
 * checks W-CM-40[4], W-CM-45[3-5]: each DREQ has an ID of its own, and each DREP that of its
 * DREQ; in time-wait, too.
 */
Test(cm_disconnect, w_cm_45_each_dreq_is_answered_by_its_transaction_id)
{
	struct cm_at_bench b = cm_at_bring(P_ESTABLISHED);
	struct cm_mad m = cm_at_mad(&b, DREQ);
	struct roce_cm_tx tx;

	for (uint64_t tid = 0x5000; tid < 0x5004; tid++) {
		struct cm_mad drep;

		m.tid = tid;
		cm_net_inject(b.net, CM_NET_P, &m);
		cr_assert(roce_cm_tx(b.cm, &tx));
		cr_assert_eq(cm_mad_decode(&drep, tx.mad), CM_DECODE_OK);
		cr_expect_eq(drep.attr, CM_ATTR_DREP);
		cr_expect_eq(drep.tid, tid);
		cr_expect_eq(drep.local_id, b.conn->local_id);
		cr_expect_eq(drep.remote_id, CM_AT_PEER_ID);
		cr_expect_not(roce_cm_tx(b.cm, &tx));
	}
	cr_expect_eq(roce_cm_counters(b.cm)->rx_duplicate, 3);
	cm_net_free(b.net);
}

/* checks W-CM-45[3,5]: a peer that ends the connection waits for no RTU: one that has not left yet
 * does not follow the answer. */
Test(cm_disconnect, an_rtu_that_has_not_left_is_not_sent_any_more)
{
	static const enum cm_at at[] = {A_REP_RCVD, A_MRA_REP_SENT};

	for (unsigned i = 0; i < 2; i++) {
		struct cm_at_bench b = cm_at_bring(at[i]);
		struct roce_cm_event ev;
		struct roce_cm_tx tx;

		cr_assert(roce_cm_complete(b.cm, b.net->now_ns, b.conn));
		cm_at_inject(&b, DREQ);
		cr_assert(roce_cm_event(b.cm, &ev));
		cr_expect_eq(ev.type, ROCE_CM_EV_DISCONNECTED);
		cr_expect(ev.by_peer);
		cr_expect_eq(cm_net_next_attr(b.cm), CM_ATTR_DREP);
		cr_expect_not(roce_cm_tx(b.cm, &tx), "%s", cm_at_names[at[i]]);
		cm_net_free(b.net);
	}
}

/* checks W-CM-45[3,5], W-CM-46: of whose wish the end was, by the state in which it came. */
Test(cm_disconnect, who_ended_it)
{
	static const struct {
		enum cm_at at;
		enum cm_at_msg msg;
		bool by_peer;
	} cases[] = {{A_ESTABLISHED, DREQ, true}, {P_ESTABLISHED, DREQ, true},
		{A_DREQ_SENT, DREQ, false}, {P_DREQ_SENT, DREQ, false}, {A_DREQ_SENT, DREP, false},
		{P_DREQ_SENT, DREP, false}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cm_at_bench b = cm_at_bring(cases[i].at);
		const char *name = cm_at_names[cases[i].at];
		struct roce_cm_event ev;

		cm_at_inject(&b, cases[i].msg);
		cr_assert(roce_cm_event(b.cm, &ev), "%s", name);
		cr_expect_eq(ev.type, ROCE_CM_EV_DISCONNECTED, "%s", name);
		cr_expect_eq(ev.by_peer, cases[i].by_peer, "%s", name);
		cr_expect_not(ev.timed_out, "%s", name);
		cm_net_free(b.net);
	}
}

/* A connection on its way that turns out stale: the host hears it as a reject with that reason, and
 * without the private data of an earlier message; checks W-CM-53. */
Test(cm_disconnect, w_cm_53_stale_before_it_was_up)
{
	static const enum cm_at at[] = {
		P_REQ_RCVD, P_MRA_REQ_SENT, P_REP_SENT, P_MRA_REP_RCVD, A_REP_RCVD, A_MRA_REP_SENT};

	for (unsigned i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct cm_at_bench b = cm_at_bring(at[i]);
		struct roce_cm_event ev;

		cm_at_inject(&b, REQ_STALE);
		cr_assert(roce_cm_event(b.cm, &ev), "%s", cm_at_names[at[i]]);
		cr_expect_eq(ev.type, ROCE_CM_EV_REJECTED, "%s", cm_at_names[at[i]]);
		cr_expect_eq(ev.reason, ROCE_CM_REASON_STALE_CONN, "%s", cm_at_names[at[i]]);
		cr_expect_eq(ev.priv_bytes, 0, "%s", cm_at_names[at[i]]);
		cr_expect_eq(roce_cm_counters(b.cm)->stale, 1);
		cm_net_free(b.net);
	}
}

/* checks R-DISC-03[1]: two DREQs that cross, whatever is lost of either end: both ends succeed, and
 * neither counts as the peer's wish or as unanswered. */
Test(cm_disconnect, r_disc_03_requests_that_cross_both_succeed)
{
	for (unsigned lost = 0; lost < 1u << 4; lost++) {
		struct cm_net *net = cm_net_new(lost & 1);

		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(100));
		for (unsigned i = 0; i < 2; i++) {
			struct cm_net_host *h = &net->host[i];

			h->drop[ATTR(CM_ATTR_DREQ)] = lost >> i & 1;
			h->drop[ATTR(CM_ATTR_DREP)] = lost >> (i + 2) & 1;
			roce_cm_disconnect(h->cm, net->now_ns, h->conn);
		}
		cm_net_settle(net);
		for (unsigned i = 0; i < 2; i++) {
			const struct roce_cm_event *ev =
				cm_net_only_event(&net->host[i], ROCE_CM_EV_DISCONNECTED);

			cr_expect_not(ev->timed_out, "host %u, lost %x", i, lost);
			cr_expect_not(ev->by_peer, "host %u, lost %x", i, lost);
		}
		cm_net_assert_empty(net);
		cm_net_free(net);
	}
}

/* W-CM-45: before our host has accepted there is nothing that a DREQ could end, not even one
 * that names the queue pair number 0, as if that were ours. */
Test(cm_disconnect, w_cm_45_a_dreq_before_the_accept)
{
	static const enum cm_at at[] = {P_REQ_RCVD, P_MRA_REQ_SENT};

	for (unsigned i = 0; i < 2; i++) {
		struct cm_at_bench b = cm_at_bring(at[i]);
		struct cm_mad m = cm_at_mad(&b, DREQ);
		struct roce_cm_event ev;

		m.qpn = 0;
		cm_net_inject(b.net, CM_NET_P, &m);
		cr_expect_eq(b.conn->state, cm_at_states[at[i]], "%s", cm_at_names[at[i]]);
		cr_expect_eq(roce_cm_counters(b.cm)->rx_dropped, 1, "%s", cm_at_names[at[i]]);
		cr_expect_eq(cm_net_next_attr(b.cm), 0, "%s", cm_at_names[at[i]]);
		cr_expect_not(roce_cm_event(b.cm, &ev), "%s", cm_at_names[at[i]]);
		cm_net_free(b.net);
	}
}

/* checks W-CM-53: a connection that our host is ending already is not ended once more when it turns
 * out stale: its DREQ is not begun anew, and the end stays our host's wish. */
Test(cm_disconnect, w_cm_53_stale_while_it_ends)
{
	static const enum cm_at at[] = {A_DREQ_SENT, P_DREQ_SENT};

	for (unsigned i = 0; i < 2; i++) {
		struct cm_at_bench b = cm_at_bring(at[i]);
		const uint64_t tid = b.conn->dreq_tid, deadline = roce_cm_next_deadline(b.cm);
		struct roce_cm_event ev;

		b.net->now_ns += MS(1);
		cm_at_inject(&b, REQ_STALE);
		cr_expect_eq(cm_net_next_attr(b.cm), CM_ATTR_REJ, "%s", cm_at_names[at[i]]);
		cr_expect_eq(cm_net_next_attr(b.cm), 0, "%s", cm_at_names[at[i]]);
		cr_expect_eq(b.conn->dreq_tid, tid, "%s", cm_at_names[at[i]]);
		cr_expect_eq(roce_cm_next_deadline(b.cm), deadline, "%s", cm_at_names[at[i]]);
		cm_at_inject(&b, DREP);
		cr_assert(roce_cm_event(b.cm, &ev), "%s", cm_at_names[at[i]]);
		cr_expect_eq(ev.type, ROCE_CM_EV_DISCONNECTED, "%s", cm_at_names[at[i]]);
		cr_expect_not(ev.by_peer, "%s", cm_at_names[at[i]]);
		cm_net_free(b.net);
	}
}

/* A REQ claims that the connection is stale. Returns the DREQ that the host sends beside the REJ of
 * that claim; all zero: none. */
static struct cm_mad
sent_for_a_claim(struct cm_at_bench *b)
{
	struct cm_mad m, dreq = {0};
	struct roce_cm_tx tx;

	cm_at_inject(b, REQ_STALE);
	while (roce_cm_tx(b->cm, &tx)) {
		cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
		if (m.attr == CM_ATTR_REJ)
			cr_expect_eq(m.reason, ROCE_CM_REASON_STALE_CONN);
		else
			dreq = m;
	}
	return dreq;
}

/* checks W-CM-53[5,6]: a claim ends nothing by itself, however often it is made; the peer is asked
 * by a DREQ that it ignores if it still has the connection. */
Test(cm_disconnect, w_cm_53_a_claim_alone_ends_nothing)
{
	static const enum cm_at at[] = {A_ESTABLISHED, P_ESTABLISHED};

	for (unsigned i = 0; i < 2; i++) {
		struct cm_at_bench b = cm_at_bring(at[i]);
		struct roce_cm_event ev;

		for (unsigned claims = 0; claims < 5; claims++) {
			const struct cm_mad m = sent_for_a_claim(&b);

			cr_expect_eq(m.attr, CM_ATTR_DREQ, "claim %u", claims);
			cr_expect_eq(m.local_id, b.conn->local_id);
			cr_expect_eq(m.remote_id, CM_AT_PEER_ID);
			cr_expect_eq(m.qpn, 1, "no connection's");
			b.net->now_ns += MS(1000);
		}
		cr_expect_eq(roce_cm_counters(b.cm)->challenges, 5);
		cr_expect_eq(roce_cm_counters(b.cm)->stale, 5);
		roce_cm_tick(b.cm, b.net->now_ns + MS(1000000));
		cr_expect_eq(b.conn->state, CM_ESTABLISHED);
		cr_expect_not(roce_cm_event(b.cm, &ev));
		cm_net_free(b.net);
	}
}

/* checks W-CM-53[6]: two live hosts, and a third that sends from the address of either: the
 * connection of the two goes on. */
Test(cm_disconnect, w_cm_53_a_spoofed_req_ends_no_connection)
{
	for (unsigned victim = 0; victim < 2; victim++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
		struct cm_mad m = cm_net_take_req(net); /* with all that is right in one */

		cm_net_run(net, MS(1000)); /* it was sent again, and now they are connected */
		cr_assert_eq(cm_net_events(p, ROCE_CM_EV_ESTABLISHED), 1);
		m.local_id ^= 0x5555;
		if (victim == CM_NET_A) {
			struct cm_ip_hdr ip = {.src = p->gid, .dst = a->gid, .src_port = 9};

			m.ca_guid = p->cfg.ca_guid;
			m.qpn = 0x2000;
			m.sgid = p->gid;
			m.dgid = a->gid;
			cm_ip_hdr_encode(m.priv, &ip);
		}
		for (unsigned i = 0; i < 10; i++) {
			cm_net_inject(net, !victim, &m);
			cm_net_run(net, MS(1000));
		}
		cr_expect_eq(roce_cm_counters(net->host[victim].cm)->challenges, 10);
		cr_expect_eq(cm_net_events(a, ROCE_CM_EV_DISCONNECTED), 0);
		cr_expect_eq(cm_net_events(p, ROCE_CM_EV_DISCONNECTED), 0);
		cm_net_free(net);
	}
}

/* checks W-CM-53[7]: the answer of a peer that knows nothing ends it; one that answers another
 * question, or none, does not. */
Test(cm_disconnect, w_cm_53_the_answer_to_a_challenge_ends_it)
{
	static const enum cm_at at[] = {A_ESTABLISHED, P_ESTABLISHED};

	for (unsigned i = 0; i < 2; i++) {
		struct cm_at_bench b = cm_at_bring(at[i]);
		struct cm_mad drep = cm_at_mad(&b, DREP);
		struct roce_cm_event ev;

		cm_net_inject(b.net, CM_NET_P, &drep);
		cr_expect_eq(b.conn->state, CM_ESTABLISHED, "nothing was asked");
		drep.tid = b.conn->dreq_tid;
		cm_net_inject(b.net, CM_NET_P, &drep);
		cr_expect_eq(b.conn->state, CM_ESTABLISHED, "nor by a DREQ that was never sent");
		drep.tid = sent_for_a_claim(&b).tid + 1;
		cm_net_inject(b.net, CM_NET_P, &drep);
		cr_expect_eq(b.conn->state, CM_ESTABLISHED, "another question");
		cr_expect_eq(roce_cm_counters(b.cm)->rx_dropped, 3);
		drep.tid--;
		cm_net_inject(b.net, CM_NET_P, &drep);
		cr_expect_eq(b.conn->state, CM_TIMEWAIT);
		cr_assert(roce_cm_event(b.cm, &ev));
		cr_expect_eq(ev.type, ROCE_CM_EV_DISCONNECTED);
		cr_expect(ev.by_peer);
		cr_expect_not(ev.timed_out);
		cm_net_inject(b.net, CM_NET_P, &drep);
		cr_expect_eq(b.conn->state, CM_TIMEWAIT);
		cr_expect_not(roce_cm_event(b.cm, &ev), "it ends once");
		cm_net_free(b.net);
	}
}

/* checks W-CM-53[8]: a flood of claims makes one question a second. */
Test(cm_disconnect, w_cm_53_challenges_are_rare)
{
	struct cm_at_bench b = cm_at_bring(P_ESTABLISHED);
	const uint64_t tid = sent_for_a_claim(&b).tid;

	for (unsigned i = 0; i < 99; i++) {
		b.net->now_ns += MS(10);
		cr_expect_eq(sent_for_a_claim(&b).attr, 0);
		cr_expect_eq(b.conn->dreq_tid, tid, "the question stands");
	}
	b.net->now_ns += MS(10) - 1;
	cr_expect_eq(sent_for_a_claim(&b).attr, 0);
	b.net->now_ns += 1;
	cr_expect_eq(sent_for_a_claim(&b).attr, CM_ATTR_DREQ);
	cr_expect_neq(b.conn->dreq_tid, tid, "another question");
	cr_expect_eq(roce_cm_counters(b.cm)->challenges, 2);
	cm_net_free(b.net);
}

/* checks W-CM-53[7]: a peer that has started again, and has the same numbers, is connected at its
 * next try, or, if the question or its answer was lost, at the one after it. */
Test(cm_disconnect, w_cm_53_a_restarted_peer_connects_in_bounded_time)
{
	for (unsigned lost = 0; lost < 3; lost++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
		unsigned tries = 0;

		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(10));
		cm_net_restart(net, CM_NET_A);
		a->n_log = 0;
		p->drop[ATTR(CM_ATTR_DREQ)] = lost == 1;
		a->drop[ATTR(CM_ATTR_DREP)] = lost == 2;
		for (; cm_net_events(a, ROCE_CM_EV_REPLY) == 0; tries++) {
			a->qpn = 0x1000;
			cm_net_connect(net, NULL, 0);
			cm_net_run(net, MS(1000));
			cr_assert_lt(tries, 10);
		}
		cr_expect_eq(tries, lost == 0 ? 2 : 3, "lost %u: %u tries", lost, tries);
		cr_expect_eq(cm_net_events(p, ROCE_CM_EV_DISCONNECTED), 1);
		cm_net_free(net);
	}
}
