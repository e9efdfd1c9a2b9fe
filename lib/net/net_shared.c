/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links that the kernel has as well. It alone answers ARP, neighbour discovery and ping there, and
 * knows the ways; what the neighbour table asks on other links by frames, it asks here by questions
 * to the kernel, with the same patience. An entry is of a destination: which neighbour leads there
 * is the kernel's to say, with all of its tables and rules, and e->hop keeps its answer, so that
 * what becomes of that neighbour is known to be of this entry. The kernel tells what becomes of all
 * of its neighbours, and any station on the link can be many of these: those that are no hop of
 * ours cost a look at a chain.
 */
#include "base/siphash.h"
#include "net/net_address.h"
#include "net/net_neigh.h"
#include "net/net_shared.h"
#include "net/net_state.h"

static const struct net_ip no_hop;

bool
net_shared_ask(struct net *n, const struct net_neigh *e)
{
	if (n->question_tail - n->question_head == NET_QUESTIONS)
		return false;
	n->question[n->question_tail++ % NET_QUESTIONS] = (struct net_question){
		.port = n->link[e->link].port, .source = e->source, .ip = e->ip};
	return true;
}

bool
net_question(struct net *n, struct net_question *q)
{
	if (n->question_head == n->question_tail)
		return false;
	*q = n->question[n->question_head++ % NET_QUESTIONS];
	return true;
}

/* The port's link, if it is shared. */
static bool
find_shared_link(const struct net *n, uint32_t port, uint32_t *link)
{
	int found = net_link_find(n, port, 0);

	*link = (uint32_t)found;
	return found >= 0 && n->link[found].shared;
}

/* ---- hops ---- */

static uint32_t *
hop_chain(const struct net *n, const struct net_ip *hop)
{
	return &n->hop_bucket[ndsh_siphash_address(n->cfg.secret, hop->b) >> (64 - n->bucket_bits)];
}

void
net_shared_forget(struct net *n, struct net_neigh *e)
{
	if (net_ip_is_zero(&e->hop))
		return;
	if (e->hop_prev != NET_NONE)
		n->neigh[e->hop_prev].hop_next = e->hop_next;
	else
		*hop_chain(n, &e->hop) = e->hop_next;
	if (e->hop_next != NET_NONE)
		n->neigh[e->hop_next].hop_prev = e->hop_prev;
	e->hop = no_hop;
}

static void
hop_set(struct net *n, struct net_neigh *e, const struct net_ip *hop)
{
	const uint32_t index = (uint32_t)(e - n->neigh);
	uint32_t *chain = hop_chain(n, hop);

	net_shared_forget(n, e);
	if (net_ip_is_zero(hop))
		return;
	e->hop = *hop;
	e->hop_prev = NET_NONE;
	e->hop_next = *chain;
	if (*chain != NET_NONE)
		n->neigh[*chain].hop_prev = index;
	*chain = index;
}

/* ---- what the kernel tells ---- */

void
net_told_way(struct net *n, uint64_t now_ns, uint32_t port, const struct net_ip *ip,
	const struct net_ip *hop)
{
	struct net_neigh *e;
	uint32_t link;

	if (!find_shared_link(n, port, &link))
		return;
	e = net_neigh_find(n, link, ip);
	if (e == NULL)
		return;
	hop_set(n, e, hop != NULL ? hop : &no_hop);
	if (hop == NULL && e->state != NEIGH_FAILED)
		net_neigh_fail(n, now_ns, e);
}

/*
 * What a table of the kernel has lost (ip neigh flush) need not be wrong: a MAC that was known is
 * in use until the kernel, asked again, gets no answer from it.
 */
static void
neigh_lost_by_kernel(struct net *n, uint64_t now_ns, struct net_neigh *e)
{
	if (e->state == NEIGH_INCOMPLETE)
		net_neigh_fail(n, now_ns, e);
	else if (e->state == NEIGH_REACHABLE)
		net_neigh_probe(n, now_ns, e);
}

void
net_told_neighbour(struct net *n, uint64_t now_ns, uint32_t port, const struct net_ip *hop,
	const uint8_t mac[6])
{
	uint32_t link;

	if (!find_shared_link(n, port, &link))
		return;
	for (uint32_t i = *hop_chain(n, hop); i != NET_NONE; i = n->neigh[i].hop_next) {
		struct net_neigh *e = &n->neigh[i];

		if (e->link != link || !net_ip_equal(&e->hop, hop))
			continue;
		if (mac != NULL)
			net_neigh_learn(n, now_ns, e, mac);
		else
			neigh_lost_by_kernel(n, now_ns, e);
	}
}

void
net_told_changes(struct net *n, uint64_t now_ns, uint32_t port)
{
	uint32_t link;

	if (find_shared_link(n, port, &link))
		net_neigh_doubt(n, now_ns, link);
}
