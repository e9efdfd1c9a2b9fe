/* SPDX-License-Identifier: BSD-3-Clause */
/* Strangers ask for all they can, at the capacity of a daemon; other hosts must not notice. */
#include <criterion/criterion.h>

#include "rigs/cm_crowd.h"
#include "rigs/cm_flood.h"
#include "rigs/cm_net.h"
#include "cm/check.h"
#include "cm/manager.h"
#include "cm/sidr.h"

/* A connection of our own, for a moment. */
static bool
flood_connect_of(struct flood *f, uint32_t user)
{
	const struct roce_cm_connect c = {
		.local = {f->gid, 40000},
		.remote = {cm_crowd_v4(UINT32_MAX), FLOOD_SERVICE},
		.user = user,
		.qp.qpn = 2 + f->number,
		.mtu_code = 3,
	};
	struct roce_cm_conn *conn = roce_cm_connect(f->cm, f->now_ns, &c);

	f->opened += conn != NULL;
	f->refused += conn == NULL;
	if (conn != NULL)
		roce_cm_destroy(f->cm, f->now_ns, conn);
	return conn != NULL;
}

/* Each of another user, none of whom has many. */
static void
flood_connect(struct flood *f)
{
	(void)flood_connect_of(f, f->opened);
}

/* So many REQs a second from one host, for ten seconds, and a hundredth of that our own. */
static void
flood_run(struct flood *f, unsigned a_second, bool reject)
{
	const struct roce_gid from = cm_crowd_v4(1);

	for (unsigned i = 0; i < 10 * a_second; i++) {
		flood_req(f, &from);
		if (i % 100 == 0)
			flood_connect(f);
		if (i % 16 == 0)
			flood_turn(f, reject);
		f->now_ns += MS(1000) / a_second;
	}
	cr_expect_null(roce_cm_check(f->cm));
}

/* checks W-CM-54[1,2]: what peers ask for takes no places of our own connections, be it refused or
 * never decided. */
Test(cm_flood, w_cm_54_no_connect_of_our_own_is_refused)
{
	for (unsigned reject = 0; reject < 2; reject++) {
		struct flood f = flood_new(FLOOD_CAPACITY);

		flood_run(&f, 2000, reject);
		cr_expect_eq(f.refused, 0, "%u of %u", f.refused, f.refused + f.opened);
		cr_expect_eq(f.opened, 200);
		flood_free(&f);
	}
}

/* checks W-CM-54[1]: the other way round: clients that connect all the time take no places of the
 * listeners. */
Test(cm_flood, w_cm_54_no_request_is_refused_for_our_own_connects)
{
	struct flood f = flood_new(100);
	const struct roce_gid from = cm_crowd_v4(1);
	struct roce_cm_usage u;

	for (unsigned i = 0; i < 200; i++)
		flood_connect(&f);
	cr_expect_eq(f.opened, 100);
	flood_req(&f, &from);
	roce_cm_usage(f.cm, &u);
	cr_expect_eq(u.conns, 101);
	cr_expect_eq(u.active, 100);
	flood_free(&f);
}

static uint32_t
flood_held(const struct flood *f)
{
	struct roce_cm_usage u;

	roce_cm_usage(f->cm, &u);
	return u.conns - u.active;
}

/* The n-th host asks until it is refused. Returns how many places it got. */
static uint32_t
flood_take(struct flood *f, struct roce_gid (*gid)(uint32_t n), uint32_t n)
{
	const struct roce_gid from = gid(n);
	const uint32_t before = flood_held(f);
	uint32_t now = before, last;

	do {
		last = now;
		flood_req(f, &from);
		now = flood_held(f);
	} while (now > last);
	return now - before;
}

/* checks W-CM-54[4]: one host gets a half of what its listener gets, the next a half of the rest,
 * and so on. */
Test(cm_flood, w_cm_54_each_host_gets_its_share)
{
	struct flood f = flood_new_at(1600, 1600);

	cr_expect_eq(flood_take(&f, cm_crowd_v4, 1), 700);
	cr_expect_eq(flood_take(&f, cm_crowd_v4, 2), 350);
	cr_expect_eq(flood_take(&f, cm_crowd_v4, 3), 175);
	cr_expect_eq(roce_cm_counters(f.cm)->rejected_source, 3);
	cr_expect_eq(roce_cm_counters(f.cm)->no_resources, 0);
	for (unsigned i = 4; i < 9; i++)
		cr_expect_gt(flood_take(&f, cm_crowd_v4, i), 0, "host %u", i);
	flood_free(&f);
}

/* checks W-CM-54[5]: the addresses of one IPv6 subnet get two thirds of that; IPv4 has no subnets.
 */
Test(cm_flood, w_cm_54_each_subnet_gets_its_share)
{
	struct flood f = flood_new_at(1800, 1800);
	uint32_t held = 0;

	for (unsigned i = 0; i < 50; i++)
		held += flood_take(&f, cm_crowd_v6, i);
	cr_expect_eq(held, 1050);
	cr_expect_eq(flood_take(&f, cm_crowd_far, 1), 263, "another subnet");
	cr_expect_eq(flood_take(&f, cm_crowd_v4, 1), 131, "another family");
	flood_free(&f);
}

/* checks W-CM-54[4]: what a host held is its share again when the connections are over. */
Test(cm_flood, w_cm_54_a_share_comes_back)
{
	struct flood f = flood_new_at(1600, 1600);

	for (unsigned i = 0; i < 5; i++) {
		cr_expect_eq(flood_take(&f, cm_crowd_v4, 1), 700);
		flood_turn(&f, true);
		f.now_ns += MS(20000);
		flood_turn(&f, true);
		cr_expect_eq(flood_held(&f), 0);
		cr_expect_null(roce_cm_check(f.cm));
	}
	flood_free(&f);
}

/* It connects until it is refused. Returns how many there were; each then rests. */
static uint32_t
flood_connects_of(struct flood *f, uint32_t user)
{
	uint32_t n = 0;

	while (flood_connect_of(f, user))
		n++;
	return n;
}

/* checks W-CM-54[7]: a user that connects all the time leaves something to the next. */
Test(cm_flood, w_cm_54_each_user_gets_its_share)
{
	struct flood f = flood_new(1200);
	struct roce_cm_usage u;

	for (unsigned i = 0; i < 3; i++) {
		cr_expect_eq(flood_connects_of(&f, 1), 1050);
		cr_expect_eq(flood_connects_of(&f, 2), 132);
		cr_expect_gt(flood_connects_of(&f, 3), 0);
		cr_expect_eq(roce_cm_counters(f.cm)->connects_refused, 3 * (i + 1));
		cr_expect_eq(roce_cm_counters(f.cm)->no_resources, 0);
		flood_turn(&f, true);
		cr_expect_eq(flood_connects_of(&f, 1), 0, "the time-wait counts");
		f.now_ns += MS(20000);
		flood_turn(&f, true);
		roce_cm_usage(f.cm, &u);
		cr_expect_eq(u.active, 0);
		cr_expect_null(roce_cm_check(f.cm));
		f.cm->counters.connects_refused--;
	}
	flood_free(&f);
}

/* checks W-CM-54[7]: the last user that has a place of its own is one as any other. */
Test(cm_flood, w_cm_54_the_last_user_has_a_share)
{
	struct flood f = flood_new(1200);

	cr_expect_eq(flood_connects_of(&f, CM_USERS - 1), 1050);
	cr_expect_eq(flood_connects_of(&f, 2 * CM_USERS - 1), 0, "it has the same place");
	cr_expect_eq(flood_connects_of(&f, 0), 132);
	flood_free(&f);
}

/* checks W-CM-54[1]: a part that is full is no share that somebody has, and is counted as what it
 * is. */
Test(cm_flood, w_cm_54_a_full_part_is_nobodys_share)
{
	struct flood f = flood_new(100);

	cr_assert(roce_cm_reserve(f.cm, 1, 100));
	cr_expect_eq(flood_connects_of(&f, 1), 100);
	cr_expect_eq(flood_connects_of(&f, 2), 0);
	cr_expect_eq(roce_cm_counters(f.cm)->no_resources, 2);
	cr_expect_eq(roce_cm_counters(f.cm)->connects_refused, 0);
	flood_free(&f);
}

/* checks W-CM-54[8] */
Test(cm_flood, w_cm_54_a_reserve_is_there)
{
	struct flood f = flood_new(1200);

	cr_assert(roce_cm_reserve(f.cm, 2, 600));
	cr_assert(roce_cm_reserve(f.cm, 3, 600));
	cr_expect_not(roce_cm_reserve(f.cm, 4, 1));
	cr_assert(roce_cm_reserve(f.cm, 3, 200));
	cr_expect_eq(flood_connects_of(&f, 1), 350, "of the 400 that are nobody's");
	cr_expect_gt(flood_connects_of(&f, 3), 200);
	cr_expect_geq(flood_connects_of(&f, 2), 600);
	cr_expect_null(roce_cm_check(f.cm));
	flood_free(&f);
}

/* Another host asks one listener. */
static void
flood_ask_of(struct flood *f, uint32_t service)
{
	const struct roce_gid from = cm_crowd_v4(f->number);
	struct cm_mad m =
		cm_crowd_req(&from, &f->gid, f->number++, (uint16_t)(FLOOD_SERVICE + service));

	cm_crowd_send(f->cm, f->now_ns, &from, &f->gid, FLOOD_NIC, &m);
}

/* Hosts ask one listener, few times each, until one is refused by its share. Returns what it got.
 */
static uint32_t
flood_fill(struct flood *f, uint32_t service)
{
	const uint64_t refused = roce_cm_counters(f->cm)->rejected_listener;
	const uint32_t before = flood_held(f);

	while (roce_cm_counters(f->cm)->rejected_listener == refused)
		flood_ask_of(f, service);
	return flood_held(f) - before;
}

/* checks W-CM-54[9]: peers that ask for one service leave something to the others. */
Test(cm_flood, w_cm_54_each_listener_gets_its_share)
{
	struct flood f = flood_new_wide(1200);

	cr_expect_eq(flood_fill(&f, 0), 1050);
	cr_expect_eq(flood_fill(&f, 1), 132);
	cr_expect_gt(flood_fill(&f, 2), 0);
	cr_expect_eq(roce_cm_counters(f.cm)->rejected_source, 0);
	cr_expect_null(roce_cm_check(f.cm));
	flood_free(&f);
}

/* checks W-CM-54[10]: any number of listeners is of no use. */
Test(cm_flood, w_cm_54_listeners_of_a_user_share)
{
	struct flood f = flood_new_wide(1200);
	uint32_t held = 0;

	for (unsigned i = 0; i < 8; i++) {
		roce_cm_listener_of(f.listener[i], CM_USERS + 5); /* the place of user 5 */
		held += flood_fill(&f, i);
	}
	cr_expect_eq(held, 1050);
	cr_expect_gt(flood_fill(&f, 9), 0);
	flood_free(&f);
}

/* So many more than it holds, each of another host. Returns how many of these it got. */
static uint32_t
flood_more(struct flood *f, uint32_t service, uint32_t n)
{
	const uint32_t before = flood_held(f);

	for (; n > 0; n--)
		flood_ask_of(f, service);
	return flood_held(f) - before;
}

/* checks W-CM-54[9,10]: of the listener's share and its principal's the smaller one is what holds,
 * also when the listener changes hands. */
Test(cm_flood, w_cm_54_a_listener_brings_what_it_holds)
{
	struct flood f = flood_new_wide(1200);

	cr_expect_eq(flood_fill(&f, 0), 1050);
	roce_cm_listener_of(f.listener[0], 1);
	cr_expect_eq(flood_fill(&f, 0), 0, "its new principal holds nothing");
	cr_expect_eq(flood_more(&f, 1, 131), 131, "all but one of the share");
	cr_expect_eq(flood_fill(&f, 0), 0);
	cr_expect_eq(flood_fill(&f, 1), 1, "the last one was not taken");
	cr_expect_null(roce_cm_check(f.cm));
	flood_free(&f);
}

/* checks W-CM-54[11]: a new listener, in the memory of an old one, does not pay for it; its user
 * does. */
Test(cm_flood, w_cm_54_what_a_listener_leaves_is_its_users)
{
	struct flood f = flood_new_wide(1200);
	struct roce_cm_listener *was = f.listener[0];

	cr_expect_eq(flood_fill(&f, 0), 1050);
	roce_cm_unlisten(f.cm, f.now_ns, was);
	cr_expect_eq(flood_held(&f), 1050, "in time-wait");
	f.services = 0;
	flood_listen(&f, 1200);
	cr_expect_eq(f.listener[0], was);
	cr_expect_eq(flood_fill(&f, 0), 0);
	roce_cm_listener_of(was, 1);
	cr_expect_eq(flood_fill(&f, 0), 132);
	cr_expect_null(roce_cm_check(f.cm));
	f.now_ns += MS(20000);
	flood_turn(&f, false);
	cr_expect_null(roce_cm_check(f.cm));
	cr_expect_eq(was->held, 132);
	flood_free(&f);
}

/* checks R-LSN-03[5]: a listener that names no backlog has one of 1024, for all hosts together. */
Test(cm_flood, r_lsn_03_backlog_0_is_1024)
{
	struct flood f = flood_new(FLOOD_CAPACITY);
	struct roce_gid from;

	for (unsigned i = 0; i < 1100; i++) {
		from = cm_crowd_v4(i);
		flood_req(&f, &from);
	}
	cr_expect_eq(flood_held(&f), 1024);
	cr_expect_eq(roce_cm_counters(f.cm)->rejected_backlog, 1100 - 1024);
	flood_free(&f);
}

static uint32_t
bucket_length(const struct cm_bucket *bucket, enum cm_table t)
{
	const struct roce_cm_conn *c;
	uint32_t n = 0;

	LIST_FOREACH (c, bucket, link[t])
		n++;
	return n;
}

/* The most that are looked at to find one. */
static uint32_t
flood_longest_bucket(const struct flood *f, enum cm_table t)
{
	uint32_t longest = 0, n;

	for (uint32_t b = 0; b <= f->cm->bucket_mask; b++) {
		n = bucket_length(&f->cm->buckets[t][b], t);
		longest = n > longest ? n : longest;
	}
	return longest;
}

/* checks W-CM-41[8]: another transaction id makes another request, which the sender of a thousand
 * under one request id must not have all others of them looked through for. */
Test(cm_flood, requests_under_one_id_are_found_at_once)
{
	enum { REQUESTS = 1000 };
	struct flood f = flood_new(FLOOD_CAPACITY);
	const struct roce_cm_addr any = {.port = FLOOD_SERVICE};
	const struct roce_gid from = cm_crowd_v4(1);

	cr_assert_not_null(roce_cm_sidr_listen(f.cm, &any, FLOOD_NIC, REQUESTS, NULL, NULL));
	for (uint32_t i = 0; i < REQUESTS; i++) {
		struct cm_mad m = cm_crowd_sidr_req(&from, &f.gid, i, FLOOD_SERVICE);

		m.local_id = 7;
		cm_crowd_send(f.cm, f.now_ns, &from, &f.gid, FLOOD_NIC, &m);
	}
	cr_expect_eq(flood_held(&f), REQUESTS);
	cr_expect_leq(flood_longest_bucket(&f, CM_BY_SIDR_ID), 8);
	flood_free(&f);
}

/* One host asks until an answer is dropped. Returns how many answers wait for it. */
static unsigned
flood_ask(struct flood *f, const struct roce_gid *from)
{
	const struct cm_mad m = {.attr = CM_ATTR_DREQ, .local_id = 1, .remote_id = 1};
	const struct roce_cm_counters *n = roce_cm_counters(f->cm);
	const uint64_t dropped = n->tx_dropped;
	unsigned answers = 0;

	for (;; answers++) {
		cm_crowd_send(f->cm, f->now_ns, from, &f->gid, FLOOD_NIC, &m);
		if (n->tx_dropped > dropped)
			return answers;
	}
}

/* checks W-CM-54[6]: a host that asks for more than can be answered at once leaves answers to
 * others. */
Test(cm_flood, w_cm_54_each_host_gets_answers)
{
	struct flood f = flood_new(FLOOD_CAPACITY);
	const struct roce_gid a = cm_crowd_v4(1), b = cm_crowd_v4(2);
	struct roce_cm_tx tx;

	for (unsigned i = 0; i < 3; i++) {
		cr_expect_eq(flood_ask(&f, &a), 64);
		cr_expect_eq(flood_ask(&f, &b), 32);
		for (unsigned k = 0; k < 96; k++) {
			cr_assert(roce_cm_tx(f.cm, &tx));
			cr_expect(roce_gid_equal(&tx.dgid, k < 64 ? &a : &b));
		}
		cr_expect_not(roce_cm_tx(f.cm, &tx));
		cr_expect_null(roce_cm_check(f.cm));
	}
	flood_free(&f);
}

/* A job on one host connects to all queue pairs that a daemon has by default, at once. */
Test(cm_flood, a_storm_of_honest_connects_passes)
{
	struct flood f =
		flood_new_at(2 * FLOOD_CAPACITY, FLOOD_CAPACITY); /* a daemon's passive part */
	const struct roce_gid from = cm_crowd_v4(1);

	for (unsigned i = 0; i < FLOOD_CAPACITY / 2; i++)
		flood_req(&f, &from);
	cr_expect_eq(flood_held(&f), FLOOD_CAPACITY / 2);
	flood_free(&f);
}
