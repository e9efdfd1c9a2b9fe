/* SPDX-License-Identifier: BSD-3-Clause */
/* Crowds of connections: which of them a turn of the control thread looks at, and which first. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <unistd.h>

#include "conn/conn.h"
#include "conn/tick.h"
#include "platform/clock.h"
#include "rigs/ndd_rig.h"

#define CROWD	 600u
#define PER_CALL 256u

struct crowd {
	struct ndd_rig *r;
	struct ndd_session *s;
	struct ndd_principal *p;
	struct ndd_conn *c[CROWD];
};

static void
crowd_fill(struct crowd *w, enum ndd_conn_state state)
{
	w->p = w->s->account.principal;
	w->p->credit_ns = NDD_S;
	ndd_conn_tick(&w->r->d, ndd_now_ns()); /* the network is what it is */
	for (unsigned i = 0; i < CROWD; i++) {
		w->c[i] = ndd_conn_new(w->s, state);
		cr_assert(ne(ptr, w->c[i], NULL));
		w->c[i]->peer_left = true; /* here without a CM that could send a DREQ */
	}
}

static struct crowd
crowd_of(enum ndd_conn_state state)
{
	struct crowd w = {.r = ndd_rig_new()};

	w.r->cfg.max_qps = w.r->cfg.shard_qps = CROWD;
	ndd_rig_principals(w.r);
	(void)ndd_rig_open(w.r, &w.s);
	crowd_fill(&w, state);
	return w;
}

/* A look at one of them while they are hidden crashes. */
static void
crowd_hide(const struct crowd *w, bool hidden)
{
	for (unsigned i = 0; i < CROWD; i++)
		w->c[i]->session = hidden ? NULL : w->s;
}

static unsigned
crowd_over(const struct crowd *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < CROWD; i++)
		n += w->c[i]->state == NDD_CONN_OVER;
	return n;
}

/* A connection whose flush is due at that time. */
static struct ndd_conn *
flushed_at(struct ndd_session *s, uint64_t when_ns)
{
	struct ndd_conn *c = ndd_conn_new(s, NDD_CONN_FLUSHING);

	cr_assert(ne(ptr, c, NULL));
	c->peer_left = true;
	ndd_conn_wait(c, &s->daemon->flushing, when_ns);
	return c;
}

/* However many a client has wait for an answer, one that has something to do is all that is looked
 * at. */
Test(conn_tick, those_that_wait_are_not_looked_at)
{
	struct crowd w = crowd_of(NDD_CONN_RESOLVING);
	const uint64_t now_ns = ndd_now_ns();
	struct ndd_conn *c = ndd_conn_new(w.s, NDD_CONN_RESOLVING);

	for (unsigned i = 0; i < CROWD; i++)
		ndd_conn_wait(w.c[i], &w.r->d.resolving, now_ns + NDD_S);
	crowd_hide(&w, true);
	ndd_conn_is_due(c);
	ndd_conn_tick(&w.r->d, now_ns);
	cr_expect(eq(int, c->state, NDD_CONN_OVER), "there is no route");
	cr_expect(eq(u64, w.r->d.conn_hops.deadline_ns, now_ns + NDD_S));
	crowd_hide(&w, false);
	ndd_conn_tick(&w.r->d, now_ns + NDD_S - 1);
	cr_expect(eq(u32, crowd_over(&w), 0));
	for (unsigned i = 1; i <= 3; i++) {
		ndd_conn_tick(&w.r->d, now_ns + NDD_S);
		cr_expect(eq(u32, crowd_over(&w), i < 3 ? i * PER_CALL : CROWD), "call %u", i);
	}
	ndd_conn_tick(&w.r->d, now_ns + NDD_S);
	cr_expect(eq(u64, w.r->d.conn_hops.deadline_ns, UINT64_MAX));
}

/* Those whose principal has used up its time are not looked at, come again, and hold up nobody
 * else's. */
Test(conn_tick, those_without_time_hold_up_nobody)
{
	static const struct config_principal red, blue;
	struct crowd w = {.r = ndd_rig_red_and_blue(&red, &blue, true)};
	const uint64_t now_ns = ndd_now_ns();
	struct ndd_session *other;
	struct ndd_conn *c;

	w.r->cfg.max_qps = CROWD;
	w.r->d.accounts.pool[0][CONFIG_SHARE_connections].total = 4 * CROWD;
	ndd_rig_connect_by(w.r, "red");
	(void)ndd_rig_open(w.r, &w.s);
	ndd_rig_connect_by(w.r, "blue");
	(void)ndd_rig_open(w.r, &other);
	crowd_fill(&w, NDD_CONN_RESOLVING);
	for (unsigned i = 0; i < CROWD; i++)
		ndd_conn_is_due(w.c[i]);
	c = flushed_at(other, now_ns);
	w.p->credit_ns = 0;
	crowd_hide(&w, true);
	ndd_conn_tick(&w.r->d, now_ns);
	crowd_hide(&w, false);
	cr_expect(eq(int, c->state, NDD_CONN_OVER));
	cr_expect(eq(u64, w.r->d.conn_hops.deadline_ns, 0), "they come again");
	w.p->credit_ns = NDD_S;
	ndd_conn_tick(&w.r->d, now_ns);
	cr_expect(eq(u32, crowd_over(&w), CROWD));
}

static unsigned
moved(const struct crowd *w)
{
	const struct ndd_conn *c;
	unsigned n = 0;

	TAILQ_FOREACH (c, &w->p->moved, next_due)
		n++;
	return n;
}

/* Next hops have changed: all follow theirs, some of them in each turn, and in their
 * principal's time. What else there is to do comes before that. */
Test(conn_tick, all_follow_their_next_hops_in_time)
{
	struct crowd w = crowd_of(NDD_CONN_ESTABLISHED);
	const uint64_t now_ns = ndd_now_ns();
	struct ndd_conn *c;

	cr_expect(eq(u32, moved(&w), 0));
	w.p->credit_ns = 0;
	w.r->d.conn_hops.generation--;
	for (unsigned i = 1; i <= 3; i++) {
		ndd_conn_tick(&w.r->d, now_ns);
		cr_expect(eq(u32, moved(&w), i < 3 ? i * PER_CALL : CROWD), "call %u", i);
		cr_expect(eq(u64, w.r->d.conn_hops.deadline_ns, 0));
	}
	c = flushed_at(w.s, now_ns);
	ndd_conn_tick(&w.r->d, now_ns);
	cr_expect(eq(ptr, TAILQ_FIRST(&w.p->due), c), "it is before them");
	cr_expect(eq(u32, moved(&w), CROWD));
	w.p->credit_ns = NDD_S;
	ndd_conn_tick(&w.r->d, now_ns);
	cr_expect(eq(int, c->state, NDD_CONN_OVER));
	cr_expect(eq(u32, moved(&w), 0));
	ndd_conn_tick(&w.r->d, now_ns);
	cr_expect(eq(u64, w.r->d.conn_hops.deadline_ns, UINT64_MAX), "all have");
}

/* One that ends leaves all lists. */
Test(conn_tick, the_end_of_one_that_waits)
{
	struct crowd w = crowd_of(NDD_CONN_ESTABLISHED);
	struct ndd *d = &w.r->d;

	w.p->credit_ns = 0;
	d->conn_hops.generation--;
	ndd_conn_tick(d, ndd_now_ns());
	ndd_conn_wait(w.c[CROWD - 1], &d->resolving, ndd_now_ns() + NDD_S);
	ndd_conn_wait(w.c[1], &d->flushing, ndd_now_ns() + NDD_S);
	ndd_conn_is_due(w.c[1]);
	ndd_conn_is_due(w.c[2]);
	cr_expect(eq(ptr, TAILQ_FIRST(&w.p->due), w.c[1]));
	for (unsigned i = 0; i < CROWD; i++)
		ndd_conn_free(w.s, w.c[i]);
	cr_expect(eq(ptr, TAILQ_FIRST(&d->resolving), NULL));
	cr_expect(eq(ptr, TAILQ_FIRST(&d->flushing), NULL));
	cr_expect(eq(ptr, TAILQ_FIRST(&d->conns), NULL));
	cr_expect(eq(ptr, TAILQ_FIRST(&w.p->due), NULL));
	cr_expect(eq(ptr, TAILQ_FIRST(&w.p->moved), NULL));
}
