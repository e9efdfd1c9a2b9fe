/* SPDX-License-Identifier: BSD-3-Clause */
/* Single fields, checks and counters; each test fails with a mutant that all others let pass. */
#include <criterion/criterion.h>
#include <string.h>

#include "cm/sidr.h"
#include "rigs/cm_at.h"

/* The next message that the connection under test sends. */
static struct cm_mad
next_sent(const struct cm_at_bench *b)
{
	struct roce_cm_tx tx;
	struct cm_mad m;

	cr_assert(roce_cm_tx(b->cm, &tx));
	cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
	return m;
}

/* A listener at one address takes no request for another, and shares its port with none that takes
 * them all. */
Test(cm_details, a_listener_at_an_address)
{
	struct cm_at_bench b = cm_at_bring(A_DEAD);
	const struct roce_cm_addr here = {b.net->host[CM_NET_A].gid, CM_NET_SERVICE},
				  there = {{{0x20, 1, [15] = 9}}, CM_NET_SERVICE + 1},
				  all = {.port = CM_NET_SERVICE + 2},
				  one_of_all = {here.gid, CM_NET_SERVICE + 2};
	struct cm_mad m = cm_at_mad(&b, REQ_SAME);
	struct roce_cm_event ev;

	cr_assert_not_null(roce_cm_listen(b.cm, &here, CM_NET_PORT, 0, NULL, NULL));
	cr_assert_not_null(roce_cm_listen(b.cm, &there, CM_NET_PORT, 0, NULL, NULL));
	cr_assert_not_null(roce_cm_listen(b.cm, &all, CM_NET_PORT, 0, NULL, NULL));
	cr_expect_null(roce_cm_listen(b.cm, &one_of_all, CM_NET_PORT, 0, NULL, NULL));
	m.service_id = cm_service_id(there.port);
	cm_net_inject(b.net, CM_NET_P, &m);
	cr_expect_not(roce_cm_event(b.cm, &ev));
	m = next_sent(&b);
	cr_expect_eq(m.attr, CM_ATTR_REJ);
	cr_expect_eq(m.reason, ROCE_CM_REASON_INVALID_SERVICE_ID);
	cm_at_inject(&b, REQ_SAME);
	cr_assert(roce_cm_event(b.cm, &ev));
	cr_expect_eq(ev.type, ROCE_CM_EV_REQUEST);
	cm_net_free(b.net);
}

/* checks W-CM-37[1]: the bit is what either side says, in both messages that have it. */
Test(cm_details, w_cm_37_the_srq_bit_informs)
{
	for (unsigned srq = 0; srq < 2; srq++) {
		struct cm_at_bench b = cm_at_bring(A_REQ_SENT);
		struct cm_mad m = cm_at_mad(&b, REP_FIRST);
		struct roce_cm_connect p = cm_net_connect_params(b.net);
		struct roce_cm_event ev;

		m.srq = srq;
		cm_net_inject(b.net, CM_NET_P, &m);
		cr_assert(roce_cm_event(b.cm, &ev));
		cr_expect_eq(ev.type, ROCE_CM_EV_REPLY);
		cr_expect_eq(ev.peer.srq, srq);
		p.qp.srq = srq;
		cr_assert_not_null(roce_cm_connect(b.cm, 0, &p));
		m = next_sent(&b);
		cr_expect_eq(m.attr, CM_ATTR_REQ);
		cr_expect_eq(m.srq, srq);
		cm_net_free(b.net);
	}
}

/* checks W-CM-43[6], W-CM-48[3]: the REJ of a REP that comes after all names the peer's id. */
Test(cm_details, w_cm_43_a_late_rep_is_refused_by_its_id)
{
	struct cm_at_bench b = cm_at_bring(A_ABANDONED);
	struct cm_mad m;

	cm_at_inject(&b, REP_FIRST);
	m = next_sent(&b);
	cr_expect_eq(m.attr, CM_ATTR_REJ);
	cr_expect_eq(m.which, CM_WHICH_REP);
	cr_expect_eq(m.remote_id, CM_AT_PEER_ID);
	cr_expect_eq(m.local_id, b.conn->local_id);
	cm_net_free(b.net);
}

/* A DREQ that meets a REP which our host has not answered: the peer took its word back. */
Test(cm_details, a_dreq_before_the_rtu_is_a_refusal)
{
	static const enum cm_at at[] = {A_REP_RCVD, A_MRA_REP_SENT};

	for (unsigned i = 0; i < 2; i++) {
		struct cm_at_bench b = cm_at_bring(at[i]);
		struct roce_cm_event ev;

		cm_at_inject(&b, DREQ);
		cr_assert(roce_cm_event(b.cm, &ev));
		cr_expect_eq(ev.type, ROCE_CM_EV_REJECTED);
		cr_expect_eq(ev.reason, ROCE_CM_REASON_CONSUMER);
		cr_expect_eq(ev.priv_bytes, 0, "that of the REP is no reason");
		cr_expect_eq(next_sent(&b).attr, CM_ATTR_DREP);
		cm_net_free(b.net);
	}
}

/* checks W-CM-40[3]: a DREQ begins a transaction of its own, and its copies belong to that. */
Test(cm_details, w_cm_40_the_transaction_of_a_dreq)
{
	struct cm_at_bench b = cm_at_bring(A_ESTABLISHED);
	struct cm_mad first;

	roce_cm_disconnect(b.cm, 0, b.conn);
	first = next_sent(&b);
	cr_expect_eq(first.attr, CM_ATTR_DREQ);
	cr_expect_neq(first.tid, 0);
	cr_expect_neq(first.tid, b.conn->tid, "that of the REQ");
	roce_cm_tick(b.cm, MS(1000));
	cr_expect_eq(next_sent(&b).tid, first.tid);
	cm_net_free(b.net);
}

/* checks W-CM-40[1]: after a restart a host begins elsewhere: no reply to its former life fits. */
Test(cm_details, w_cm_40_a_new_life_begins_with_another_transaction)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_mad before = cm_net_take_req(net), after;

	net->host[CM_NET_A].cfg.secret[1] ^= 0x7777;
	cm_net_restart(net, CM_NET_A);
	after = cm_net_take_req(net);
	cr_expect_neq(before.tid >> 32, after.tid >> 32);
	cr_expect_neq(before.local_id, after.local_id);
	cm_net_free(net);
}

/* The extended transport type is one of what a REQ must not ask for. */
Test(cm_details, another_transport)
{
	for (unsigned i = 0; i < 2; i++) {
		struct cm_at_bench b = cm_at_bring(A_DEAD);
		const struct roce_cm_addr all = {.port = CM_NET_SERVICE};
		struct cm_mad m = cm_at_mad(&b, REQ_SAME);

		cr_assert_not_null(roce_cm_listen(b.cm, &all, CM_NET_PORT, 0, NULL, NULL));
		m.transport = i == 0;
		m.ext_transport = i == 1;
		cm_net_inject(b.net, CM_NET_P, &m);
		m = next_sent(&b);
		cr_expect_eq(m.attr, CM_ATTR_REJ);
		cr_expect_eq(m.reason, ROCE_CM_REASON_INVALID_TRANSPORT_TYPE);
		cr_expect_eq(roce_cm_counters(b.cm)->rejected_invalid, 1);
		cm_net_free(b.net);
	}
}

/* checks W-CM-07[1,3]: an address in a header of version 6 is none of IPv4, in either place. */
Test(cm_details, w_cm_07_no_mapped_address_in_a_header_of_ipv6)
{
	const struct roce_gid v6 = {{0x20, 1, 0xd, 0xb8, [15] = 1}},
			      v4 = {{[10] = 0xff, [11] = 0xff, [12] = 192, [14] = 2, [15] = 1}};
	const struct cm_ip_hdr good = {.src = v6, .dst = v6, .src_port = 5};
	uint8_t bytes[CM_IP_HDR_BYTES];
	struct cm_ip_hdr out;

	memset(bytes, 0x5a, sizeof(bytes)); /* all of it is written */
	cm_ip_hdr_encode(bytes, &good);
	cr_expect_eq(bytes[0], 0);
	cr_assert(cm_ip_hdr_decode(&out, bytes));
	for (unsigned at = 4; at <= 20; at += 16) {
		cm_ip_hdr_encode(bytes, &good);
		memcpy(bytes + at, v4.raw, 16);
		cr_expect_not(cm_ip_hdr_decode(&out, bytes), "at %u", at);
	}
	memset(bytes, 0x5a, sizeof(bytes));
	cm_ip_hdr_encode(bytes, &(struct cm_ip_hdr){.src = v4, .dst = v4, .src_port = 5});
	for (unsigned i = 4; i < 16; i++)
		cr_expect_eq(bytes[i] | bytes[i + 16], 0, "W-CM-07: zeroes before an IPv4 address");
}

/* What is dropped or repeated is counted. */
Test(cm_details, counters)
{
	static const struct {
		enum cm_at at;
		enum cm_at_msg msg;
		size_t counter;
	} rows[] = {
		{P_REQ_RCVD, DREQ, offsetof(struct roce_cm_counters, rx_dropped)},
		{A_ESTABLISHED, DREQ_WRONG_QPN, offsetof(struct roce_cm_counters, rx_dropped)},
		{A_ESTABLISHED, DREP, offsetof(struct roce_cm_counters, rx_dropped)},
		{P_REQ_RCVD, REQ_SAME, offsetof(struct roce_cm_counters, rx_duplicate)},
		{A_REQ_SENT, RTU, offsetof(struct roce_cm_counters, rx_dropped)},
		{P_ESTABLISHED, RTU, offsetof(struct roce_cm_counters, rx_duplicate)},
		{P_REQ_RCVD, RTU, offsetof(struct roce_cm_counters, rx_duplicate)},
		{A_REP_RCVD, RTU, offsetof(struct roce_cm_counters, rx_duplicate)},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cm_at_bench b = cm_at_bring(rows[i].at);
		const uint8_t *all = (const uint8_t *)roce_cm_counters(b.cm);
		const uint64_t *counter = (const uint64_t *)(all + rows[i].counter);
		uint64_t before = *counter;

		cm_at_inject(&b, rows[i].msg);
		cr_expect_eq(*counter, before + 1, "row %u", i);
		cm_net_free(b.net);
	}
}

/* A second connection from the queue pair of an established one is counted on this side, too. */
Test(cm_details, w_cm_53_a_stale_reply_is_counted)
{
	struct cm_at_bench b = cm_at_bring(A_ESTABLISHED);
	struct roce_cm_event ev;
	struct cm_mad m;

	b.conn = cm_net_connect(b.net, NULL, 0);
	cm_at_drain(&b);
	m = cm_at_mad(&b, REP_OTHER);
	cm_net_inject(b.net, CM_NET_P, &m);
	cr_expect_eq(roce_cm_counters(b.cm)->stale, 1);
	cr_assert(roce_cm_event(b.cm, &ev));
	cr_expect_eq(ev.type, ROCE_CM_EV_REJECTED);
	cr_expect_eq(ev.reason, ROCE_CM_REASON_STALE_CONN);
	cm_net_free(b.net);
}

/* A query that is given up before it left does not leave. */
Test(cm_details, a_query_that_never_left)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	struct roce_cm_conn *c = roce_cm_sidr_query(a->cm, 0,
		&(struct roce_cm_sidr_query){
			.local = {a->gid, 40000}, .remote = {net->host[CM_NET_P].gid, 1}});

	cr_assert_not_null(c);
	roce_cm_destroy(a->cm, 0, c);
	cr_expect_eq(cm_net_next_attr(a->cm), 0);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* A SIDR_REP names the service that was asked for. */
Test(cm_details, a_reply_names_the_service)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];
	struct roce_cm_conn *request = cm_net_sidr_request(net, 99);

	cr_assert(roce_cm_sidr_reply(p->cm, net->now_ns, request,
		&(struct roce_cm_sidr_reply){.qpn = 0x1234, .q_key = 5}));
	cm_net_run(net, MS(10));
	cr_expect_eq(p->last[ATTR(CM_ATTR_SIDR_REP)].service_id, 0x0000000001110000u | 99);
	cm_net_free(net);
}

/* checks W-CM-37[1]: the bit of a REQ reaches the host, too. */
Test(cm_details, w_cm_37_the_srq_bit_of_a_req)
{
	for (unsigned srq = 0; srq < 2; srq++) {
		struct cm_at_bench b = cm_at_bring(A_DEAD);
		const struct roce_cm_addr all = {.port = CM_NET_SERVICE};
		struct cm_mad m = cm_at_mad(&b, REQ_SAME);
		struct roce_cm_event ev;

		cr_assert_not_null(roce_cm_listen(b.cm, &all, CM_NET_PORT, 0, NULL, NULL));
		m.srq = srq;
		cm_net_inject(b.net, CM_NET_P, &m);
		cr_assert(roce_cm_event(b.cm, &ev));
		cr_expect_eq(ev.type, ROCE_CM_EV_REQUEST);
		cr_expect_eq(ev.peer.srq, srq);
		cm_net_free(b.net);
	}
}

/*
 * checks W-CM-49[1]: what was said to the peer for the connection is not said again when it is
 * given up.
 */
Test(cm_details, w_cm_49_giving_up_says_nothing_private)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	static const uint8_t nothing[ROCE_CM_REJ_PRIV];

	cm_net_mute(net, CM_NET_A);
	cm_net_connect(net, "secret", 6);
	cm_net_run(net, MS(1));
	roce_cm_destroy(a->cm, net->now_ns, a->conn);
	cm_net_run(net, MS(1));
	cr_expect_eq(a->sent[ATTR(CM_ATTR_REJ)], 1);
	cr_expect_eq(a->last[ATTR(CM_ATTR_REJ)].ari_bytes, 8);
	cr_expect_arr_eq(a->last[ATTR(CM_ATTR_REJ)].priv, nothing, sizeof(nothing));
	cm_net_free(net);
}

/* A refusal that comes too late changes nothing, not even what a later one says. */
Test(cm_details, a_refusal_too_late)
{
	struct cm_at_bench b = cm_at_bring(P_REP_SENT);
	struct cm_mad m;

	cr_expect_not(roce_cm_reject_mtu(b.cm, 0, b.conn, 2));
	roce_cm_destroy(b.cm, 0, b.conn);
	m = next_sent(&b);
	cr_expect_eq(m.attr, CM_ATTR_REJ);
	cr_expect_eq(m.reason, ROCE_CM_REASON_CONSUMER);
	cr_expect_eq(m.ari_bytes, 0);
	cm_net_free(b.net);
}

/* "No event follows", and none that waited. */
Test(cm_details, a_refusal_takes_back_its_event)
{
	struct cm_at_bench b = cm_at_bring(A_REQ_SENT);
	struct roce_cm_event ev;

	cm_at_inject(&b, REP_FIRST);
	cr_assert(roce_cm_reject(b.cm, 0, b.conn, ROCE_CM_REASON_CONSUMER, NULL, 0));
	cr_expect_not(roce_cm_event(b.cm, &ev));
	cm_net_free(b.net);
}

/*
 * checks W-CM-41[5]: a timeout REJ that names no connection by its GUID may name one by both
 * ids; and the id 0, which no end has, matches no connection whose peer has not told its own.
 */
Test(cm_details, w_cm_41_by_guid_or_by_both_ids)
{
	struct cm_at_bench b = cm_at_bring(P_REP_SENT);
	struct roce_cm_event ev;
	struct cm_mad m = cm_at_mad(&b, REJ_TIMEOUT);

	m.remote_id = b.conn->local_id;
	m.ari[7] ^= 1;
	cm_net_inject(b.net, CM_NET_P, &m);
	cr_assert(roce_cm_event(b.cm, &ev));
	cr_expect_eq(ev.type, ROCE_CM_EV_REJECTED);
	cr_expect_eq(ev.reason, ROCE_CM_REASON_TIMEOUT);
	cm_net_free(b.net);

	b = cm_at_bring(A_REQ_SENT);
	m = cm_at_mad(&b, REJ_OTHER);
	m.local_id = 0;
	cm_net_inject(b.net, CM_NET_P, &m);
	cr_expect_not(roce_cm_event(b.cm, &ev));
	cr_expect_eq(b.conn->state, CM_REQ_SENT);
	cm_net_free(b.net);
}

/* The last value on either side of a bound: queue pair numbers, IPv4 addresses, retries. */
Test(cm_details, bounds)
{
	static const struct {
		uint32_t qpn;
		uint8_t first; /* of the address from which the REQ comes */
		bool taken;
	} rows[] = {{2, 192, true}, {1, 192, false}, {2, 223, true}, {2, 224, false}, {2, 1, true},
		{2, 0, false}, {2, 126, true}, {2, 127, false}, {2, 128, true}};
	struct roce_cm_cfg cfg = {.max_active = 1, .max_listeners = 1, .max_retries = 15};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
		struct cm_mad m = cm_net_take_req(net);
		struct roce_cm_event ev;
		struct cm_ip_hdr ip;

		a->gid.raw[12] = rows[i].first;
		cr_assert(cm_ip_hdr_decode(&ip, m.priv));
		m.sgid = ip.src = a->gid;
		cm_ip_hdr_encode(m.priv, &ip);
		m.qpn = rows[i].qpn;
		cm_net_inject(net, CM_NET_A, &m);
		cr_expect_eq(roce_cm_event(p->cm, &ev), rows[i].taken, "row %u", i);
		cm_net_free(net);
	}
	cr_expect_neq(roce_cm_bytes(&cfg), 0);
	cfg.max_retries = 16; /* the field has four bits */
	cr_expect_eq(roce_cm_bytes(&cfg), 0);
}
