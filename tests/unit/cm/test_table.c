/* SPDX-License-Identifier: BSD-3-Clause */
/* Ids, and finding a connection by each of them. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/cm_at.h"
#include "rigs/cm_net.h"
#include "cm/id.h"
#include "cm/manager.h"
#include "cm/message.h"
#include "cm/table.h"

#define CONNS 64u

static int
by_value(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void
expect_unique_ids(struct roce_cm *cm)
{
	enum { N = 100000 };
	uint32_t *ids = malloc(N * sizeof(*ids));
	unsigned close = 0;

	for (unsigned i = 0; i < N; i++) {
		ids[i] = cm_new_id(cm);
		cr_assert_neq(ids[i], 0);
		close += i > 0 && ids[i] - ids[i - 1] + 100 < 200;
	}
	cr_expect_lt(close, 10, "an id does not tell the next one");
	qsort(ids, N, sizeof(*ids), by_value);
	for (unsigned i = 1; i < N; i++)
		cr_assert_neq(ids[i], ids[i - 1]);
	free(ids);
}

/* checks W-CM-40[1,7]: not one id comes twice, none is 0, and another secret begins elsewhere. */
Test(cm_table, w_cm_40_ids_are_unique_and_start_at_random)
{
	struct cm_net *net = cm_net_new(false);
	struct roce_cm *a = net->host[CM_NET_A].cm, *p = net->host[CM_NET_P].cm;

	cr_assert_neq(cm_new_id(a), cm_new_id(p));
	expect_unique_ids(a);
	a->next_id = 0xffff0000; /* the last ones, and then the first */
	expect_unique_ids(a);
	cr_assert_neq(cm_new_tid(a, 7), cm_new_tid(a, 7));
	cm_net_free(net);
}

/* checks W-CM-41[9]: by our id and both addresses; by both ids; a peer's by its GUID, too. */
Test(cm_table, w_cm_41_each_connection_by_its_ids)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	struct roce_cm_conn *conns[CONNS];
	struct cm_in in = {.local = a->gid, .remote = net->host[CM_NET_P].gid};

	for (unsigned i = 0; i < CONNS; i++) {
		a->qpn = 0x1000 + i;
		conns[i] = cm_net_connect(net, NULL, 0);
		conns[i]->remote_id = 500 + i % 8; /* not unique: peers choose them */
		conns[i]->remote_guid = i / 8;
		cm_table_link(a->cm, conns[i], CM_BY_REMOTE_ID);
	}
	for (unsigned i = 0; i < CONNS; i++) {
		in.mad.remote_id = conns[i]->local_id;
		in.mad.local_id = 500 + i % 8;
		cr_assert_eq(cm_find_local_id(a->cm, conns[i]->local_id), conns[i]);
		cr_assert_eq(cm_find_mine(a->cm, &in), conns[i]);
		cr_assert_eq(cm_find_both(a->cm, &in), conns[i]);
		cr_assert_eq(cm_find_remote_id(a->cm, i / 8, &in.remote, 500 + i % 8), conns[i]);
		cr_assert_null(cm_find_remote_id(a->cm, i / 8, &in.local, 500 + i % 8));
		in.mad.local_id++;
		cr_assert_null(cm_find_both(a->cm, &in), "another id of the peer");
		in.remote.raw[15] ^= 1;
		cr_assert_null(cm_find_mine(a->cm, &in), "another peer");
		in.remote.raw[15] ^= 1;
		in.local.raw[15] ^= 1;
		cr_assert_null(cm_find_mine(a->cm, &in), "another address of ours");
		in.local.raw[15] ^= 1;
		cr_assert(roce_cm_qpn_resting(a->cm, 0x1000 + i));
		cm_table_unlink(conns[i], CM_BY_LOCAL_ID);
		cm_table_unlink(conns[i], CM_BY_LOCAL_ID);
		cr_assert_null(cm_find_local_id(a->cm, conns[i]->local_id));
	}
	cr_assert_not(roce_cm_qpn_resting(a->cm, 0x1000 + CONNS));
	cm_net_free(net);
}

/* checks W-CM-40[6] */
Test(cm_table, w_cm_40_comm_ids_are_unique_and_unpredictable)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	uint32_t ids[60];

	for (unsigned i = 0; i < 60; i++) {
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, 0);
		ids[i] = a->last[ATTR(CM_ATTR_REQ)].local_id;
		for (unsigned j = 0; j < i; j++)
			cr_assert_neq(ids[i], ids[j]);
		if (i > 1)
			cr_expect_neq(ids[i] - ids[i - 1], ids[i - 1] - ids[i - 2]);
	}
	cm_net_free(net);
}

/* checks W-CM-41[2,5]: our comm id alone is not enough: the peer's must fit as well (W-CM-41). */
Test(cm_table, w_cm_41_both_ids_must_match)
{
	static const uint32_t attrs[] = {CM_ATTR_REJ, CM_ATTR_DREQ, CM_ATTR_REP, CM_ATTR_RTU};
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	struct cm_mad m = {.which = CM_WHICH_OTHER, .reason = 28, .qpn = 0x2000};

	a->drop[ATTR(CM_ATTR_RTU)] = 1;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	m.local_id = a->last[ATTR(CM_ATTR_RTU)].local_id + 1;
	m.remote_id = a->last[ATTR(CM_ATTR_RTU)].remote_id;
	for (unsigned i = 0; i < 4; i++) {
		m.attr = attrs[i];
		cm_net_inject(net, CM_NET_A, &m);
	}
	cm_net_run(net, 0);
	cr_expect_eq(p->n_log, 1, "the REQUEST, and nothing else");
	cm_net_free(net);
}

/* What a message must have to be one of the exchange, and what is spoilt of it. */
enum spoil { NOTHING, OUR_ID, PEERS_ID, PEERS_ADDRESS, OUR_ADDRESS, SPOILS };

static const struct {
	enum cm_at at;
	enum cm_at_msg msg;
	bool our_id, peers_id; /* it is matched by this */
} matched[] = {
	{A_REQ_SENT, REP_FIRST, true, false},
	{A_MRA_REQ_RCVD, REP_FIRST, true, false},
	{A_REQ_SENT, MRA_REQ, true, false},
	{A_REQ_SENT, REJ_REQ, true, false},
	{A_MRA_REQ_RCVD, REJ_REQ, true, false},
	{P_REP_SENT, RTU, true, true},
	{P_REP_SENT, MRA_REP, true, true},
	{P_REP_SENT, REJ_OTHER, true, true},
	{A_REP_RCVD, REJ_REP, true, true},
	{P_REP_SENT, REJ_TIMEOUT, false, true},
	{A_ESTABLISHED, DREQ, true, true},
	{P_ESTABLISHED, DREQ, true, true},
	{A_DREQ_SENT, DREP, true, true},
	{P_DREQ_SENT, DREP, true, true},
};

static void
expect_match(unsigned row, enum spoil spoil, bool match)
{
	struct cm_at_bench b = cm_at_bring(matched[row].at);
	struct cm_mad m = cm_at_mad(&b, matched[row].msg);
	const enum cm_state before = b.conn->state;
	const uint64_t dropped = roce_cm_counters(b.cm)->rx_dropped;
	const bool dreq = matched[row].msg == DREQ;
	struct roce_cm_event ev;

	m.remote_id ^= spoil == OUR_ID;
	m.local_id ^= spoil == PEERS_ID;
	b.net->host[CM_NET_P].gid.raw[15] ^= (uint8_t)(spoil == PEERS_ADDRESS ? 0x40 : 0);
	b.net->host[CM_NET_A].gid.raw[15] ^= (uint8_t)(spoil == OUR_ADDRESS ? 0x40 : 0);
	cm_net_inject(b.net, CM_NET_P, &m);
	cr_expect_eq(b.conn->state != before, match, "%s in %s, spoilt: %d",
		cm_at_msg_names[matched[row].msg], cm_at_names[matched[row].at], spoil);
	if (!match) {
		cr_expect_not(roce_cm_event(b.cm, &ev));
		cr_expect_eq(roce_cm_counters(b.cm)->rx_dropped, dropped + !dreq, "%s, spoilt: %d",
			cm_at_msg_names[matched[row].msg], spoil);
		cr_expect_eq(cm_net_next_attr(b.cm), dreq ? CM_ATTR_DREP : 0);
	}
	cm_net_free(b.net);
}

/* checks W-CM-41[1-3,5,6,9,10]: each message by the ids that it is matched by, by no other, and by
 * both addresses. */
Test(cm_table, w_cm_41_by_what_each_message_is_matched)
{
	for (unsigned row = 0; row < sizeof(matched) / sizeof(matched[0]); row++) {
		expect_match(row, NOTHING, true);
		expect_match(row, OUR_ID, !matched[row].our_id);
		expect_match(row, PEERS_ID, !matched[row].peers_id);
		expect_match(row, PEERS_ADDRESS, false);
		expect_match(row, OUR_ADDRESS, false);
	}
}

/* checks W-CM-41[9]: a third host that knows the ids, but has not the address, can do nothing. */
Test(cm_table, messages_from_another_address_are_not_the_peers)
{
	static const uint32_t attrs[] = {CM_ATTR_REJ, CM_ATTR_DREQ, CM_ATTR_REP};
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	struct cm_mad m = {0};

	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cm_net_only_event(p, ROCE_CM_EV_ESTABLISHED);
	m.local_id = a->last[ATTR(CM_ATTR_RTU)].local_id;
	m.remote_id = a->last[ATTR(CM_ATTR_RTU)].remote_id;
	m.which = CM_WHICH_OTHER;
	m.reason = 28;
	m.qpn = 0x2000;
	a->gid.raw[15] = 99;
	for (unsigned i = 0; i < 3; i++) {
		m.attr = attrs[i];
		cm_net_inject(net, CM_NET_A, &m);
	}
	cm_net_run(net, 0);
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_DISCONNECTED), 0);
	cm_net_free(net);
}

/* One of many peers, which differ in this alone. */
enum differ { IN_GUID, IN_ADDRESS, IN_IDS };

static struct cm_mad
req_of_peer(struct cm_net *net, const struct cm_mad *first, enum differ in, unsigned i)
{
	struct roce_gid *gid = &net->host[CM_NET_A].gid;
	struct cm_mad m = *first;
	struct cm_ip_hdr ip;

	cr_assert(cm_ip_hdr_decode(&ip, m.priv));
	if (in == IN_GUID)
		m.ca_guid += i;
	if (in == IN_IDS) {
		m.local_id += i;
		m.qpn += i;
	}
	if (in == IN_ADDRESS) {
		gid->raw[14] = 3;
		gid->raw[15] = (uint8_t)(i + 1);
		m.sgid = ip.src = *gid;
		cm_ip_hdr_encode(m.priv, &ip);
	}
	return m;
}

/*
 * checks W-CM-42, W-CM-53: a REQ is a duplicate, or a sign of a stale connection, only if GUID and
 * address and id, or number, are those of one that is known. There are as many peers as buckets, so
 * that several meet in one.
 */
Test(cm_table, w_cm_42_peers_are_told_apart_by_guid_address_and_id)
{
	for (enum differ in = IN_GUID; in <= IN_IDS; in++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *p = &net->host[CM_NET_P];
		const struct cm_mad first = cm_net_take_req(net);
		const struct roce_cm_counters *n;

		p->hold_requests = true;
		p->cfg.max_passive = 3 * CONNS; /* one host may have a third */
		cm_net_restart(net, CM_NET_P);
		n = roce_cm_counters(p->cm);
		cm_net_mute(net, CM_NET_A);
		for (unsigned i = 0; i < CONNS; i++) {
			const struct cm_mad m = req_of_peer(net, &first, in, i);

			cm_net_inject(net, CM_NET_A, &m);
		}
		cr_expect_eq(n->rx_duplicate, 0, "they differ in %d", in);
		cr_expect_eq(n->stale, 0, "they differ in %d", in);
		cr_expect_eq(n->rejected_invalid, 0);
		cr_expect_eq(LIST_FIRST(&p->cm->free_conns), NULL);
		cr_expect_eq(p->cm->fresh_conns, CONNS);
		cm_net_free(net);
	}
}

/* checks W-CM-40[7]: when the numbers begin anew, those in use are left out. */
Test(cm_table, w_cm_40_an_id_in_use_is_not_given_again)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	struct roce_cm_conn *c = cm_net_connect(net, NULL, 0);

	a->cm->next_id = 0;
	for (unsigned i = 0; i < 10; i++)
		cr_expect_neq(cm_new_id(a->cm), c->local_id);
	cm_net_free(net);
}

/* checks W-CM-41: an id that no connection has finds none, in whichever bucket of a full table. */
Test(cm_table, w_cm_41_an_unknown_id_finds_nothing)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	struct roce_cm_conn *conns[CONNS];

	for (unsigned i = 0; i < CONNS; i++)
		conns[i] = cm_net_connect(net, NULL, 0);
	for (unsigned i = 0; i < CONNS; i++) {
		for (uint32_t other = 1; other < 100; other++) {
			const uint32_t id = conns[i]->local_id ^ other << 16;
			const struct roce_cm_conn *c = cm_find_local_id(a->cm, id);

			cr_assert(c == NULL || c->local_id == id, "%x", id);
		}
	}
	cm_net_free(net);
}

/* A peer chooses its ids, numbers and GUIDs, and can't have all of its connections in one bucket,
 * whichever of them it changes. */
Test(cm_table, a_peer_does_not_choose_a_bucket)
{
	static const enum cm_table tables[] = {CM_BY_REMOTE_ID, CM_BY_REMOTE_QPN};

	for (unsigned i = 0; i < 4; i++) {
		const enum cm_table t = tables[i / 2];
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A];
		struct roce_cm_conn *c = cm_net_connect(net, NULL, 0);
		const struct cm_bucket *first = cm_table_bucket(a->cm, c, t);
		unsigned same = 0;

		for (uint32_t n = 1; n <= 256; n++) {
			if (i % 2 == 0)
				c->remote_guid = n;
			else
				c->remote_id = c->peer.qpn = n;
			same += cm_table_bucket(a->cm, c, t) == first;
		}
		cr_expect_lt(same, 64, "%u of 256", same);
		cm_net_free(net);
	}
}
