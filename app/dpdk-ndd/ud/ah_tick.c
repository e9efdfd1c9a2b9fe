/* SPDX-License-Identifier: BSD-3-Clause */
#include "ud/ah_tick.h"

#include "control/daemon.h"
#include "platform/clock.h"
#include "session/session.h"
#include "ud/ah.h"

#define PER_CALL 256u /* of each list of the daemon's */

/* ---- lists --------------------------------------------------------------------------------- */

/* Those whose sweep is the oldest come first. */
void
ndd_ah_enlist(struct ndd_ah *ah)
{
	struct ndd *d = ah->session->daemon;

	ah->swept = d->ah_sweep;
	TAILQ_INSERT_TAIL(&d->ahs, ah, next);
}

static void
ah_is_not_due(struct ndd_ah *ah)
{
	if (ah->due != NULL)
		TAILQ_REMOVE(ah->due, ah, next_due);
	ah->due = NULL;
}

void
ndd_ah_unlist(struct ndd_ah *ah)
{
	ndd_ah_wait_no_more(ah);
	ah_is_not_due(ah);
	TAILQ_REMOVE(&ah->session->daemon->ahs, ah, next);
}

static void
ah_stop_waiting(struct ndd_ah *ah)
{
	if (ah->waits)
		TAILQ_REMOVE(&ah->session->daemon->resolving_ahs, ah, next_waiting);
	ah->waits = false;
}

void
ndd_ah_wait(struct ndd_ah *ah, uint64_t deadline_ns)
{
	struct ndd *d = ah->session->daemon;

	ah_stop_waiting(ah);
	ah->deadline_ns = deadline_ns;
	ah->waits = true;
	TAILQ_INSERT_TAIL(&d->resolving_ahs, ah, next_waiting);
	ndd_hops_until(&d->ah_hops, deadline_ns);
}

void
ndd_ah_wait_no_more(struct ndd_ah *ah)
{
	ah_stop_waiting(ah);
	ah->deadline_ns = UINT64_MAX;
}

static void
ah_be_due(struct ndd_ah *ah, struct ndd_ah_list *list)
{
	if (ah->due == list)
		return;
	ah_is_not_due(ah);
	ah->due = list;
	TAILQ_INSERT_TAIL(list, ah, next_due);
}

/* Before what follows next hops that may not have changed at all. */
static void
ah_goes_first(struct ndd_ah *ah)
{
	ah_be_due(ah, &ah->session->account.principal->due_ahs);
}

void
ndd_ah_is_due(struct ndd_ah *ah)
{
	ah_goes_first(ah);
	ndd_hops_until(&ah->session->daemon->ah_hops, 0);
}

/* ---- all of them --------------------------------------------------------------------------- */

/* Next hops have changed: all follow theirs, some per call. False: no more of them. */
static bool
ahs_sweep(struct ndd *d)
{
	for (unsigned i = 0; i < PER_CALL; i++) {
		struct ndd_ah *ah = TAILQ_FIRST(&d->ahs);

		if (ah == NULL || ah->swept == d->ah_sweep)
			return false;
		TAILQ_REMOVE(&d->ahs, ah, next);
		ndd_ah_enlist(ah);
		if (ah->state == NDD_AH_RESOLVING)
			ah_goes_first(ah);
		else if (ah->state == NDD_AH_READY && ah->due == NULL)
			ah_be_due(ah, &ah->session->account.principal->moved_ahs);
	}
	return true;
}

/* Those whose time has come are due. */
static void
ahs_expire(struct ndd *d, uint64_t now_ns)
{
	struct ndd_ah *ah;

	for (unsigned i = 0; i < PER_CALL; i++) {
		ah = TAILQ_FIRST(&d->resolving_ahs);
		if (ah == NULL || ah->deadline_ns > now_ns)
			break;
		ah_stop_waiting(ah);
		ah_goes_first(ah);
	}
}

/* A neighbour that answers, or moves, makes thousands of handles due at once, and each may wait for
 * its lcore. */
static void
ah_take_turn(struct ndd_principal *p, struct ndd_ah *ah, uint64_t now_ns)
{
	uint64_t began_ns = ndd_now_ns();

	ah_is_not_due(ah);
	if (ah->session->ended) /* it is being taken down */
		return;
	ndd_ah_go_on(ah, now_ns);
	(void)ndd_principal_charge(p, began_ns);
}

/* A host that moves on the network makes all handles follow it: what is due otherwise comes before
 * that. False: none of the principal's handles is due any more. */
static bool
principal_go_on(struct ndd_principal *p, uint64_t now_ns)
{
	while (!TAILQ_EMPTY(&p->due_ahs) && ndd_principal_has_time(p))
		ah_take_turn(p, TAILQ_FIRST(&p->due_ahs), now_ns);
	while (!TAILQ_EMPTY(&p->moved_ahs) && ndd_principal_has_time(p))
		ah_take_turn(p, TAILQ_FIRST(&p->moved_ahs), now_ns);
	return !TAILQ_EMPTY(&p->due_ahs) || !TAILQ_EMPTY(&p->moved_ahs);
}

void
ndd_ah_tick(struct ndd *d, uint64_t now_ns)
{
	struct ndd_principal *p;
	struct ndd_ah *first;
	bool moved, more;

	if (!ndd_hops_begin(&d->ah_hops, d->net, now_ns, &moved))
		return;
	d->ah_sweep += moved;
	more = ahs_sweep(d);
	ahs_expire(d, now_ns);
	TAILQ_FOREACH (p, &d->accounts.principals, next)
		more = principal_go_on(p, now_ns) || more;
	if (more)
		ndd_hops_until(&d->ah_hops, 0);
	first = TAILQ_FIRST(&d->resolving_ahs);
	if (first != NULL)
		ndd_hops_until(&d->ah_hops, first->deadline_ns);
}
