/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostnet/follower.h"

#include "control/daemon.h"
#include "platform/clock.h"
#include "session/session.h"

#define PER_CALL 256u /* of each list of the daemon's */

/* All that wait for the same wait equally long: so each list is in the order of its deadlines. */
static const uint64_t wait_ns[NDD_WAITS] = {
	[NDD_WAIT_HOP] = 3 * NDD_S,
	[NDD_WAIT_FLUSH] = 10 * NDD_MS,
};

/* ---- lists --------------------------------------------------------------------------------- */

void
ndd_followers_init(struct ndd_followers *all)
{
	*all = (struct ndd_followers){.deadline_ns = UINT64_MAX};
	TAILQ_INIT(&all->all);
	for (unsigned i = 0; i < NDD_WAITS; i++)
		TAILQ_INIT(&all->waiting[i]);
}

static struct ndd_followers *
all_of(const struct ndd_follower *f)
{
	return &f->session->daemon->followers;
}

static void
tick_by(struct ndd_followers *all, uint64_t deadline_ns)
{
	if (deadline_ns < all->deadline_ns)
		all->deadline_ns = deadline_ns;
}

void
ndd_follower_add(
	struct ndd_follower *f, const struct ndd_follower_kind *kind, struct ndd_session *s)
{
	struct ndd_followers *all = &s->daemon->followers;

	*f = (struct ndd_follower){
		.kind = kind, .session = s, .deadline_ns = UINT64_MAX, .swept = all->sweep};
	TAILQ_INSERT_TAIL(&all->all, f, next);
}

static void
stop_waiting(struct ndd_follower *f)
{
	if (f->waits != NULL)
		TAILQ_REMOVE(f->waits, f, next_waiting);
	f->waits = NULL;
}

static void
be_not_due(struct ndd_follower *f)
{
	if (f->due != NULL)
		TAILQ_REMOVE(f->due, f, next_due);
	f->due = NULL;
}

static void
be_due(struct ndd_follower *f, struct ndd_follower_list *list)
{
	if (f->due == list)
		return;
	be_not_due(f);
	f->due = list;
	TAILQ_INSERT_TAIL(list, f, next_due);
}

static void
go_first(struct ndd_follower *f)
{
	be_due(f, &f->session->account.principal->due);
}

void
ndd_follower_remove(struct ndd_follower *f)
{
	ndd_follower_wait_no_more(f);
	be_not_due(f);
	TAILQ_REMOVE(&all_of(f)->all, f, next);
}

void
ndd_follower_wait(struct ndd_follower *f, enum ndd_wait what, uint64_t now_ns)
{
	struct ndd_followers *all = all_of(f);

	stop_waiting(f);
	f->deadline_ns = now_ns + wait_ns[what];
	f->waits = &all->waiting[what];
	TAILQ_INSERT_TAIL(f->waits, f, next_waiting);
	tick_by(all, f->deadline_ns);
}

void
ndd_follower_wait_no_more(struct ndd_follower *f)
{
	stop_waiting(f);
	f->deadline_ns = UINT64_MAX;
}

void
ndd_follower_is_due(struct ndd_follower *f)
{
	go_first(f);
	tick_by(all_of(f), 0);
}

/* ---- one tick ------------------------------------------------------------------------------ */

/* Next hops have changed: all follow theirs, some per call. False: no more of them. */
static bool
followers_sweep(struct ndd_followers *all)
{
	for (unsigned i = 0; i < PER_CALL; i++) {
		struct ndd_follower *f = TAILQ_FIRST(&all->all);
		enum ndd_follow how;

		if (f == NULL || f->swept == all->sweep)
			return false;
		f->swept = all->sweep;
		TAILQ_REMOVE(&all->all, f, next);
		TAILQ_INSERT_TAIL(&all->all, f, next);
		how = f->kind->moved(f);
		if (how == NDD_FOLLOW_FIRST)
			go_first(f);
		else if (how == NDD_FOLLOW_BEHIND && f->due == NULL)
			be_due(f, &f->session->account.principal->moved);
	}
	return true;
}

/* Those whose time has come are due. */
static void
followers_expire(struct ndd_follower_list *list, uint64_t now_ns)
{
	struct ndd_follower *f;

	for (unsigned i = 0; i < PER_CALL; i++) {
		f = TAILQ_FIRST(list);
		if (f == NULL || f->deadline_ns > now_ns)
			break;
		stop_waiting(f);
		go_first(f);
	}
}

/* A neighbour that answers, or moves, makes thousands due at once, and each may wait for its
 * lcore. */
static void
take_turn(struct ndd_principal *p, struct ndd_follower *f, uint64_t now_ns)
{
	uint64_t began_ns = ndd_now_ns();

	be_not_due(f);
	if (!f->session->ended) /* else it is being taken down */
		f->kind->go_on(f, now_ns);
	(void)ndd_principal_charge(p, began_ns);
}

/* A host that moves on the network makes all follow it: what is due otherwise comes before that.
 * False: none of the principal's is due any more. */
static bool
principal_go_on(struct ndd_principal *p, uint64_t now_ns)
{
	while (!TAILQ_EMPTY(&p->due) && ndd_principal_has_time(p))
		take_turn(p, TAILQ_FIRST(&p->due), now_ns);
	while (!TAILQ_EMPTY(&p->moved) && ndd_principal_has_time(p))
		take_turn(p, TAILQ_FIRST(&p->moved), now_ns);
	return !TAILQ_EMPTY(&p->due) || !TAILQ_EMPTY(&p->moved);
}

static bool
is_time(struct ndd_followers *all, const struct net *net, uint64_t now_ns)
{
	uint64_t generation = net_generation(net);

	if (generation == all->generation && now_ns < all->deadline_ns)
		return false;
	all->sweep += generation != all->generation;
	all->generation = generation;
	all->deadline_ns = UINT64_MAX;
	return true;
}

void
ndd_followers_tick(struct ndd *d, uint64_t now_ns)
{
	struct ndd_followers *all = &d->followers;
	struct ndd_principal *p;
	bool more;

	if (!is_time(all, d->net, now_ns))
		return;
	more = followers_sweep(all);
	for (unsigned i = 0; i < NDD_WAITS; i++)
		followers_expire(&all->waiting[i], now_ns);
	TAILQ_FOREACH (p, &d->accounts.principals, next)
		more = principal_go_on(p, now_ns) || more;
	if (more)
		tick_by(all, 0);
	for (unsigned i = 0; i < NDD_WAITS; i++)
		if (!TAILQ_EMPTY(&all->waiting[i]))
			tick_by(all, TAILQ_FIRST(&all->waiting[i])->deadline_ns);
}

/* ---- paths that are lost ------------------------------------------------------------------- */

void
ndd_followers_end(struct ndd *d, ndd_path_lost *lost, const void *arg, const char *why)
{
	struct ndd_follower *f;

	TAILQ_FOREACH (f, &d->followers.all, next) {
		struct roce_path path = {0};

		if (f->kind->addresses(f, &path) && lost(d, &path, arg))
			f->kind->end(f, why);
	}
}
