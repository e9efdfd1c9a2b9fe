/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs come to groups and leave them: what the lcore's table has, what is refused. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control/reload.h"
#include "lcore/call.h"
#include "platform/clock.h"
#include "rigs/ndd_rig.h"
#include "rigs/net_rig.h"
#include "ud/ah.h"
#include "ud/group.h"

#define SEGMENT_BYTES (2u << 20)
#define QP_BYTES      16384u
#define Q_KEY	      0x1234u

struct client {
	int fd;
	struct ndd_session *s;
	uint32_t segment, pd, cq;
	uint64_t at;
};

static struct ndd_rig *r;

static void
start(void)
{
	r = ndd_rig_new();
	r->cfg.max_groups = 12;
	r->cfg.port_groups = 16;
}

TestSuite(ndd_group, .init = start);

static enum ndsh_status
ask(struct client *c, const void *msg, uint32_t *id)
{
	union {
		struct ndsh_id_msg id;
		struct ndsh_qp_create_reply qp;
		uint8_t bytes[NDSH_MSG_BYTES];
	} reply;
	enum ndsh_status status = ndd_rig_ask(r, c->fd, msg, &reply);

	if (id != NULL)
		*id = reply.id.id;
	return status;
}

static struct client
client_new(void)
{
	struct client c = {.at = 65536};

	c.fd = ndd_rig_open(r, &c.s);
	(void)ndd_rig_segment(r, c.fd, SEGMENT_BYTES, &c.segment);
	cr_assert(eq(
		i32, ask(&c, &(struct ndsh_id_msg){.h.type = NDSH_MSG_PD_CREATE}, &c.pd), NDSH_OK));
	cr_assert(eq(i32,
		ask(&c,
			&(struct ndsh_cq_create){.h.type = NDSH_MSG_CQ_CREATE,
				.segment = c.segment,
				.depth = 64,
				.offset = c.at},
			&c.cq),
		NDSH_OK));
	c.at += 65536;
	return c;
}

static uint32_t
qp_new(struct client *c, bool datagrams)
{
	struct ndsh_ud_qp_create m = {.q = {.pd = c->pd,
					      .recv_cq = c->cq,
					      .send_cq = c->cq,
					      .segment = c->segment,
					      .offset = c->at,
					      .sq_depth = 4,
					      .rq_depth = 4,
					      .sq_sge = 1,
					      .rq_sge = 1},
		.q_key = Q_KEY};
	uint32_t id = 0;

	m.q.h.type = datagrams ? NDSH_MSG_UD_QP_CREATE : NDSH_MSG_QP_CREATE;
	c->at += QP_BYTES;
	cr_assert(eq(i32, ask(c, &m, &id), NDSH_OK));
	return id;
}

static enum ndsh_status
change(struct client *c, uint16_t type, uint32_t qp, const char *group, uint32_t flags)
{
	struct ndsh_ud_group m = {.h.type = type, .qp = qp, .flags = flags};
	struct net_ip ip = net_rig_ip(group);

	memcpy(m.group.ip, ip.b, 16);
	return ask(c, &m, NULL);
}

static enum ndsh_status
attach(struct client *c, uint32_t qp, const char *group)
{
	return change(c, NDSH_MSG_UD_ATTACH, qp, group, 0);
}

static enum ndsh_status
detach(struct client *c, uint32_t qp, const char *group)
{
	return change(c, NDSH_MSG_UD_DETACH, qp, group, 0);
}

/* How many members the lcore knows in a group. */
static uint32_t
members_of(const char *group)
{
	struct net_ip ip = net_rig_ip(group);
	uint8_t header[20] = {[0] = 0x45};
	const struct roce_pkt pkt = {.l3 = header};
	const struct roce_group *g;

	memcpy(header + 16, ip.b + 12, 4);
	if (r->shard.groups == NULL)
		return 0;
	g = roce_groups_find(r->shard.groups, &pkt, 0);
	return g != NULL ? g->members : 0;
}

/* IGMP reports of the daemon since this was asked last. */
static uint64_t
reports(void)
{
	static uint64_t before;
	uint64_t now;

	net_tick(r->d.net, UINT64_C(1) << 50);
	now = net_counters(r->d.net)->tx_group_report - before;
	before += now;
	return now;
}

/*
 * checks W-MC-01[1,2], W-MC-07[9,11]: the first member makes the host join, the last one makes
 * it leave.
 */
Test(ndd_group, W_MC_07_attach_and_detach)
{
	struct client a = client_new(), b = client_new();
	uint32_t qa = qp_new(&a, true), qb = qp_new(&b, true);

	cr_expect(eq(i32, attach(&a, qa, "239.1.2.3"), NDSH_OK));
	cr_expect(eq(u64, reports(), 1));
	cr_expect(eq(i32, attach(&b, qb, "239.1.2.3"), NDSH_OK));
	cr_expect(eq(u32, members_of("239.1.2.3"), 2));
	cr_expect(eq(i32, attach(&b, qb, "239.1.2.3"), NDSH_ERR_ADDRESS_IN_USE));
	cr_expect(eq(i32, detach(&a, qa, "239.1.2.3"), NDSH_OK));
	cr_expect(eq(i32, detach(&a, qa, "239.1.2.3"), NDSH_ERR_INVALID_STATE));
	cr_expect(eq(u32, members_of("239.1.2.3"), 1));
	(void)reports();
	cr_expect(eq(i32, detach(&b, qb, "239.1.2.3"), NDSH_OK));
	cr_expect(eq(u64, reports(), 1), "one to say that it leaves");
	cr_expect(eq(int, TAILQ_EMPTY(&r->d.groups), 1));
	cr_expect(eq(ptr, (void *)(uintptr_t)r->shard.groups, NULL));
}

/* checks W-MC-07[10]: the end of a queue pair, and of a session, ends its attachments. */
Test(ndd_group, W_MC_07_the_end_detaches)
{
	struct client a = client_new(), b = client_new();
	uint32_t q = qp_new(&a, true);

	cr_expect(eq(i32, attach(&a, q, "239.1.2.3"), NDSH_OK));
	cr_expect(eq(i32, attach(&a, q, "239.1.2.4"), NDSH_OK));
	cr_expect(eq(i32, attach(&b, qp_new(&b, true), "239.1.2.4"), NDSH_OK));
	cr_expect(eq(i32,
		ask(&a, &(struct ndsh_id_msg){.h.type = NDSH_MSG_QP_DESTROY, .id = q}, NULL),
		NDSH_OK));
	cr_expect(eq(u32, members_of("239.1.2.3"), 0));
	cr_expect(eq(u32, members_of("239.1.2.4"), 1));
	cr_expect(eq(u32, a.s->attachments, 0));
	close(b.fd);
	ndd_rig_turn(r);
	ndd_rig_turn(r);
	cr_expect(eq(u32, members_of("239.1.2.4"), 0));
	cr_expect(eq(int, TAILQ_EMPTY(&r->d.groups), 1));
}

/* ---- what it costs ---- */

static bool lcore_runs;
static unsigned calls;

static void *
lcore_serves(void *arg)
{
	while (__atomic_load_n(&lcore_runs, __ATOMIC_ACQUIRE)) {
		if (ndd_shard_serve(&r->shard, ndd_now_ns()))
			calls++;
		sched_yield();
	}
	return arg;
}

/* Calls of the lcore until a queue pair that is in so many groups is destroyed. */
static unsigned
calls_of_an_end(struct client *c, unsigned groups)
{
	uint32_t q = qp_new(c, true);
	pthread_t lcore;
	char text[16];

	for (unsigned i = 0; i < groups; i++) {
		(void)snprintf(text, sizeof(text), "239.1.9.%u", i);
		cr_assert(eq(i32, attach(c, q, text), NDSH_OK));
	}
	calls = 0;
	lcore_runs = true;
	r->shard.running = true;
	cr_assert(eq(int, pthread_create(&lcore, NULL, lcore_serves, NULL), 0));
	cr_expect(
		eq(i32, ask(c, &(struct ndsh_id_msg){.h.type = NDSH_MSG_QP_DESTROY, .id = q}, NULL),
			NDSH_OK));
	__atomic_store_n(&lcore_runs, false, __ATOMIC_RELEASE);
	(void)pthread_join(lcore, NULL);
	r->shard.running = false;
	return calls;
}

/* The tables are made anew once, not for each group, with all others that there are. */
Test(ndd_group, a_queue_pair_leaves_all_of_its_groups_at_once)
{
	struct client a = client_new();
	unsigned one = calls_of_an_end(&a, 1);

	cr_expect(ne(uint, one, 0));
	cr_expect(eq(uint, calls_of_an_end(&a, 10), one));
	cr_expect(eq(int, TAILQ_EMPTY(&r->d.groups), 1));
	cr_expect(eq(ptr, (void *)(uintptr_t)r->shard.groups, NULL));
}

Test(ndd_group, what_is_refused)
{
	struct client a = client_new();
	uint32_t q = qp_new(&a, true), connected = qp_new(&a, false);

	cr_expect(eq(i32, attach(&a, 99, "239.1.2.3"), NDSH_ERR_INVALID_ID));
	cr_expect(eq(i32, detach(&a, 99, "239.1.2.3"), NDSH_ERR_INVALID_ID));
	cr_expect(eq(i32, attach(&a, connected, "239.1.2.3"), NDSH_ERR_INVALID_REQUEST));
	cr_expect(eq(i32, detach(&a, connected, "239.1.2.3"), NDSH_ERR_INVALID_REQUEST));
	cr_expect(eq(i32, attach(&a, q, "10.77.0.2"), NDSH_ERR_INVALID_PARAMETER));
	cr_expect(eq(i32, attach(&a, q, "ff15::1"), NDSH_ERR_INVALID_PARAMETER));
	cr_expect(eq(i32, change(&a, NDSH_MSG_UD_ATTACH, q, "239.1.2.3", 2),
		NDSH_ERR_INVALID_PARAMETER));
	cr_expect(eq(u32, a.s->attachments, 0));
	cr_expect(eq(int, TAILQ_EMPTY(&r->d.groups), 1));
}

/*
 * checks W-MC-07[12,13]: a client's attachments, its queue pairs in one group, and a port's
 * groups are bounded; a refusal leaves nothing behind, and others find room.
 */
Test(ndd_group, limits)
{
	struct client a = client_new(), b = client_new();
	uint32_t q[NDD_GROUP_QPS_PER_SESSION + 1], other = qp_new(&b, true);
	char text[32];

	for (unsigned i = 0; i <= NDD_GROUP_QPS_PER_SESSION; i++) {
		q[i] = qp_new(&a, true);
		cr_expect(eq(i32, attach(&a, q[i], "239.1.2.3"),
			i < NDD_GROUP_QPS_PER_SESSION ? NDSH_OK : NDSH_ERR_NO_RESOURCES));
	}
	cr_expect(eq(i32, attach(&b, other, "239.1.2.3"), NDSH_OK));
	cr_expect(eq(u32, members_of("239.1.2.3"), NDD_GROUP_QPS_PER_SESSION + 1));
	for (unsigned i = 0; i < 5; i++) { /* 8 + 4 are its 12 */
		snprintf(text, sizeof(text), "239.2.0.%u", i);
		cr_expect(eq(i32, attach(&a, q[0], text), i < 4 ? NDSH_OK : NDSH_ERR_NO_RESOURCES));
	}
	cr_expect(eq(u32, members_of(text), 0));
	for (unsigned i = 0; i < 10; i++) { /* 1 + 4 + 9 are their principal's 14 of 16 */
		snprintf(text, sizeof(text), "239.3.0.%u", i);
		cr_expect(eq(i32, attach(&b, other, text), i < 9 ? NDSH_OK : NDSH_ERR_NO_RESOURCES),
			"%u", i);
	}
	cr_expect(eq(i32, detach(&a, q[0], "239.2.0.0"), NDSH_OK));
	cr_expect(eq(i32, detach(&b, other, "239.3.0.0"), NDSH_OK));
	cr_expect(eq(i32, attach(&b, other, text), NDSH_OK));
}

/* Make up to so many groups of its own; how many there are of all clients. */
static unsigned
make_groups(struct client *c, uint8_t own, unsigned most)
{
	const uint32_t q = qp_new(c, true);
	const struct ndd_group *g;
	unsigned n = 0;
	char text[32];

	for (unsigned i = 0; i < most; i++) {
		snprintf(text, sizeof(text), "239.4.%u.%u", own, i);
		(void)attach(c, q, text);
	}
	TAILQ_FOREACH (g, &r->d.groups, next)
		n++;
	return n;
}

/* checks W-MC-07[13,18]: with several ports a principal's share of groups is more than one of them
 * has; its clients together leave something to others there, unless it has a limit. */
Test(ndd_group, W_MC_07_a_ports_groups_are_for_all)
{
	struct client many[2], victim;
	struct base_share *share;

	r->cfg.ports = 4;
	r->cfg.principals = 1;
	r->cfg.principal[0] =
		(struct config_principal){.label = "crowd", .allow = true, .weight = 1};
	ndd_rig_principals(r);
	victim = client_new();
	ndd_rig_connect_by(r, "crowd");
	many[0] = client_new();
	many[1] = client_new();
	cr_expect(eq(u32, make_groups(&many[0], 0, 12), 12));
	cr_expect(eq(u32, make_groups(&many[1], 1, 12), 14), "seven eighths of 16");
	cr_expect(eq(u32, make_groups(&victim, 2, 1), 15));
	share = &many[0].s->account.principal->share[0][CONFIG_SHARE_groups];
	share->limit = 24;
	cr_expect(eq(u32, make_groups(&many[1], 3, 12), 16), "the last of the port's");
}

/* checks W-MC-07[14]: 32 of a lcore in one group, however many clients they are of. */
Test(ndd_group, W_MC_07_an_lcores_members)
{
	struct client c[NDD_RIG_SESSIONS];
	uint32_t attached = 0;

	for (unsigned i = 0; i < NDD_RIG_SESSIONS; i++) {
		c[i] = client_new();
		for (unsigned k = 0; k < NDD_GROUP_QPS_PER_SESSION; k++)
			attached += attach(&c[i], qp_new(&c[i], true), "239.1.2.3") == NDSH_OK;
	}
	cr_expect(eq(u32, attached, 32));
	cr_expect(eq(u32, members_of("239.1.2.3"), 32));
	cr_expect(eq(i32, attach(&c[4], qp_new(&c[4], true), "239.1.2.4"), NDSH_OK));
}

/* checks W-MC-07[15]: without the address its queue pairs are in no group, though they are there.
 * The group is one that is not reported, as the rig has no port to send by. */
Test(ndd_group, W_MC_07_an_address_that_is_taken_away)
{
	struct client a = client_new();
	uint32_t q = qp_new(&a, true);
	struct net_ip ip = net_rig_ip(NDD_RIG_IP), other = net_rig_ip("10.77.0.2");

	cr_expect(eq(i32, attach(&a, q, "224.0.0.1"), NDSH_OK));
	ndd_end_address(&r->d, other.b, "a test");
	cr_expect(eq(u32, members_of("224.0.0.1"), 1));
	ndd_end_address(&r->d, ip.b, "a test");
	cr_expect(eq(u32, members_of("224.0.0.1"), 0));
	cr_expect(eq(u32, a.s->attachments, 0));
	cr_expect(eq(int, TAILQ_EMPTY(&r->d.groups), 1));
}

/*
 * checks W-CC-01[6], W-MC-06[4-6]: what a datagram to a group leaves with; no service is looked
 * up there.
 */
Test(ndd_group, W_MC_06_headers_of_a_handle)
{
	static const uint8_t from[] = {10, 77, 0, 1}, own_mac[] = {2, 0, 0, 0, 0x77, 1},
			     mac[] = {1, 0, 0x5e, 1, 2, 3};
	struct client a = client_new();
	struct ndsh_ah_create m = {.h.type = NDSH_MSG_AH_CREATE};
	struct net_ip ip = net_rig_ip("239.1.2.3");
	const struct roce_ah *entry;
	uint8_t event[NDSH_MSG_BYTES];
	uint32_t id = 0;

	memcpy(m.remote.ip, ip.b, 16);
	cr_expect(eq(i32, ask(&a, &m, &id), NDSH_OK));
	ndd_followers_tick(&r->d, 1);
	entry = &a.s->lcore->ahs.slot[id & ((1u << ROCE_AH_INDEX_BITS) - 1)];
	cr_assert(eq(u32, entry->token, id));
	cr_expect(eq(int, memcmp(entry->tmpl.bytes, mac, 6), 0));
	cr_expect(eq(int, memcmp(entry->tmpl.bytes + 6, own_mac, 6), 0));
	cr_expect(eq(u8, entry->tmpl.bytes[14 + 8], 64), "TTL");
	cr_expect(eq(u8, entry->tmpl.bytes[14 + 1], 0), "no ECT: W-CC-01");
	cr_expect(eq(int, memcmp(entry->tmpl.bytes + 14 + 12, from, 4), 0));
	cr_expect(eq(int, memcmp(entry->tmpl.bytes + 14 + 16, ip.b + 12, 4), 0));

	cr_assert_gt(ndd_rig_take(a.fd, &event, NULL), 0);
	m.look_up = 1;
	cr_expect(eq(i32, ask(&a, &m, NULL), NDSH_ERR_BAD_DESTINATION));
}
