/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighbour table. An entry is made because we want to send, so it has users, or because
 * another station asked for our address. Entries of the second kind never push out those of the
 * first, so a station that asks under a thousand names costs its own entries only; nor does one
 * user push out others (net_owner.h).
 */
#include <string.h>

#include "base/siphash.h"
#include "net/net_address.h"
#include "net/net_neigh.h"
#include "net/net_owner.h"
#include "net/net_proto.h"
#include "net/net_shared.h"
#include "net/net_state.h"

#define REACHABLE_NS   (30 * NET_S)
#define STALE_NS       (600 * NET_S)  /* a MAC that we do not use is kept for so long */
#define IN_USE_NS      (3600 * NET_S) /* and asked for again and again if it was wanted lately */
#define FAILED_NS      (1 * NET_S)
#define DOUBT_APART_NS (2 * NET_MS)

/* Waits after each question. The first answer is often lost to a bridge that still learns. */
static const uint64_t ask_wait_ns[] = {100 * NET_MS, 300 * NET_MS, NET_S, NET_S};
#define ASKS 4u
/* A known MAC is asked three times, then the whole link three times: a neighbour may have moved. */
#define PROBES_UNICAST 3u
#define PROBES	       6u

static uint32_t *
bucket_of(const struct net *n, const struct net_ip *ip)
{
	return &n->bucket[ndsh_siphash_address(n->cfg.secret, ip->b) >> (64 - n->bucket_bits)];
}

void
net_neigh_init(struct net *n)
{
	for (uint32_t i = 0; i < 1u << n->bucket_bits; i++)
		n->bucket[i] = n->hop_bucket[i] = NET_NONE;
	n->free_neigh = NET_NONE;
	for (uint32_t i = n->cfg.max_neighbours; i-- > 0;) {
		n->neigh[i].next = n->free_neigh;
		n->free_neigh = i;
	}
}

struct net_neigh *
net_neigh_find(const struct net *n, uint32_t link, const struct net_ip *ip)
{
	for (uint32_t i = *bucket_of(n, ip); i != NET_NONE; i = n->neigh[i].next) {
		struct net_neigh *e = &n->neigh[i];

		if (net_ip_equal(&e->ip, ip) && (link == NET_NONE || e->link == link))
			return e;
	}
	return NULL;
}

static void
neigh_free(struct net *n, struct net_neigh *e)
{
	uint32_t index = (uint32_t)(e - n->neigh), *link = bucket_of(n, &e->ip);

	while (*link != index)
		link = &n->neigh[*link].next;
	*link = e->next;
	n->asking[e->asker] -= e->state == NEIGH_INCOMPLETE;
	net_owner_loses(n, e);
	e->state = NEIGH_FREE;
	e->next = n->free_neigh;
	n->free_neigh = index;
	net_shared_forget(n, e);
}

static bool
make_room(struct net *n, unsigned owner)
{
	struct net_neigh *least;

	if (n->free_neigh != NET_NONE)
		return true;
	least = net_owner_displaces(n, owner);
	if (least == NULL)
		return false;
	neigh_free(n, least);
	n->counters.neighbours_evicted++;
	return true;
}

static struct net_neigh *
neigh_create(struct net *n, uint64_t now_ns, unsigned owner, uint32_t link, const struct net_ip *ip)
{
	uint32_t index, *bucket = bucket_of(n, ip);
	struct net_neigh *e;

	if (!make_room(n, owner))
		return NULL;
	index = n->free_neigh;
	e = &n->neigh[index];
	n->free_neigh = e->next;
	*e = (struct net_neigh){
		.ip = *ip, .link = (uint8_t)link, .used_ns = now_ns, .next = *bucket};
	*bucket = index;
	if (owner != NET_OWNER_NOBODY)
		net_owner_uses(n, e, owner);
	return e;
}

/* ---- the state machine ---- */

static void
neigh_set_state(
	struct net *n, struct net_neigh *e, enum net_neigh_state state, uint64_t deadline_ns)
{
	n->asking[e->asker] += state == NEIGH_INCOMPLETE;
	n->asking[e->asker] -= e->state == NEIGH_INCOMPLETE;
	e->state = (uint8_t)state;
	e->deadline_ns = deadline_ns;
	net_deadline(n, deadline_ns);
}

static bool
neigh_ask(struct net *n, const struct net_neigh *e, const uint8_t *dmac)
{
	if (n->link[e->link].shared)
		return net_shared_ask(n, e);
	if (net_ip_is_v4(&e->ip))
		return net_arp_request(n, e->link, &e->source, &e->ip, dmac);
	return net_nd_solicit(n, e->link, &e->source, &e->ip, dmac);
}

void
net_neigh_fail(struct net *n, uint64_t now_ns, struct net_neigh *e)
{
	neigh_set_state(n, e, NEIGH_FAILED, now_ns + FAILED_NS);
	n->counters.neighbours_failed++;
	n->generation++;
}

/* A question that found no room was not asked, and says nothing of the neighbour. */
static void
next_ask(struct net *n, uint64_t now_ns, struct net_neigh *e)
{
	if (e->tries == ASKS) {
		net_neigh_fail(n, now_ns, e);
		return;
	}
	if (!neigh_ask(n, e, NULL)) {
		neigh_set_state(n, e, NEIGH_INCOMPLETE, now_ns + NET_TX_WAIT_NS);
		return;
	}
	neigh_set_state(n, e, NEIGH_INCOMPLETE, now_ns + ask_wait_ns[e->tries]);
	e->tries++;
}

static void
neigh_next_probe(struct net *n, uint64_t now_ns, struct net_neigh *e)
{
	if (e->tries == PROBES) {
		net_neigh_fail(n, now_ns, e);
		return;
	}
	if (!neigh_ask(n, e, e->tries < PROBES_UNICAST ? e->mac : NULL)) {
		neigh_set_state(n, e, NEIGH_PROBE, now_ns + NET_TX_WAIT_NS);
		return;
	}
	neigh_set_state(n, e, NEIGH_PROBE, now_ns + NET_S);
	e->tries++;
}

static void
neigh_probe(struct net *n, uint64_t now_ns, struct net_neigh *e, uint8_t first_try)
{
	e->tries = first_try;
	neigh_next_probe(n, now_ns, e);
}

static void
neigh_confirm(struct net *n, uint64_t now_ns, struct net_neigh *e)
{
	neigh_set_state(n, e, NEIGH_REACHABLE, now_ns + REACHABLE_NS);
}

void
net_neigh_probe(struct net *n, uint64_t now_ns, struct net_neigh *e)
{
	neigh_probe(n, now_ns, e, 0);
}

void
net_neigh_learn(struct net *n, uint64_t now_ns, struct net_neigh *e, const uint8_t mac[6])
{
	if (e->state == NEIGH_INCOMPLETE || e->state == NEIGH_FAILED ||
		memcmp(e->mac, mac, 6) != 0) {
		memcpy(e->mac, mac, 6);
		n->counters.neighbours_resolved++;
		n->generation++;
	}
	neigh_confirm(n, now_ns, e);
}

struct net_neigh *
net_neigh_use(struct net *n, uint64_t now_ns, uint32_t owner, uint32_t link,
	const struct net_ip *ip, const struct net_ip *source)
{
	struct net_neigh *e = net_neigh_find(n, link, ip);
	unsigned place = net_owner_place(owner);

	if (e == NULL) {
		if (net_owner_may_ask(n, place))
			e = neigh_create(n, now_ns, place, link, ip);
		if (e == NULL) {
			n->counters.neighbours_deferred++;
			return NULL;
		}
		e->asker = (uint8_t)place;
		e->source = *source;
		next_ask(n, now_ns, e);
		return e;
	}
	net_owner_uses(n, e, place);
	e->used_ns = now_ns;
	e->source = *source;
	if (e->state == NEIGH_STALE)
		neigh_probe(n, now_ns, e, 0);
	return e;
}

void
net_neigh_answer(
	struct net *n, uint64_t now_ns, uint32_t link, const struct net_ip *ip, const uint8_t *mac)
{
	struct net_neigh *e = net_neigh_find(n, link, ip);

	if (e == NULL)
		return;
	if (e->state != NEIGH_INCOMPLETE && e->state != NEIGH_PROBE) {
		/* Not asked for, whatever it says of itself. */
		net_neigh_rumour(n, now_ns, link, ip, mac);
		return;
	}
	net_neigh_learn(n, now_ns, e, mac);
}

void
net_neigh_asked(struct net *n, uint64_t now_ns, uint32_t link, const struct net_ip *ip,
	const uint8_t mac[6])
{
	const struct net_address *a = net_connected(n, link, ip);
	struct net_neigh *e = net_neigh_find(n, link, ip);

	if (a == NULL) /* behind the gateway, or 0.0.0.0: it asks whether an address is free */
		return;
	if (e == NULL) {
		e = neigh_create(n, now_ns, NET_OWNER_NOBODY, link, ip);
		if (e == NULL)
			return;
		memcpy(e->mac, mac, 6);
		e->source = a->ip;
		neigh_set_state(n, e, NEIGH_STALE, now_ns + STALE_NS);
	} else if (e->state == NEIGH_INCOMPLETE || e->state == NEIGH_FAILED) {
		/* Good enough to begin with, and asked back at once. */
		memcpy(e->mac, mac, 6);
		n->counters.neighbours_resolved++;
		n->generation++;
		neigh_probe(n, now_ns, e, 0);
	} else {
		net_neigh_rumour(n, now_ns, link, ip, mac);
	}
}

/* The whole link is asked anew, and meanwhile the old MAC holds: a station that really moved will
 * answer. A MAC that was confirmed a moment ago stands, so that rumours can't make us ask in a
 * storm. */
void
net_neigh_rumour(struct net *n, uint64_t now_ns, uint32_t link, const struct net_ip *ip,
	const uint8_t mac[6])
{
	struct net_neigh *e = net_neigh_find(n, link, ip);

	if (e == NULL || memcmp(e->mac, mac, 6) == 0)
		return;
	if (e->state == NEIGH_STALE && e->users == 0)
		memcpy(e->mac, mac, 6); /* it was hearsay before */
	else if (e->state == NEIGH_STALE ||
		 (e->state == NEIGH_REACHABLE && e->deadline_ns - now_ns < REACHABLE_NS - NET_S))
		neigh_probe(n, now_ns, e, PROBES_UNICAST);
}

void
net_confirm(struct net *n, uint64_t now_ns, const struct net_ip *ip, const uint8_t mac[6])
{
	struct net_neigh *e = net_neigh_find(n, NET_NONE, ip);

	if (e != NULL && n->link[e->link].shared) {
		e->used_ns = now_ns; /* the kernel's neighbours are the kernel's to confirm */
		return;
	}
	if (e == NULL || memcmp(e->mac, mac, 6) != 0 || e->state == NEIGH_INCOMPLETE ||
		e->state == NEIGH_FAILED)
		return;
	if (e->users != 0)
		e->used_ns = now_ns;
	neigh_confirm(n, now_ns, e);
}

void
net_neigh_forget(struct net *n, uint32_t link, const struct net_ip *source)
{
	for (uint32_t i = 0; i < n->cfg.max_neighbours; i++) {
		struct net_neigh *e = &n->neigh[i];

		if (e->state != NEIGH_FREE && e->link == link &&
			(source == NULL || net_ip_equal(&e->source, source)))
			neigh_free(n, e);
	}
}

void
net_neigh_doubt(struct net *n, uint64_t now_ns, uint32_t link)
{
	uint64_t at_ns = now_ns;

	for (uint32_t i = 0; i < n->cfg.max_neighbours; i++) {
		struct net_neigh *e = &n->neigh[i];

		if (e->state == NEIGH_FREE || e->link != link)
			continue;
		if (e->state == NEIGH_FAILED) {
			neigh_free(n, e);
			n->generation++;
		} else if (e->state == NEIGH_REACHABLE) {
			at_ns += DOUBT_APART_NS; /* or sooner, however often this is called */
			if (at_ns < e->deadline_ns)
				neigh_set_state(n, e, NEIGH_REACHABLE, at_ns);
		}
	}
}

static void
run_timer(struct net *n, uint64_t now_ns, struct net_neigh *e)
{
	switch ((enum net_neigh_state)e->state) {
	case NEIGH_INCOMPLETE:
		next_ask(n, now_ns, e);
		break;
	case NEIGH_REACHABLE:
		if (e->users != 0 && now_ns - e->used_ns < IN_USE_NS)
			neigh_probe(n, now_ns, e, 0);
		else
			neigh_set_state(n, e, NEIGH_STALE, now_ns + STALE_NS);
		break;
	case NEIGH_PROBE:
		neigh_next_probe(n, now_ns, e);
		break;
	case NEIGH_STALE:
	case NEIGH_FAILED:
		neigh_free(n, e);
		break;
	case NEIGH_FREE:
		break;
	}
}

void
net_neigh_tick(struct net *n, uint64_t now_ns)
{
	for (uint32_t i = 0; i < n->cfg.max_neighbours; i++) {
		struct net_neigh *e = &n->neigh[i];

		if (e->state == NEIGH_FREE)
			continue;
		if (e->deadline_ns <= now_ns)
			run_timer(n, now_ns, e);
		if (e->state != NEIGH_FREE)
			net_deadline(n, e->deadline_ns);
	}
}
