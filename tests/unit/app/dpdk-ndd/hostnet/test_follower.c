/* SPDX-License-Identifier: BSD-3-Clause */
/* Crowds of followers: which of them a tick looks at, and which first. */
#include "hostnet/follower.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "hostnet/next_hop.h"
#include "platform/clock.h"
#include "rigs/ndd_rig.h"
#include "rigs/net_rig.h"

#define CROWD	 600u
#define PER_CALL 256u

struct thing {
	struct ndd_follower f;
	enum ndd_follow wants; /* when next hops have changed */
	unsigned went;	       /* how often it went on */
	bool ended;
};

static enum ndd_follow
thing_moved(const struct ndd_follower *f)
{
	return ((const struct thing *)f)->wants;
}

static void
thing_go_on(struct ndd_follower *f, uint64_t now_ns)
{
	((struct thing *)f)->went++;
	if (now_ns >= f->deadline_ns)
		ndd_follower_wait_no_more(f);
}

/* Its addresses are its number's. */
static bool
thing_addresses(const struct ndd_follower *f, struct roce_path *path)
{
	path->ttl = (uint8_t)((const struct thing *)f)->wants;
	return !((const struct thing *)f)->ended;
}

static void
thing_end(struct ndd_follower *f, const char *why)
{
	cr_expect(eq(str, (char *)why, "it is lost"));
	((struct thing *)f)->ended = true;
}

static const struct ndd_follower_kind thing = {
	.moved = thing_moved,
	.go_on = thing_go_on,
	.addresses = thing_addresses,
	.end = thing_end,
};

struct crowd {
	struct ndd_rig *r;
	struct ndd *d;
	struct ndd_session *s;
	struct ndd_principal *p;
	struct thing t[CROWD];
};

static void
crowd_fill(struct crowd *w, enum ndd_follow wants)
{
	w->d = &w->r->d;
	w->p = w->s->account.principal;
	w->p->credit_ns = NDD_S;
	ndd_followers_tick(w->d, ndd_now_ns()); /* the network is what it is */
	for (unsigned i = 0; i < CROWD; i++) {
		w->t[i] = (struct thing){.wants = wants};
		ndd_follower_add(&w->t[i].f, &thing, w->s);
	}
}

static void
crowd_init(struct crowd *w, enum ndd_follow wants)
{
	w->r = ndd_rig_new();
	(void)ndd_rig_open(w->r, &w->s);
	crowd_fill(w, wants);
}

/* A look at one of them while they are hidden crashes. */
static void
crowd_hide(struct crowd *w, bool hidden)
{
	for (unsigned i = 0; i < CROWD; i++) {
		w->t[i].f.session = hidden ? NULL : w->s;
		w->t[i].f.kind = hidden ? NULL : &thing;
	}
}

static unsigned
crowd_went(const struct crowd *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < CROWD; i++)
		n += w->t[i].went;
	return n;
}

static uint64_t
next_tick_ns(const struct crowd *w)
{
	return w->d->followers.deadline_ns;
}

/* However many a client has wait for an answer, one that has something to do is all that is looked
 * at. */
Test(follower, those_that_wait_are_not_looked_at)
{
	static struct crowd w;
	struct thing t = {.wants = NDD_FOLLOW_NOT};
	uint64_t now_ns;

	crowd_init(&w, NDD_FOLLOW_FIRST);
	now_ns = ndd_now_ns();
	ndd_follower_add(&t.f, &thing, w.s);
	for (unsigned i = 0; i < CROWD; i++)
		ndd_follower_wait(&w.t[i].f, NDD_WAIT_HOP, now_ns);
	cr_expect(eq(u64, next_tick_ns(&w), now_ns + 3 * NDD_S));
	crowd_hide(&w, true);
	ndd_follower_is_due(&t.f);
	cr_expect(eq(u64, next_tick_ns(&w), 0));
	ndd_followers_tick(w.d, now_ns);
	cr_expect(eq(u32, t.went, 1));
	cr_expect(eq(u64, next_tick_ns(&w), now_ns + 3 * NDD_S));
	ndd_followers_tick(w.d, now_ns + 3 * NDD_S - 1);
	cr_expect(eq(u32, t.went, 1), "once");
	crowd_hide(&w, false);
	for (unsigned i = 1; i <= 3; i++) {
		ndd_followers_tick(w.d, now_ns + 3 * NDD_S);
		cr_expect(eq(u32, crowd_went(&w), i < 3 ? i * PER_CALL : CROWD), "call %u", i);
	}
	ndd_followers_tick(w.d, now_ns + 3 * NDD_S);
	cr_expect(eq(u64, next_tick_ns(&w), UINT64_MAX));
}

/* The deadline of each is in its place, whatever others wait for. */
Test(follower, each_kind_of_waiting_has_its_time)
{
	static struct crowd w;
	uint64_t now_ns;

	crowd_init(&w, NDD_FOLLOW_NOT);
	now_ns = ndd_now_ns();
	ndd_follower_wait(&w.t[0].f, NDD_WAIT_HOP, now_ns);
	ndd_follower_wait(&w.t[1].f, NDD_WAIT_FLUSH, now_ns);
	cr_expect(eq(u64, next_tick_ns(&w), now_ns + 10 * NDD_MS));
	ndd_followers_tick(w.d, now_ns + 10 * NDD_MS);
	cr_expect(eq(u32, w.t[0].went, 0));
	cr_expect(eq(u32, w.t[1].went, 1));
	cr_expect(eq(u64, next_tick_ns(&w), now_ns + 3 * NDD_S));
	ndd_follower_wait_no_more(&w.t[0].f);
	cr_expect(eq(u64, w.t[0].f.deadline_ns, UINT64_MAX));
	ndd_followers_tick(w.d, now_ns + 3 * NDD_S);
	cr_expect(eq(u32, w.t[0].went, 0));
}

/* Those whose principal has used up its time are not looked at, come again, and hold up nobody
 * else's. */
Test(follower, those_without_time_hold_up_nobody)
{
	static const struct config_principal red, blue;
	static struct crowd w;
	struct thing t = {.wants = NDD_FOLLOW_NOT};
	uint64_t now_ns = ndd_now_ns();
	struct ndd_session *other;

	w.r = ndd_rig_red_and_blue(&red, &blue, true);
	ndd_rig_connect_by(w.r, "red");
	(void)ndd_rig_open(w.r, &w.s);
	ndd_rig_connect_by(w.r, "blue");
	(void)ndd_rig_open(w.r, &other);
	crowd_fill(&w, NDD_FOLLOW_NOT);
	for (unsigned i = 0; i < CROWD; i++)
		ndd_follower_is_due(&w.t[i].f);
	ndd_follower_add(&t.f, &thing, other);
	ndd_follower_is_due(&t.f);
	w.p->credit_ns = 0;
	crowd_hide(&w, true);
	ndd_followers_tick(w.d, now_ns);
	crowd_hide(&w, false);
	cr_expect(eq(u32, t.went, 1));
	cr_expect(eq(u64, next_tick_ns(&w), 0), "they come again");
	w.p->credit_ns = NDD_S;
	ndd_followers_tick(w.d, now_ns);
	cr_expect(eq(u32, crowd_went(&w), CROWD));
	cr_expect(eq(u64, next_tick_ns(&w), UINT64_MAX));
}

static unsigned
moved(const struct crowd *w)
{
	const struct ndd_follower *f;
	unsigned n = 0;

	TAILQ_FOREACH (f, &w->p->moved, next_due)
		n++;
	return n;
}

/* Next hops have changed: all follow theirs, some of them in each tick, and in their principal's
 * time. What else there is to do comes before that. */
Test(follower, all_follow_their_next_hops_in_time)
{
	static struct crowd w;
	struct thing t = {.wants = NDD_FOLLOW_NOT};
	uint64_t now_ns;

	crowd_init(&w, NDD_FOLLOW_BEHIND);
	now_ns = ndd_now_ns();
	cr_expect(eq(u32, moved(&w), 0));
	w.p->credit_ns = 0;
	w.d->followers.generation--;
	for (unsigned i = 1; i <= 3; i++) {
		ndd_followers_tick(w.d, now_ns);
		cr_expect(eq(u32, moved(&w), i < 3 ? i * PER_CALL : CROWD), "call %u", i);
		cr_expect(eq(u64, next_tick_ns(&w), 0));
	}
	ndd_follower_add(&t.f, &thing, w.s);
	ndd_follower_is_due(&t.f);
	ndd_followers_tick(w.d, now_ns);
	cr_expect(eq(ptr, TAILQ_FIRST(&w.p->due), &t.f), "it is before them");
	cr_expect(eq(u32, moved(&w), CROWD));
	w.p->credit_ns = NDD_S;
	ndd_followers_tick(w.d, now_ns);
	cr_expect(eq(u32, t.went, 1));
	cr_expect(eq(u32, crowd_went(&w), CROWD), "each once");
	ndd_followers_tick(w.d, now_ns);
	cr_expect(eq(u32, crowd_went(&w), CROWD), "and no more");
	cr_expect(eq(u64, next_tick_ns(&w), UINT64_MAX), "all have");
}

/* A sweep asks each what it wants; one that is due anyway keeps its place before the others. */
Test(follower, what_each_wants_of_a_change)
{
	static struct crowd w;

	crowd_init(&w, NDD_FOLLOW_NOT);
	w.t[1].wants = NDD_FOLLOW_BEHIND;
	w.t[2].wants = NDD_FOLLOW_FIRST;
	w.t[3].wants = NDD_FOLLOW_BEHIND;
	w.p->credit_ns = 0;
	ndd_follower_is_due(&w.t[3].f);
	w.d->followers.generation--;
	for (unsigned i = 0; i < 3; i++)
		ndd_followers_tick(w.d, ndd_now_ns());
	cr_expect(eq(ptr, TAILQ_FIRST(&w.p->due), &w.t[3].f));
	cr_expect(eq(ptr, TAILQ_LAST(&w.p->due, ndd_follower_list), &w.t[2].f));
	cr_expect(eq(u32, moved(&w), 1));
	cr_expect(eq(ptr, TAILQ_FIRST(&w.p->moved), &w.t[1].f));
	ndd_follower_is_due(&w.t[1].f);
	cr_expect(eq(u32, moved(&w), 0), "it is in one list");
	cr_expect(eq(ptr, TAILQ_LAST(&w.p->due, ndd_follower_list), &w.t[1].f));
	w.p->credit_ns = NDD_S;
	ndd_followers_tick(w.d, ndd_now_ns());
	for (unsigned i = 0; i < 4; i++)
		cr_expect(eq(u32, w.t[i].went, i != 0), "%u", i);
	cr_expect(eq(u32, crowd_went(&w), 3));
}

/* A neighbour that answers is a change, once. */
Test(follower, an_answer_is_a_change)
{
	const struct roce_gid me = net_rig_gid(NDD_RIG_IP), peer = net_rig_gid("10.77.0.2");
	static struct crowd w;
	struct net_rig net;
	struct net_nexthop hop;

	crowd_init(&w, NDD_FOLLOW_FIRST);
	net = (struct net_rig){.n = w.d->net, .now = ndd_now_ns()};
	cr_assert(eq(i32, ndd_next_hop(w.d->net, net.now, 1, &me, &peer, &hop), NDSH_PENDING));
	ndd_followers_tick(w.d, net.now);
	cr_expect(eq(u32, crowd_went(&w), 0));
	net_rig_rx(&net, ARP_PEER_ANSWERS);
	for (unsigned i = 0; i < 4; i++)
		ndd_followers_tick(w.d, net.now);
	cr_expect(eq(u32, crowd_went(&w), CROWD));
}

/* One that ends leaves all lists. */
Test(follower, the_end_of_one_that_waits)
{
	static struct crowd w;
	struct ndd_followers *all;

	crowd_init(&w, NDD_FOLLOW_BEHIND);
	all = &w.d->followers;
	w.p->credit_ns = 0;
	all->generation--;
	ndd_followers_tick(w.d, ndd_now_ns());
	ndd_follower_wait(&w.t[CROWD - 1].f, NDD_WAIT_HOP, ndd_now_ns());
	ndd_follower_wait(&w.t[1].f, NDD_WAIT_HOP, ndd_now_ns());
	ndd_follower_wait(&w.t[1].f, NDD_WAIT_FLUSH, ndd_now_ns());
	ndd_follower_is_due(&w.t[1].f);
	ndd_follower_is_due(&w.t[2].f);
	cr_expect(eq(ptr, TAILQ_FIRST(&w.p->due), &w.t[1].f));
	for (unsigned i = 0; i < CROWD; i++)
		ndd_follower_remove(&w.t[i].f);
	for (unsigned i = 0; i < NDD_WAITS; i++)
		cr_expect(eq(ptr, TAILQ_FIRST(&all->waiting[i]), NULL));
	cr_expect(eq(ptr, TAILQ_FIRST(&all->all), NULL));
	cr_expect(eq(ptr, TAILQ_FIRST(&w.p->due), NULL));
	cr_expect(eq(ptr, TAILQ_FIRST(&w.p->moved), NULL));
}

/* Those of a session that is being taken down do nothing. */
Test(follower, a_session_that_ends)
{
	static struct crowd w;

	crowd_init(&w, NDD_FOLLOW_NOT);
	w.s->ended = true;
	ndd_follower_is_due(&w.t[0].f);
	ndd_followers_tick(w.d, ndd_now_ns());
	cr_expect(eq(u32, w.t[0].went, 0));
	cr_expect(eq(ptr, TAILQ_FIRST(&w.p->due), NULL));
}

/* To pass over thousands of them takes its principal's time, too. */
Test(follower, a_session_that_ends_with_many)
{
	static struct crowd w;

	crowd_init(&w, NDD_FOLLOW_NOT);
	ndd_clock_mult = UINT64_C(1) << 32; /* time goes on */
	w.s->ended = true;
	for (unsigned i = 0; i < CROWD; i++)
		ndd_follower_is_due(&w.t[i].f);
	w.p->credit_ns = 1;
	ndd_followers_tick(w.d, ndd_now_ns());
	cr_expect(le(i64, w.p->credit_ns, 0));
	cr_expect(eq(ptr, TAILQ_FIRST(&w.p->due), &w.t[1].f));
	cr_expect(eq(u64, next_tick_ns(&w), 0));
	cr_expect(eq(u32, crowd_went(&w), 0));
}

static bool
is_lost(struct ndd *d, const struct roce_path *path, const void *arg)
{
	(void)d;
	return path->ttl == *(const uint8_t *)arg;
}

/* Those whose path is lost end; others, and those that need none any more, do not. */
Test(follower, paths_that_are_lost)
{
	static struct crowd w;
	const uint8_t lost = NDD_FOLLOW_FIRST;

	crowd_init(&w, NDD_FOLLOW_BEHIND);
	for (unsigned i = 0; i < CROWD; i += 2)
		w.t[i].wants = NDD_FOLLOW_FIRST;
	for (unsigned again = 0; again < 2; again++)
		ndd_followers_end(w.d, is_lost, &lost, "it is lost");
	for (unsigned i = 0; i < CROWD; i++)
		cr_expect(eq(int, w.t[i].ended, i % 2 == 0));
}
