/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagram services: single fields, checks and counters; see test_details.c. */
#include <criterion/criterion.h>
#include <string.h>

#include "cm/manager.h"
#include "cm/message.h"
#include "cm/sidr.h"
#include "cm/table.h"
#include "rigs/cm_net.h"

#define PORT 99u

/* The test plays the peer of host P, which has a service. */
struct bench {
	struct cm_net *net;
	struct roce_cm *cm;
	struct roce_cm_listener *listener;
};

static struct bench
bench_new(uint32_t backlog)
{
	struct bench b = {.net = cm_net_new(false)};

	b.cm = b.net->host[CM_NET_P].cm;
	b.listener = roce_cm_sidr_listen(
		b.cm, &(struct roce_cm_addr){.port = PORT}, CM_NET_PORT, backlog, NULL, NULL);
	cr_assert_not_null(b.listener);
	return b;
}

static struct cm_mad
request(const struct bench *b, uint32_t id)
{
	const struct cm_ip_hdr ip = {.src = b->net->host[CM_NET_A].gid,
		.dst = b->net->host[CM_NET_P].gid,
		.src_port = 5};
	struct cm_mad m = {.attr = CM_ATTR_SIDR_REQ,
		.tid = 77,
		.local_id = id,
		.pkey = 0xffff,
		.service_id = CM_SERVICE_PS_UDP | PORT};

	cm_ip_hdr_encode(m.priv, &ip);
	return m;
}

static struct roce_cm_conn *
asked(struct bench *b, uint32_t id)
{
	const struct cm_mad m = request(b, id);
	struct roce_cm_event ev;

	cm_net_inject(b->net, CM_NET_A, &m);
	cr_assert(roce_cm_event(b->cm, &ev));
	cr_assert_eq(ev.type, ROCE_CM_EV_SIDR_REQUEST);
	return ev.conn;
}

static void
answer(struct bench *b, struct roce_cm_conn *c)
{
	cr_assert(roce_cm_sidr_reply(
		b->cm, b->net->now_ns, c, &(struct roce_cm_sidr_reply){.qpn = 0x1234, .q_key = 5}));
}

static struct roce_cm_conn *
ask(struct roce_cm *cm, const struct cm_net *net, uint8_t hop_limit)
{
	return roce_cm_sidr_query(cm, net->now_ns,
		&(struct roce_cm_sidr_query){.local = {net->host[CM_NET_A].gid, 40000},
			.remote = {net->host[CM_NET_P].gid, PORT},
			.port = 3,
			.hop_limit = hop_limit});
}

/* Take the next message; its status if it is a SIDR_REP. */
static uint32_t
status_sent(struct roce_cm *cm, struct roce_cm_tx *tx)
{
	struct cm_mad m;

	cr_assert(roce_cm_tx(cm, tx));
	cr_assert_eq(cm_mad_decode(&m, tx->mad), CM_DECODE_OK);
	cr_assert_eq(m.attr, CM_ATTR_SIDR_REP);
	return m.status;
}

/* checks W-CM-02[1], W-CM-40[2]: through which port both leave, with which hop limit, as what. */
Test(cm_sidr_details, w_cm_02_how_query_and_reply_leave)
{
	struct bench b = bench_new(0);
	struct roce_cm *a = b.net->host[CM_NET_A].cm;
	uint64_t tids[2] = {0};
	struct roce_cm_tx tx;
	struct cm_mad m;

	for (unsigned i = 0; i < 2; i++) {
		cr_assert_not_null(ask(a, b.net, i == 0 ? 0 : 33));
		cr_assert(roce_cm_tx(a, &tx));
		cr_expect_eq(tx.port, 3);
		cr_expect_eq(tx.hop_limit, i == 0 ? 64 : 33);
		cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
		tids[i] = m.tid;
	}
	cr_expect_neq(tids[0], 0);
	cr_expect_neq(tids[0], tids[1], "W-CM-40");
	answer(&b, asked(&b, 9));
	cr_expect_eq(status_sent(b.cm, &tx), ROCE_CM_SIDR_SUCCESS);
	cr_expect_eq(tx.port, 7, "where the request came in");
	cm_net_free(b.net);
}

Test(cm_sidr_details, no_room_for_a_query)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];

	for (unsigned i = 0; i < a->cfg.max_active; i++)
		cr_assert_not_null(ask(a->cm, net, 0));
	cr_expect_null(ask(a->cm, net, 0));
	cr_expect_eq(roce_cm_counters(a->cm)->no_resources, 1);
	cm_net_free(net);
}

/* One more request for this service: how it is answered if it is not offered. */
static uint32_t
asked_for(struct bench *b, uint16_t port, uint32_t id)
{
	struct cm_mad m = request(b, id);
	struct roce_cm_event ev;
	struct roce_cm_tx tx;

	m.service_id = CM_SERVICE_PS_UDP | port;
	cm_net_inject(b->net, CM_NET_A, &m);
	return roce_cm_event(b->cm, &ev) ? ROCE_CM_SIDR_SUCCESS : status_sent(b->cm, &tx);
}

/* checks W-CM-54[12]: a part of the table is for requests; a user whose service answers none
 * leaves something to the next, and one more is answered, and forgotten. */
Test(cm_sidr_details, w_cm_54_no_room_for_a_request)
{
	struct bench b = bench_new(0);
	const uint32_t part = b.net->host[CM_NET_P].cfg.max_passive / 4 + 1;
	const struct roce_cm_counters *count = roce_cm_counters(b.cm);
	uint32_t users = 1, held = 0, of_user = 0;

	for (; held < part; held++, of_user++) {
		const uint16_t port = (uint16_t)(PORT + users);

		if (of_user == 0) {
			struct roce_cm_listener *l = roce_cm_sidr_listen(b.cm,
				&(struct roce_cm_addr){.port = port}, CM_NET_PORT, 0, NULL, NULL);

			cr_assert_not_null(l);
			roce_cm_listener_of(l, users);
		}
		if (of_user < 7 * (part - held)) {
			cr_assert_eq(asked_for(&b, port, 100 + held), ROCE_CM_SIDR_SUCCESS);
			continue;
		}
		cr_assert_eq(asked_for(&b, port, 99), ROCE_CM_SIDR_NO_QP);
		cr_assert_eq(count->rejected_listener, users);
		users++;
		held--;
		of_user = UINT32_MAX;
	}
	cr_expect_gt(users, 1);
	cr_expect_eq(count->no_resources, 0);
	cr_expect_eq(asked_for(&b, PORT, 99), ROCE_CM_SIDR_NO_QP);
	cr_expect_eq(count->no_resources, 1);
	cm_net_free(b.net);
}

/* checks W-CM-03[2]: as long as the peer repeats its request, the reply is kept. */
Test(cm_sidr_details, w_cm_03_a_reply_is_kept_while_it_is_asked_for)
{
	struct bench b = bench_new(0);
	const struct cm_mad m = request(&b, 9);
	struct roce_cm_event ev;
	struct roce_cm_tx tx;

	answer(&b, asked(&b, 9));
	(void)status_sent(b.cm, &tx);
	for (unsigned i = 0; i < 5; i++) {
		b.net->now_ns += MS(9000);
		roce_cm_tick(b.cm, b.net->now_ns);
		cm_net_inject(b.net, CM_NET_A, &m);
		cr_expect_not(roce_cm_event(b.cm, &ev));
		cr_expect_eq(status_sent(b.cm, &tx), ROCE_CM_SIDR_SUCCESS);
	}
	cr_expect_eq(roce_cm_counters(b.cm)->rx_duplicate, 5);
	b.net->now_ns += MS(10001);
	roce_cm_tick(b.cm, b.net->now_ns);
	(void)asked(&b, 9);
	cm_net_free(b.net);
}

/*
 * checks W-CM-41[8,9]: a request is the peer's address, id and transaction, to one address of
 * ours: with anything else it is another one. The same place in the hash table makes none the
 * same.
 */
Test(cm_sidr_details, what_makes_a_request_the_same)
{
	struct bench b = bench_new(0);
	struct roce_cm_conn *c = asked(&b, 9);
	struct cm_in in = {.mad = request(&b, 9),
		.local = b.net->host[CM_NET_P].gid,
		.remote = b.net->host[CM_NET_A].gid};
	struct cm_in other;

	cr_expect_eq(cm_find_sidr_request(b.cm, &in), c);
	for (uint32_t i = 1; i < 2000; i++) {
		other = in;
		other.remote.raw[14] ^= (uint8_t)(i >> 8);
		other.remote.raw[15] ^= (uint8_t)i;
		cr_assert_null(cm_find_sidr_request(b.cm, &other));
		other = in;
		other.mad.local_id += i;
		cr_assert_null(cm_find_sidr_request(b.cm, &other));
	}
	other = in;
	other.local.raw[15] ^= 1;
	cr_expect_null(cm_find_sidr_request(b.cm, &other));
	other = in;
	other.mad.tid++;
	cr_expect_null(cm_find_sidr_request(b.cm, &other));
	cm_net_free(b.net);
}

/* Queries and requests are in one table: neither is taken for the other. */
Test(cm_sidr_details, queries_and_requests_are_two)
{
	struct bench b = bench_new(0);
	struct roce_cm *a = b.net->host[CM_NET_A].cm;
	struct cm_in to_p = {
		.local = b.net->host[CM_NET_P].gid, .remote = b.net->host[CM_NET_A].gid};
	struct cm_in to_a = {.local = to_p.remote, .remote = to_p.local};
	struct roce_cm_tx tx;

	for (uint32_t i = 0; i < 500; i++) {
		struct roce_cm_conn *c = asked(&b, 1000 + i);

		to_p.mad.local_id = c->local_id;
		cr_assert_null(cm_find_sidr_query(b.cm, &to_p), "a request is no query");
		answer(&b, c);
		(void)status_sent(b.cm, &tx);
		b.net->now_ns += MS(10001);
		roce_cm_tick(b.cm, b.net->now_ns);

		c = ask(a, b.net, 0);
		to_a.mad.local_id = c->local_id;
		cr_assert_eq(cm_find_sidr_query(a, &to_a), c);
		to_a.mad.local_id = 0; /* what the peer's id is in a query */
		to_a.mad.tid = c->tid;
		cr_assert_null(cm_find_sidr_request(a, &to_a), "a query is no request");
		roce_cm_destroy(a, b.net->now_ns, c);
	}
	cm_net_free(b.net);
}

/* checks W-CM-41[9]: a reply must come to the address that asked. */
Test(cm_sidr_details, w_cm_41_a_reply_to_another_address)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	struct roce_cm_conn *c = ask(a->cm, net, 0);
	const struct cm_mad m = {
		.attr = CM_ATTR_SIDR_REP, .tid = c->tid, .local_id = c->local_id, .qpn = 0x1234};
	struct roce_cm_event ev;

	a->gid.raw[15] ^= 1;
	cm_net_inject(net, CM_NET_P, &m);
	cr_expect_not(roce_cm_event(a->cm, &ev));
	cr_expect_eq(roce_cm_counters(a->cm)->rx_dropped, 1);
	a->gid.raw[15] ^= 1;
	cm_net_inject(net, CM_NET_P, &m);
	cr_expect(roce_cm_event(a->cm, &ev));
	cm_net_free(net);
}

Test(cm_sidr_details, counters)
{
	struct bench b = bench_new(1);
	const struct roce_cm_counters *count = roce_cm_counters(b.cm);
	struct roce_cm_conn *c = ask(b.net->host[CM_NET_A].cm, b.net, 0);
	struct cm_mad m = request(&b, 5);

	m.service_id++;
	cm_net_inject(b.net, CM_NET_A, &m);
	cr_expect_eq(count->rejected_no_listener, 1);
	m = request(&b, 6);
	m.pkey = 0x8001;
	cm_net_inject(b.net, CM_NET_A, &m);
	cr_expect_eq(count->rejected_invalid, 1);
	(void)asked(&b, 7);
	m = request(&b, 8);
	cm_net_inject(b.net, CM_NET_A, &m);
	cr_expect_eq(count->rejected_backlog, 1);
	m = (struct cm_mad){
		.attr = CM_ATTR_SIDR_REP, .tid = c->tid, .local_id = c->local_id, .qpn = 1};
	cm_net_inject(b.net, CM_NET_P, &m);
	cr_expect_eq(roce_cm_counters(b.net->host[CM_NET_A].cm)->rx_malformed, 1);
	cm_net_free(b.net);
}

/* The number of a queue pair that a reply names: it is not 0 or 1, but may be 2. */
Test(cm_sidr_details, the_first_queue_pair_that_a_reply_may_name)
{
	for (uint32_t qpn = 0; qpn < 3; qpn++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A];
		struct roce_cm_conn *c = ask(a->cm, net, 0);
		const struct cm_mad m = {.attr = CM_ATTR_SIDR_REP,
			.tid = c->tid,
			.local_id = c->local_id,
			.qpn = qpn};
		struct roce_cm_event ev;

		cm_net_inject(net, CM_NET_P, &m);
		cr_expect_eq(roce_cm_event(a->cm, &ev), qpn == 2, "%u", qpn);
		cr_expect_eq(roce_cm_counters(a->cm)->rx_malformed, qpn != 2, "%u", qpn);
		cm_net_free(net);
	}
}

/* A request is replied to once; its handle is no request that waits any more. */
Test(cm_sidr_details, a_second_reply_is_none)
{
	struct bench b = bench_new(0);
	struct roce_cm_conn *c = asked(&b, 9);
	struct roce_cm_tx tx;

	answer(&b, c);
	(void)status_sent(b.cm, &tx);
	cr_expect_not(roce_cm_sidr_reply(b.cm, b.net->now_ns, c,
		&(struct roce_cm_sidr_reply){.status = ROCE_CM_SIDR_REJECT}));
	cr_expect_eq(cm_net_next_attr(b.cm), 0);
	cm_net_free(b.net);
}

/* Replies are kept for peers that repeat their query, up to an eighth of the table; one more is
 * sent, and forgotten. */
Test(cm_sidr_details, how_many_replies_are_kept)
{
	struct bench b = bench_new(0);
	const uint32_t part = b.net->host[CM_NET_P].cfg.max_passive / 8;
	struct roce_cm_usage u;
	struct roce_cm_tx tx;

	for (uint32_t i = 0; i < 2 * part; i++) {
		answer(&b, asked(&b, 100 + i));
		cr_expect_eq(status_sent(b.cm, &tx), ROCE_CM_SIDR_SUCCESS);
		roce_cm_usage(b.cm, &u);
		cr_expect_eq(u.timewait, i < part ? i + 1 : part, "after %u", i + 1);
	}
	cm_net_free(b.net);
}

/* checks W-CM-41: a reply with an id that no query has answers none, in whichever bucket. */
Test(cm_sidr_details, w_cm_41_a_reply_with_an_unknown_id)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	const struct roce_cm_conn *c = ask(a->cm, net, 0);
	struct cm_in in = {.local = a->gid, .remote = net->host[CM_NET_P].gid};

	for (uint32_t other = 1; other < 1000; other++) {
		in.mad.local_id = c->local_id ^ other;
		cr_assert_null(cm_find_sidr_query(a->cm, &in));
	}
	cm_net_free(net);
}
