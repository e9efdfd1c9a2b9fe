/* SPDX-License-Identifier: BSD-3-Clause */
/* What an lcore does without work, and how it is told that there is some: doorbells and sleep. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_ring.h>

#include "courier/courier.h"
#include "courier/door.h"
#include "lcore/shard.h"
#include "lcore/turn.h"
#include "platform/clock.h"
#include "rigs/lone_shard.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"

#define BEGIN 1000000000ull /* of the tests' time */

static struct ndd_plane plane;
static struct ndd_shard *s;
static unsigned registered;
static struct ndd_couriers couriers;
static struct ndd_courier *courier;

struct client {
	struct ndd_shard_session session;
	struct ndsh_session_page page;
	struct ndsh_qp_page qp;
};

/* Not the owner of the ports, which would have rings of frames to check. */
static void
shard_init(void)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = NULL};
	struct roce_shard_cfg cfg = lone_config();

	ndd_clock_mult = 1ull << 32; /* a tick is a nanosecond */
	s = aligned_alloc(64, (sizeof(*s) + 63) & ~(size_t)63);
	memset(s, 0, sizeof(*s));
	plane.idle = CONFIG_IDLE_SLEEP;
	s->plane = &plane;
	s->id = 1;
	s->engine = lone_shard_new(&cfg);
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	cr_assert_not_null(s->engine);
	cr_assert(ndd_wakeup_init(&s->wakeup));
	cr_assert_eq(epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->wakeup.fd, &ev), 0);
	s->knocks.lcore = &s->wakeup;
	courier = ndd_courier_start(&couriers, NULL);
	cr_assert_not_null(courier);
}

TestSuite(doorbell, .init = shard_init);
TestSuite(idle, .init = shard_init);

static struct client *
client_of(struct roce_principal *p)
{
	struct client *c = aligned_alloc(4096, (sizeof(*c) + 4095) & ~(size_t)4095);
	memset(c, 0, sizeof(*c));
	roce_admin_init(&c->session.admin, 8);
	roce_client_init(&c->session.client, p);
	c->session.page = &c->page;
	c->session.door = ndd_door_new(courier, &s->knocks);
	cr_assert_not_null(c->session.door);
	cr_assert(ndd_lcore_attach(s, &c->session, BEGIN));
	return c;
}

static struct client *
client_new(void)
{
	return client_of(&s->engine->own);
}

/* Until the courier has knocked. */
static void
await_knock(void)
{
	while (!ndd_knocks_some(&s->knocks))
		usleep(100);
}

/* The client adds to its wake fd. */
static void
wake(const struct client *c)
{
	cr_assert_eq(eventfd_write(ndd_door_fd(c->session.door), 1), 0);
	await_knock();
}

/* The client rings for a queue pair that is not there, and wakes the lcore if its session sleeps.
 * Returns whether it does. */
static bool
ring(struct client *c)
{
	if (!ndsh_doorbell_ring(&c->page, &c->qp, 5))
		return false;
	wake(c);
	return true;
}

static bool
is_awake(const struct client *c)
{
	return base_linked(&c->session.polled);
}

static void
expect_count(uint32_t sessions)
{
	cr_expect(eq(u32, s->sessions, sessions));
	cr_expect(le(u32, s->awake, s->sessions));
}

Test(doorbell, sessions_are_counted_as_they_come_and_go)
{
	struct client *c[5];

	for (int i = 0; i < 4; i++)
		c[i] = client_new();
	expect_count(4);
	cr_assert(ndd_lcore_demote_all(s, BEGIN));
	cr_expect(eq(u32, s->awake, 0));
	c[4] = client_new();
	expect_count(5);
	cr_expect(eq(u32, s->awake, 1));
	cr_expect(is_awake(c[4]));
	ndd_lcore_detach(s, &c[1]->session);
	expect_count(4);
	cr_expect(is_awake(c[4]));
	ndd_lcore_detach(s, &c[4]->session);
	expect_count(3);
	cr_expect(eq(u32, s->awake, 0));
}

Test(doorbell, a_silent_session_is_polled_no_more_until_it_rings)
{
	struct client *c = client_new();

	cr_expect(not(ring(c)), "the lcore polls it");
	cr_expect(eq(u32, ndd_lcore_doorbells(s, BEGIN + 1, &registered), 1));
	cr_expect(eq(u32, ndd_lcore_doorbells(s, BEGIN + 1 + NDD_DEMOTE_NS, &registered), 0));
	cr_expect(is_awake(c), "it rang a millisecond ago");
	cr_expect(eq(u32, ndd_lcore_doorbells(s, BEGIN + 2 + NDD_DEMOTE_NS, &registered), 0));
	cr_expect(not(is_awake(c)));
	cr_expect(eq(u64, s->count.demotions, 1));
	cr_expect(ring(c));
	cr_expect(eq(u32, ndd_lcore_doorbells(s, BEGIN + 3 + NDD_DEMOTE_NS, &registered), 0));
	ndd_lcore_promote(s, &c->session, BEGIN + 4 + NDD_DEMOTE_NS);
	cr_expect(is_awake(c));
	cr_expect(eq(u32, ndd_lcore_doorbells(s, BEGIN + 4 + NDD_DEMOTE_NS, &registered), 1));
	cr_expect(eq(u64, s->count.promotions, 1));
	cr_expect(not(ring(c)), "it is polled again");
}

Test(doorbell, a_session_that_rings_in_the_same_moment_stays_awake)
{
	struct client *c = client_new();

	cr_expect(not(ring(c)));
	cr_expect(not(ndd_lcore_demote_all(s, BEGIN + 1)));
	cr_expect(is_awake(c));
	cr_expect(eq(u32, ndd_lcore_doorbells(s, BEGIN + 2, &registered), 1), "nothing is lost");
}

/* A wake fd that was written to wakes the lcore once for that, though nothing takes it back. */
Test(doorbell, a_write_wakes_once, .timeout = 20)
{
	struct client *c = client_new();

	for (unsigned i = 0; i < 3; i++) {
		cr_assert(ndd_lcore_demote_all(s, BEGIN));
		wake(c);
		ndd_lcore_knocks(s, BEGIN);
		cr_expect(is_awake(c), "write %u", i);
		cr_expect(not(ndd_knocks_some(&s->knocks)), "write %u", i);
	}
}

/* The client has the same open file: it takes the count away, makes reads of the file block, and
 * fills it. */
Test(doorbell, a_client_spoils_its_wake_fd, .timeout = 20)
{
	struct client *c = client_new();
	const int fd = ndd_door_fd(c->session.door);
	eventfd_t taken;

	cr_assert(ndd_lcore_demote_all(s, BEGIN));
	wake(c);
	cr_assert_eq(fcntl(fd, F_SETFL, 0), 0);
	cr_assert_eq(eventfd_read(fd, &taken), 0);
	ndd_lcore_knocks(s, BEGIN);
	cr_expect(is_awake(c));
	cr_assert(ndd_lcore_demote_all(s, BEGIN));
	cr_assert_eq(eventfd_write(fd, UINT64_MAX - 1), 0);
	await_knock();
	ndd_lcore_knocks(s, BEGIN);
	cr_expect(is_awake(c));
}

/* Its courier may be slow: the session has left, and another one has its place. */
Test(doorbell, a_knock_that_comes_late_is_for_the_session_that_is_there, .timeout = 20)
{
	struct client *c = client_new(), *next;

	cr_assert(ndd_lcore_demote_all(s, BEGIN));
	wake(c);
	ndd_lcore_detach(s, &c->session);
	ndd_lcore_knocks(s, BEGIN);
	cr_expect(not(is_awake(c)));
	next = client_new();
	cr_expect(eq(u32, next->session.place, c->session.place));
	cr_assert(ndd_lcore_demote_all(s, BEGIN));
	s->knocks.place[0] = UINT64_C(1) << next->session.place;
	s->knocks.some = 1;
	ndd_lcore_knocks(s, BEGIN);
	cr_expect(is_awake(next));
}

Test(doorbell, each_session_has_a_place_of_its_own, .timeout = 60)
{
	static struct client *c[NDD_PLACES], more;

	for (uint32_t i = 0; i < NDD_PLACES; i++)
		c[i] = client_new();
	cr_expect(not(ndd_lcore_attach(s, &more.session, BEGIN)), "there are no more");
	cr_assert(ndd_lcore_demote_all(s, BEGIN));
	for (uint32_t i = 0; i < NDD_PLACES; i += 341) {
		wake(c[i]);
		ndd_lcore_knocks(s, BEGIN);
		for (uint32_t k = 0; k < NDD_PLACES; k++)
			cr_assert(eq(int, is_awake(c[k]), k == i), "%u of %u", k, i);
		cr_assert(ndd_lcore_demote_all(s, BEGIN));
	}
}

/* More sessions than one turn polls: each has its turn. */
Test(doorbell, all_sessions_are_served)
{
	enum { MANY = 100 };
	struct client *c[MANY];

	for (int i = 0; i < MANY; i++) {
		c[i] = client_new();
		(void)ring(c[i]);
	}
	cr_expect(eq(u32, ndd_lcore_doorbells(s, BEGIN + 1, &registered), NDD_DOORBELL_SESSIONS));
	cr_expect(eq(
		u32, ndd_lcore_doorbells(s, BEGIN + 1, &registered), MANY - NDD_DOORBELL_SESSIONS));
}

/* The client rings for all that it could have. */
static void
ring_all(struct client *c)
{
	for (uint32_t i = 0; i < NDSH_DOORBELLS; i++)
		(void)ndsh_doorbell_ring(&c->page, &c->qp, i);
}

/* Many sessions of one principal ring without end; each turn serves one of the other, which rings
 * now, as well, and no session twice. */
Test(doorbell, a_principal_with_many_sessions_is_one)
{
	enum { MANY = 50 };
	const struct roce_principal_cfg cfg = {.weight = 1, .pool = {{0, 8}, {0, 8}}};
	struct roce_principal other = {0};
	struct client *hog[MANY], *quiet;

	cr_assert(roce_principal_init(s->engine, &other, &cfg));
	for (int i = 0; i < MANY; i++)
		hog[i] = client_new();
	quiet = client_of(&other);
	for (unsigned turn = 0; turn < 2 * MANY; turn++) {
		for (int i = 0; i < MANY; i++)
			ring_all(hog[i]);
		(void)ring(quiet);
		(void)ndd_lcore_doorbells(s, BEGIN + turn, &registered);
		cr_expect(eq(u64, quiet->session.rung_ns, BEGIN + turn), "turn %u", turn);
	}
	for (int i = 0; i < MANY; i++)
		cr_expect(ge(u64, hog[i]->session.rung_ns, BEGIN + MANY - 1), "all have turns");
}

Test(doorbell, nobody_is_looked_at_twice_in_a_turn)
{
	const struct roce_principal_cfg cfg = {.weight = 1, .pool = {{0, 8}, {0, 8}}};
	struct roce_principal other = {0};
	struct client *lone;

	cr_assert(roce_principal_init(s->engine, &other, &cfg));
	lone = client_of(&other);
	for (int i = 0; i < 9; i++)
		(void)client_new();
	ring_all(lone);
	cr_expect(eq(u32, ndd_lcore_doorbells(s, BEGIN, &registered), NDD_DOORBELL_WORDS * 64));
	cr_expect(eq(u32, ndd_lcore_doorbells(s, BEGIN, &registered), NDD_DOORBELL_WORDS * 64));
}

/* All of a session's queue pairs, though none of them is one that could send. */
static struct roce_qp *
all_places(struct client *c)
{
	struct roce_qp *qp = aligned_alloc(64, (sizeof(*qp) + 63) & ~(size_t)63);

	memset(qp, 0, sizeof(*qp));
	c->session.qps = NDSH_QP_PER_SESSION_MAX;
	c->session.qp = calloc(c->session.qps, sizeof(qp));
	return qp;
}

/* The bit does not tell which of them rang: each is looked at. */
Test(doorbell, all_that_share_a_doorbell_are_looked_at)
{
	struct client *c = client_new();
	struct roce_qp *qp = all_places(c);
	const struct roce_doorbells *rung = &c->session.client.doorbells;

	c->session.qp[5] = c->session.qp[5 + NDSH_DOORBELLS] = qp;
	c->session.qp[5 + 3 * NDSH_DOORBELLS] = c->session.qp[6] = qp;
	(void)ring(c);
	cr_expect(eq(u32, ndd_lcore_doorbells(s, BEGIN, &registered), 4), "and a free place");
	cr_expect(eq(u32, rung->rung - rung->served, 3));
}

/* Four places for each bit are no more work in a turn than one. */
Test(doorbell, shared_doorbells_have_the_same_bound)
{
	struct client *c = client_new();

	(void)all_places(c);
	ring_all(c);
	cr_expect(eq(u32, ndd_lcore_doorbells(s, BEGIN, &registered), NDD_DOORBELLS_SESSION));
	cr_expect(eq(u32, ndd_lcore_doorbells(s, BEGIN, &registered), NDD_DOORBELLS_SESSION));
}

/* A client that rings for nothing all the time must not keep the lcore's CPU from others. */
Test(doorbell, ringing_is_no_work)
{
	_Alignas(RTE_CACHE_LINE_SIZE) char memory[1024];
	struct rte_ring *events = (struct rte_ring *)memory;
	struct client *c = client_new();

	cr_assert_leq(rte_ring_get_memsize(8), (ssize_t)sizeof(memory));
	cr_assert_eq(rte_ring_init(events, "events", 8, RING_F_SP_ENQ | RING_F_SC_DEQ), 0);
	plane.rings.event[s->id] = events;
	ring_all(c);
	cr_expect(eq(u32, ndd_lcore_turn(s, BEGIN), 0));
	cr_expect(eq(u64, s->count.doorbells, NDD_DOORBELL_WORDS * 64));
	cr_expect(is_awake(c));
}

/* ---- idle ---------------------------------------------------------------------------------- */

Test(idle, first_it_waits_then_yields_then_sleeps)
{
	cr_expect(eq(i32, ndd_lcore_idle(s, BEGIN), NDD_STAGE_idle));
	cr_expect(eq(i32, ndd_lcore_idle(s, BEGIN + NDD_YIELD_NS), NDD_STAGE_idle));
	cr_expect(eq(i32, ndd_lcore_idle(s, BEGIN + NDD_YIELD_NS + 1), NDD_STAGE_yield));
	cr_expect(ne(u64, s->giving_way.since_ns, 0), "what yields take is added up");
	cr_expect(eq(i32, ndd_lcore_idle(s, BEGIN + NDD_SLEEP_NS), NDD_STAGE_yield));
	cr_expect(eq(u64, s->count.sleeps, 0));
	cr_expect(eq(i32, ndd_lcore_idle(s, BEGIN + NDD_SLEEP_NS + 1), NDD_STAGE_sleep));
	cr_expect(eq(u64, s->count.sleeps, 1));
	cr_expect(eq(u32, s->wakeup.asleep, 0), "no writer makes a call for it now");
}

/* What comes waits for an eighth more than it has been waited for, if its source wakes nobody. */
Test(idle, sleeps_grow_up_to_a_bound)
{
	(void)ndd_lcore_idle(s, BEGIN);
	cr_expect(eq(u64, ndd_lcore_sleep_ns(s, BEGIN), NDD_SLEEP_MIN_NS));
	cr_expect(eq(u64, ndd_lcore_sleep_ns(s, BEGIN + 240000), NDD_SLEEP_MIN_NS));
	cr_expect(eq(u64, ndd_lcore_sleep_ns(s, BEGIN + 240008), NDD_SLEEP_MIN_NS + 1));
	cr_expect(eq(u64, ndd_lcore_sleep_ns(s, BEGIN + 2 * NDD_SLEEP_NS), NDD_SLEEP_NS / 4));
	cr_expect(eq(u64, ndd_lcore_sleep_ns(s, BEGIN + NDD_SLEEP_MAX_NS * 8), NDD_SLEEP_MAX_NS));
	cr_expect(eq(u64, ndd_lcore_sleep_ns(s, BEGIN + NDD_SLEEP_MAX_NS * 9), NDD_SLEEP_MAX_NS));
}

/* A wake-up for nothing takes the CPU from a program that never gives way, twice: there and back.
 */
Test(idle, where_whatever_comes_wakes_it_a_sleep_is_long)
{
	s->watched = true;
	(void)ndd_lcore_idle(s, BEGIN);
	cr_expect(eq(u64, ndd_lcore_sleep_ns(s, BEGIN), NDD_SLEEP_WATCHED_NS));
	cr_expect(eq(u64, ndd_lcore_sleep_ns(s, BEGIN + NDD_SLEEP_NS), NDD_SLEEP_WATCHED_NS));
	s->out[0].n = 1; /* nothing tells when the port takes it */
	cr_expect(eq(u64, ndd_lcore_sleep_ns(s, BEGIN), NDD_SLEEP_MIN_NS));
	cr_expect(eq(u64, ndd_lcore_sleep_ns(s, BEGIN + NDD_SLEEP_NS), NDD_SLEEP_UNSENT_NS));
}

/* Its CPU is shared with a program that never gives way. */
Test(idle, where_yields_are_dear_it_sleeps_at_once)
{
	s->giving_way.sleeps = true;
	s->giving_way.since_ns = BEGIN;
	cr_expect(eq(i32, ndd_lcore_idle(s, BEGIN), NDD_STAGE_idle));
	cr_expect(eq(i32, ndd_lcore_idle(s, BEGIN + NDD_YIELD_NS), NDD_STAGE_idle));
	cr_expect(eq(i32, ndd_lcore_idle(s, BEGIN + NDD_YIELD_NS + 1), NDD_STAGE_sleep));
	cr_expect(eq(u64, s->count.sleeps, 1));
}

/* A principal that has no wake-up left does not keep the lcore awake, until it may have one. */
Test(idle, a_limit_of_wake_ups_lets_it_sleep)
{
	struct roce_principal p = {.wakeups.until_ns = BEGIN + 3 * NDD_SLEEP_NS};

	base_list_append(&s->engine->resting, &p.line[ROCE_LINE_FIRED].link);
	(void)ndd_lcore_idle(s, BEGIN);
	(void)ndd_lcore_idle(s, BEGIN + 2 * NDD_SLEEP_NS);
	cr_expect(eq(u64, s->count.sleeps, 1));
	(void)ndd_lcore_idle(s, BEGIN + 3 * NDD_SLEEP_NS);
	cr_expect(eq(u64, s->count.sleeps, 1), "a client may have to be woken");
}

Test(idle, other_policies_never_sleep)
{
	static const enum config_idle policies[] = {CONFIG_IDLE_POLL, CONFIG_IDLE_PAUSE};

	for (int i = 0; i < 2; i++) {
		plane.idle = policies[i];
		for (uint64_t t = 0; t < 10; t++)
			cr_expect(eq(
				i32, ndd_lcore_idle(s, BEGIN + t * NDD_SLEEP_NS), NDD_STAGE_idle));
	}
	cr_expect(eq(u64, s->count.sleeps, 0));
}

/* What came between the last poll and the words that announce the sleep. */
Test(idle, work_in_the_last_moment_keeps_it_awake)
{
	struct client *c = client_new();

	(void)ndd_lcore_idle(s, BEGIN);
	s->call = (struct ndd_call *)&plane; /* the control thread waits */
	(void)ndd_lcore_idle(s, BEGIN + NDD_SLEEP_NS + 1);
	cr_expect(eq(u64, s->count.sleeps, 0));
	cr_expect(eq(u32, s->wakeup.asleep, 0));
	s->call = NULL;
	s->stop = 1;
	(void)ndd_lcore_idle(s, BEGIN + NDD_SLEEP_NS + 1);
	cr_expect(eq(u64, s->count.sleeps, 0));
	s->stop = 0;
	ndd_lcore_promote(s, &c->session, BEGIN);
	cr_expect(not(ring(c)), "the doorbell has no byte");
	(void)ndd_lcore_idle(s, BEGIN + NDD_SLEEP_NS + 1);
	cr_expect(eq(u64, s->count.sleeps, 0));
	cr_expect(eq(u64, s->idle_since_ns, 0), "there is work");
}

Test(idle, a_doorbell_ends_the_sleep, .timeout = 20)
{
	struct client *c = client_new();

	(void)ndd_lcore_idle(s, BEGIN);
	cr_assert(ndd_lcore_demote_all(s, BEGIN));
	cr_expect(ndsh_doorbell_ring(&c->page, &c->qp, 5));
	cr_assert_eq(eventfd_write(ndd_door_fd(c->session.door), 1), 0);
	while (!is_awake(c))
		(void)ndd_lcore_idle(s, BEGIN + NDD_SLEEP_NS + 1);
	cr_expect(eq(u32, ndd_lcore_doorbells(s, BEGIN, &registered), 1));
}

/* Else it would neither sleep nor see that the client has rung. */
Test(idle, a_knock_in_the_moment_of_the_sleep_is_seen, .timeout = 20)
{
	struct client *c = client_new();

	(void)ndd_lcore_idle(s, BEGIN);
	cr_assert(ndd_lcore_demote_all(s, BEGIN));
	wake(c);
	(void)ndd_lcore_idle(s, BEGIN + NDD_SLEEP_NS + 1);
	cr_expect(eq(u64, s->count.sleeps, 0), "it was there before");
	cr_expect(is_awake(c));
}
