/* SPDX-License-Identifier: BSD-3-Clause */
/* The active side: what a REQ asks for, which REP answers it, and the RTU. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_at.h"

/* checks W-CM-70[1-3] */
Test(cm_active, w_cm_70_flow_label_of_the_ports)
{
	for (unsigned v6 = 0; v6 < 2; v6++) {
		const uint32_t label = (40000 * 31 + CM_NET_SERVICE) & 0xfffff;
		struct cm_net *net = cm_net_new(v6);
		struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
		struct roce_cm_connect c = cm_net_connect_params(net);

		c.flow_label = 0;
		c.hop_limit = 0;
		cr_assert_not_null(roce_cm_connect(a->cm, 0, &c));
		cm_net_run(net, MS(100));
		cr_expect_eq(a->last[ATTR(CM_ATTR_REQ)].flow_label, label);
		cr_expect_eq(cm_net_only_event(p, ROCE_CM_EV_REQUEST)->flow_label, label);
		cr_expect_eq(cm_net_only_event(a, ROCE_CM_EV_REPLY)->flow_label, label);
		cr_expect_eq(cm_net_only_event(p, ROCE_CM_EV_REQUEST)->hop_limit, 64);
		cm_net_free(net);
	}
}

/* All of the field behind the IP CM header is the user's: nothing of ours rides in it. checks
 * W-NEG-04 */
Test(cm_active, W_NEG_04_all_private_data_are_the_users)
{
	for (unsigned bytes = 0; bytes <= 56; bytes++) {
		struct cm_net *net = cm_net_new(false);
		const struct roce_cm_event *ev;
		uint8_t priv[56], zero[56] = {0};

		memset(priv, 0xa5, sizeof(priv));
		cm_net_connect(net, priv, bytes);
		cm_net_run(net, MS(10));
		ev = cm_net_only_event(&net->host[CM_NET_P], ROCE_CM_EV_REQUEST);
		cr_assert_eq(ev->priv_bytes, 56);
		cr_assert_arr_eq(ev->priv, priv, bytes);
		cr_assert_arr_eq(ev->priv + bytes, zero, 56 - bytes);
		cm_net_free(net);
	}
}

#define MSG 24u /* a message begins behind the header of its MAD */

/* checks W-CM-33[1]: 0 would be 8 us to a Linux peer: a host that asks for it gets what
 * Linux takes. */
Test(cm_active, W_CM_33_the_ack_timeout_of_a_REQ_is_never_0)
{
	for (uint8_t code = 0; code < 32; code++) {
		struct cm_net *net = cm_net_new(false);
		struct roce_cm_connect c = cm_net_connect_params(net);
		struct roce_cm_tx tx;

		c.ack_timeout = code;
		cr_assert_not_null(roce_cm_connect(net->host[CM_NET_A].cm, net->now_ns, &c));
		cr_assert(roce_cm_tx(net->host[CM_NET_A].cm, &tx));
		cr_assert_eq(tx.mad[MSG + 95] >> 3, code != 0 ? code : 17);
		cm_net_free(net);
	}
}

static bool
take_rep(struct cm_net *net, unsigned from, const struct cm_mad *mad)
{
	uint8_t *rep = net->tap_arg;

	if (from != CM_NET_P || mad->attr != CM_ATTR_REP || rep == NULL)
		return false;
	cm_mad_encode(rep, mad);
	net->tap_arg = NULL;
	return true;
}

/*
 * Some peers send back whatever vendor a REQ names, with its options: in our REQs there is nothing
 * to send back, and nothing that a REP says of vendors makes the connection another one. checks
 * W-CM-80[2], W-NEG-03
 */
Test(cm_active, W_CM_82_an_echo_in_a_REP_changes_nothing)
{
	static const uint32_t vendors[] = {0, 1, 0x15b3, 0xffffff}, options[] = {0, 1, ~0u};
	struct roce_cm_event plain = {0};

	for (unsigned i = 0; i < 12; i++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A];
		const struct roce_cm_event *ev;
		uint8_t rep[ROCE_MAD_BYTES];

		net->tap = take_rep;
		net->tap_arg = rep;
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(20));
		cr_assert_null(net->tap_arg, "no REP came");
		for (unsigned k = 0; k < 3; k++)
			rep[MSG + 15 + 4 * k] = (uint8_t)(vendors[i % 4] >> (16 - 8 * k));
		memcpy(rep + 20, &options[i / 4], 4);
		cm_net_inject_raw(net, CM_NET_P, rep);
		cm_net_run(net, MS(20));
		ev = cm_net_only_event(a, ROCE_CM_EV_REPLY);
		if (i == 0)
			plain = *ev;
		cr_assert_eq(ev->peer.qpn, plain.peer.qpn);
		cr_assert_eq(ev->peer.psn, plain.peer.psn);
		cr_assert_eq(ev->peer.responder_resources, plain.peer.responder_resources);
		cr_assert_eq(ev->peer.initiator_depth, plain.peer.initiator_depth);
		cr_assert_eq(ev->peer.rnr_retry, plain.peer.rnr_retry);
		cr_assert_eq(ev->ack_timeout, plain.ack_timeout);
		cr_assert_eq(ev->mtu_code, plain.mtu_code);
		cr_assert_arr_eq(ev->priv, plain.priv, sizeof(plain.priv));
		cm_net_only_event(&net->host[CM_NET_P], ROCE_CM_EV_ESTABLISHED); /* our RTU came */
		cm_net_free(net);
	}
}

/*
 * checks W-CM-43[4]: w-CM-43: the REP names a QPN of the peer that another connection of ours
 * still has.
 */
Test(cm_active, w_cm_43_stale_rep)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cm_net_restart(net, CM_NET_P);
	p->qpn = 0x2000;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(1000));
	cr_expect_eq(cm_net_events(a, ROCE_CM_EV_REJECTED), 1);
	cr_expect_eq(cm_net_event(a, ROCE_CM_EV_REJECTED, 0)->reason, 10);
	cr_expect_eq(cm_net_event(a, ROCE_CM_EV_REJECTED, 0)->priv_bytes, 0, "of no message");
	cr_expect_eq(cm_net_events(a, ROCE_CM_EV_DISCONNECTED), 1);
	cr_expect_eq(cm_net_only_event(p, ROCE_CM_EV_REJECTED)->reason, 10);
	cr_expect_eq(a->last[ATTR(CM_ATTR_REJ)].which, CM_WHICH_REP);
	cm_net_settle(net);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/*
 * checks W-CM-33[2]: the timeout for our sender, from the delay that a REP names and a packet
 * lifetime of 16, as Linux's cm_ack_timeout() makes it.
 */
Test(cm_active, W_CM_33_the_ack_timeout_that_a_REP_makes)
{
	static const uint8_t timeouts[32] = {17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17,
		17, 17, 18, 18, 19, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

	for (uint8_t delay = 0; delay < 32; delay++) {
		struct cm_at_bench b = cm_at_bring(A_REQ_SENT);
		struct cm_mad m = cm_at_mad(&b, REP_FIRST);
		struct roce_cm_event ev;

		m.target_ack_delay = delay;
		cm_net_inject(b.net, CM_NET_P, &m);
		cr_assert(roce_cm_event(b.cm, &ev));
		cr_expect_eq(ev.type, ROCE_CM_EV_REPLY);
		cr_expect_eq(
			ev.ack_timeout, timeouts[delay], "delay %u: %u", delay, ev.ack_timeout);
		cm_net_free(b.net);
	}
}

/*
 * checks W-CM-01[9-11]: a REP without a communication ID, or with a queue pair that no peer can
 * have.
 */
Test(cm_active, a_rep_that_names_nothing_is_malformed)
{
	static const struct {
		uint32_t local_id, qpn;
	} cases[] = {{0, 5}, {5, 0}, {5, 1}};
	struct cm_at_bench b = cm_at_bring(A_REQ_SENT);
	struct cm_mad m = cm_at_mad(&b, REP_FIRST);

	for (unsigned i = 0; i < 3; i++) {
		m.local_id = cases[i].local_id;
		m.qpn = cases[i].qpn;
		cm_net_inject(b.net, CM_NET_P, &m);
		cr_expect_eq(roce_cm_counters(b.cm)->rx_malformed, i + 1);
		cr_expect_eq(b.conn->state, CM_REQ_SENT);
	}
	m.qpn = 2;
	cm_net_inject(b.net, CM_NET_P, &m);
	cr_expect_eq(b.conn->state, CM_REP_RCVD);
	cm_net_free(b.net);
}

/*
 * checks W-CM-43[3]: a REP that comes again is a duplicate; one of another ID is of no
 * connection, and one for the passive side is for none either.
 */
Test(cm_active, w_cm_43_which_reps_are_duplicates)
{
	static const enum cm_at at[] = {A_REP_RCVD, A_MRA_REP_SENT, A_ESTABLISHED};

	for (unsigned i = 0; i < 3; i++) {
		struct cm_at_bench b = cm_at_bring(at[i]);
		const struct roce_cm_counters *n = roce_cm_counters(b.cm);
		const uint64_t before = n->rx_duplicate;

		cm_at_inject(&b, REP_FIRST);
		cr_expect_eq(n->rx_duplicate, before + 1, "%s", cm_at_names[at[i]]);
		cr_expect_eq(n->rx_dropped, 0);
		cm_at_inject(&b, REP_OTHER);
		cr_expect_eq(n->rx_duplicate, before + 1, "%s", cm_at_names[at[i]]);
		cr_expect_eq(n->rx_dropped, 1, "%s", cm_at_names[at[i]]);
		cm_net_free(b.net);
	}
	for (enum cm_at p = P_REQ_RCVD; p < AT_COUNT; p++) {
		struct cm_at_bench b = cm_at_bring(p);

		cm_at_inject(&b, REP_FIRST);
		cr_expect_eq(roce_cm_counters(b.cm)->rx_dropped, 1, "%s", cm_at_names[p]);
		cm_net_free(b.net);
	}
}

/* checks W-CM-74[1,2]: what the host asks for, 64 if it asks for nothing; the REQ says what its
 * packet has, with the LIDs of a routed path. */
Test(cm_active, w_cm_74_the_hop_limit_of_a_connect)
{
	static const uint8_t asked[] = {0, 1, 2, 64, 255}, sent[] = {64, 1, 2, 64, 255};

	for (unsigned i = 0; i < sizeof(asked); i++) {
		struct cm_net *net = cm_net_new(false);
		struct roce_cm *cm = net->host[CM_NET_A].cm;
		struct roce_cm_connect c = cm_net_connect_params(net);
		struct roce_cm_tx tx;
		struct cm_mad m;

		c.hop_limit = asked[i];
		cr_assert_not_null(roce_cm_connect(cm, 0, &c));
		cr_assert(roce_cm_tx(cm, &tx));
		cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
		cr_expect_eq(tx.hop_limit, sent[i]);
		cr_expect_eq(m.hop_limit, sent[i]);
		cr_expect_eq(m.subnet_local, sent[i] == 1);
		cr_expect_eq(m.slid, sent[i] == 1 ? 0 : 0xffff);
		cr_expect_eq(m.dlid, sent[i] == 1 ? 0 : 0xffff);
		cm_net_free(net);
	}
}

/* A flow label has 20 bits, for the REQ and for the packets of our queue pair alike. */
Test(cm_active, w_cm_70_a_flow_label_has_20_bits)
{
	struct cm_net *net = cm_net_new(false);
	struct roce_cm_connect p = cm_net_connect_params(net);

	p.flow_label = 0xfff12345;
	cr_assert_not_null(roce_cm_connect(net->host[CM_NET_A].cm, 0, &p));
	cm_net_run(net, MS(100));
	for (unsigned side = CM_NET_A; side <= CM_NET_P; side++) {
		const struct roce_cm_event *ev = cm_net_only_event(
			&net->host[side], side == CM_NET_A ? ROCE_CM_EV_REPLY : ROCE_CM_EV_REQUEST);

		cr_expect_eq(ev->flow_label, 0x12345, "side %u", side);
	}
	cm_net_free(net);
}
