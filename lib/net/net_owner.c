/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/net_owner.h"

/* Half of the table is reserved in equal parts for all owners that there may be. */
static uint32_t
reserve_of_each(const struct net *n)
{
	return n->cfg.max_neighbours / (2 * NET_OWNERS);
}

void
net_owner_uses(struct net *n, struct net_neigh *e, unsigned owner)
{
	uint64_t bit = UINT64_C(1) << owner;

	if ((e->users & bit) || (owner == NET_OWNER_HOST && e->users != 0))
		return;
	e->users |= bit;
	n->held[owner]++;
}

void
net_owner_loses(struct net *n, const struct net_neigh *e)
{
	for (uint64_t left = e->users; left != 0; left &= left - 1)
		n->held[__builtin_ctzll(left)]--;
}

bool
net_owner_may_ask(const struct net *n, unsigned owner)
{
	return n->asking[owner] < NET_ASKING_MAX;
}

/* Is e used by owner alone, or by such as have more than it, and more than is theirs? Of one that
 * owner uses as well it is enough that they have as many. */
static bool
has_to_yield(const struct net *n, const struct net_neigh *e, unsigned owner)
{
	bool shared = e->users >> owner & 1;
	uint32_t least = n->held[owner] + !shared, reserve = reserve_of_each(n);

	for (uint64_t left = e->users; left != 0; left &= left - 1) {
		unsigned user = (unsigned)__builtin_ctzll(left);

		if (user != owner && (n->held[user] <= reserve || n->held[user] < least))
			return false;
	}
	return true;
}

/* What e is worth to those that owner may displace: failed ones first, then those that nobody
 * wanted, those of others, and at last its own. */
enum worth { WORTH_FAILED, WORTH_UNUSED, WORTH_OTHERS, WORTH_OWN, WORTH_TOO_MUCH };

static enum worth
worth_to(const struct net *n, const struct net_neigh *e, unsigned owner)
{
	if (e->state == NEIGH_FAILED)
		return WORTH_FAILED;
	if (e->users == 0)
		return WORTH_UNUSED;
	if (owner == NET_OWNER_NOBODY || !has_to_yield(n, e, owner))
		return WORTH_TOO_MUCH;
	return e->users == UINT64_C(1) << owner ? WORTH_OWN : WORTH_OTHERS;
}

/* Of two of the same worth the one that was not used for longer. */
struct net_neigh *
net_owner_displaces(const struct net *n, unsigned owner)
{
	enum worth least_worth = WORTH_TOO_MUCH;
	struct net_neigh *least = NULL;

	for (uint32_t i = 0; i < n->cfg.max_neighbours; i++) {
		struct net_neigh *e = &n->neigh[i];
		enum worth worth = worth_to(n, e, owner);

		if (worth > least_worth || worth == WORTH_TOO_MUCH ||
			(worth == least_worth && e->used_ns >= least->used_ns))
			continue;
		least = e;
		least_worth = worth;
	}
	return least;
}
