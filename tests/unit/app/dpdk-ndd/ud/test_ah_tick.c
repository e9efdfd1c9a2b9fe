/* SPDX-License-Identifier: BSD-3-Clause */
/* Crowds of address handles: which of them a turn looks at, and which first. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "platform/clock.h"
#include "rigs/ndd_rig.h"
#include "rigs/net_rig.h"
#include "session/class.h"
#include "ud/ah.h"
#include "ud/ah_tick.h"

#define CROWD	 600u
#define PER_CALL 256u
#define SILENT	 "10.77.0.2" /* nobody answers there */
#define AT_ONCE	 "239.1.2.3" /* a group needs no answer */

struct crowd {
	struct ndd_rig *r;
	struct ndd_session *s;
	struct ndd_principal *p;
	int client;
	struct ndd_ah *ah[CROWD];
};

static void
read_events(struct ndd_rig *r, int client)
{
	uint8_t told[NDSH_MSG_BYTES];
	unsigned n;

	do {
		for (n = 0; ndd_rig_take(client, told, NULL) > 0; n++)
			;
		ndd_rig_receive(r); /* what had no room follows */
	} while (n != 0);
}

/* The newest is the last of all. */
static struct ndd_ah *
ah_to(struct ndd_rig *r, int client, const char *text)
{
	struct ndsh_ah_create m = {.h.type = NDSH_MSG_AH_CREATE};
	uint8_t reply[NDSH_MSG_BYTES];

	read_events(r, client);
	memcpy(m.remote.ip, net_rig_gid(text).raw, 16);
	cr_assert(eq(i32, ndd_rig_ask(r, client, &m, reply), NDSH_OK));
	return TAILQ_LAST(&r->d.ahs, ndd_ah_list);
}

static void
crowd_fill(struct crowd *w, const char *text)
{
	w->p = w->s->account.principal;
	ndd_ah_tick(&w->r->d, ndd_now_ns()); /* the network is what it is */
	for (unsigned i = 0; i < CROWD; i++)
		w->ah[i] = ah_to(w->r, w->client, text);
	w->p->credit_ns = NDD_S;
}

static struct crowd
crowd_of(const char *text)
{
	struct crowd w = {.r = ndd_rig_new()};

	w.r->cfg.max_qps = w.r->cfg.shard_qps = CROWD;
	ndd_rig_principals(w.r);
	w.client = ndd_rig_open(w.r, &w.s);
	crowd_fill(&w, text);
	return w;
}

/* A look at one of them while they are hidden crashes. */
static void
crowd_hide(const struct crowd *w, bool hidden)
{
	for (unsigned i = 0; i < CROWD; i++)
		w->ah[i]->session = hidden ? NULL : w->s;
}

static unsigned
crowd_in(const struct crowd *w, enum ndd_ah_state state)
{
	unsigned n = 0;

	for (unsigned i = 0; i < CROWD; i++)
		n += w->ah[i]->state == state;
	return n;
}

/* However many a client has wait for an answer, one that has something to do is all that is looked
 * at. */
Test(ah_tick, those_that_wait_are_not_looked_at)
{
	struct crowd w = crowd_of(SILENT);
	struct ndd *d = &w.r->d;
	const uint64_t late_ns = w.ah[CROWD - 1]->deadline_ns;
	struct ndd_ah *ah;

	ndd_ah_tick(d, ndd_now_ns());
	cr_assert(eq(u32, crowd_in(&w, NDD_AH_RESOLVING), CROWD));
	ah = ah_to(w.r, w.client, AT_ONCE);
	crowd_hide(&w, true);
	ndd_ah_tick(d, ndd_now_ns());
	crowd_hide(&w, false);
	cr_expect(eq(int, ah->state, NDD_AH_READY));
	cr_expect(eq(u64, d->ah_hops.deadline_ns, w.ah[0]->deadline_ns));
	w.p->credit_ns = NDD_S;
	for (unsigned i = 1; i <= 3; i++) {
		ndd_ah_tick(d, late_ns);
		cr_expect(eq(u32, crowd_in(&w, NDD_AH_OVER), i < 3 ? i * PER_CALL : CROWD),
			"call %u", i);
	}
	ndd_ah_tick(d, late_ns);
	cr_expect(eq(u64, d->ah_hops.deadline_ns, UINT64_MAX));
}

/* Those whose principal has used up its time are not looked at, come again, and hold up nobody
 * else's. */
Test(ah_tick, those_without_time_hold_up_nobody)
{
	static const struct config_principal red, blue;
	struct crowd w = {.r = ndd_rig_red_and_blue(&red, &blue, true)};
	struct ndd_session *other;
	struct ndd_ah *ah;
	int client;

	w.r->cfg.max_qps = CROWD;
	w.r->d.accounts.pool[0][CONFIG_SHARE_handles].total = 4 * CROWD;
	ndd_rig_connect_by(w.r, "red");
	w.client = ndd_rig_open(w.r, &w.s);
	ndd_rig_connect_by(w.r, "blue");
	client = ndd_rig_open(w.r, &other);
	crowd_fill(&w, AT_ONCE);
	ah = ah_to(w.r, client, AT_ONCE);
	w.p->credit_ns = 0;
	crowd_hide(&w, true);
	ndd_ah_tick(&w.r->d, ndd_now_ns());
	crowd_hide(&w, false);
	cr_expect(eq(int, ah->state, NDD_AH_READY));
	cr_expect(eq(u64, w.r->d.ah_hops.deadline_ns, 0), "they come again");
	cr_expect(eq(u32, crowd_in(&w, NDD_AH_READY), 0));
	w.p->credit_ns = NDD_S;
	ndd_ah_tick(&w.r->d, ndd_now_ns());
	cr_expect(eq(u32, crowd_in(&w, NDD_AH_READY), CROWD));
}

static unsigned
moved(const struct crowd *w)
{
	const struct ndd_ah *ah;
	unsigned n = 0;

	TAILQ_FOREACH (ah, &w->p->moved_ahs, next_due)
		n++;
	return n;
}

/* Next hops have changed: all follow theirs, some of them in each turn, and in their
 * principal's time. What else there is to do comes before that. */
Test(ah_tick, all_follow_their_next_hops_in_time)
{
	struct crowd w = crowd_of(AT_ONCE);
	struct ndd *d = &w.r->d;
	struct ndd_ah *ah;

	ndd_ah_tick(d, ndd_now_ns());
	cr_assert(eq(u32, crowd_in(&w, NDD_AH_READY), CROWD));
	cr_expect(eq(u32, moved(&w), 0));
	w.p->credit_ns = 0;
	d->ah_hops.generation--;
	for (unsigned i = 1; i <= 3; i++) {
		ndd_ah_tick(d, ndd_now_ns());
		cr_expect(eq(u32, moved(&w), i < 3 ? i * PER_CALL : CROWD), "call %u", i);
		cr_expect(eq(u64, d->ah_hops.deadline_ns, 0));
	}
	w.p->credit_ns = NDD_S;
	ah = ah_to(w.r, w.client, AT_ONCE);
	w.p->credit_ns = 0;
	ndd_ah_tick(d, ndd_now_ns());
	cr_expect(eq(ptr, TAILQ_FIRST(&w.p->due_ahs), ah), "it is before them");
	cr_expect(eq(u32, moved(&w), CROWD));
	w.p->credit_ns = NDD_S;
	ndd_ah_tick(d, ndd_now_ns());
	cr_expect(eq(int, ah->state, NDD_AH_READY));
	cr_expect(eq(u32, moved(&w), 0));
	cr_expect(eq(u64, d->ah_hops.deadline_ns, UINT64_MAX), "all have");
}

/* Those that end leave all lists. */
Test(ah_tick, the_end_of_those_that_wait)
{
	struct crowd w = crowd_of(AT_ONCE);
	struct ndd *d = &w.r->d;

	ndd_ah_tick(d, ndd_now_ns());
	(void)ah_to(w.r, w.client, SILENT);
	w.p->credit_ns = 0;
	d->ah_hops.generation--;
	ndd_ah_tick(d, ndd_now_ns());
	cr_assert(ne(ptr, TAILQ_FIRST(&d->resolving_ahs), NULL));
	cr_assert(ne(ptr, TAILQ_FIRST(&w.p->due_ahs), NULL));
	cr_assert(ne(ptr, TAILQ_FIRST(&w.p->moved_ahs), NULL));
	for (struct ndd_ah *ah = TAILQ_FIRST(&d->ahs), *next; ah != NULL; ah = next) {
		next = TAILQ_NEXT(ah, next);
		ndd_ah_class.free(w.s, ah);
	}
	cr_expect(eq(ptr, TAILQ_FIRST(&d->resolving_ahs), NULL));
	cr_expect(eq(ptr, TAILQ_FIRST(&d->ahs), NULL));
	cr_expect(eq(ptr, TAILQ_FIRST(&w.p->due_ahs), NULL));
	cr_expect(eq(ptr, TAILQ_FIRST(&w.p->moved_ahs), NULL));
}
