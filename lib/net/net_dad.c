/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Duplicate address detection (RFC 5227 for IPv4, RFC 4862 for IPv6). Before an address is used,
 * the link is asked whether another station has it; if no answer comes, the address is announced.
 * While it is used, it is defended as RFC 5227, section 2.4 (c) has it: a station that claims it is
 * sent an announcement, at most every ten seconds, and the address stays. An operator gave it to a
 * host with connections; if the host gave way, any station could end them with two frames.
 */
#include <string.h>

#include "net/net_address.h"
#include "net/net_dad.h"
#include "net/net_group.h"
#include "net/net_neigh.h"
#include "net/net_proto.h"
#include "net/net_state.h"

#define DEFEND_NS (10 * NET_S)

struct times {
	uint8_t probes;
	uint64_t delay_ns;	    /* at most, before the first */
	uint64_t least_ns, most_ns; /* between two */
	uint64_t last_ns;	    /* for answers to the last */
};

static const struct times *
times_of(const struct net *n, const struct net_address *a)
{
	static const struct times quick = {3, 0, 100 * NET_MS, 100 * NET_MS, 100 * NET_MS};
	/* PROBE_WAIT, PROBE_NUM, PROBE_MIN, PROBE_MAX, ANNOUNCE_WAIT */
	static const struct times rfc5227 = {3, NET_S, NET_S, 2 * NET_S, 2 * NET_S};
	/* MAX_RTR_SOLICITATION_DELAY, DupAddrDetectTransmits, RetransTimer */
	static const struct times rfc4862 = {1, NET_S, NET_S, NET_S, NET_S};

	if (n->link[a->link].dad == NET_DAD_QUICK)
		return &quick;
	return net_ip_is_v4(&a->ip) ? &rfc5227 : &rfc4862;
}

/* ---- events ---- */

static void
event_raise(
	struct net *n, enum net_event_type type, const struct net_address *a, const uint8_t mac[6])
{
	struct net_event *ev = &n->event[n->event_tail % NET_EVENTS];

	if (n->event_tail - n->event_head == NET_EVENTS)
		return;
	*ev = (struct net_event){.type = type,
		.port = n->link[a->link].port,
		.vlan = n->link[a->link].vlan,
		.ip = a->ip};
	memcpy(ev->mac, mac, 6);
	n->event_tail++;
}

bool
net_event(struct net *n, struct net_event *ev)
{
	if (n->event_head == n->event_tail)
		return false;
	*ev = n->event[n->event_head++ % NET_EVENTS];
	return true;
}

/* ---- states ---- */

/* False: there was no room for the frame. */
static bool
address_announce(struct net *n, const struct net_address *a)
{
	return net_ip_is_v4(&a->ip) ? net_arp_announce(n, a) : net_nd_announce(n, a);
}

static bool
address_probe(struct net *n, const struct net_address *a)
{
	return net_ip_is_v4(&a->ip) ? net_arp_probe(n, a) : net_nd_probe(n, a);
}

static void
address_becomes_ours(struct net *n, struct net_address *a)
{
	if (a->state != ADDRESS_VALID)
		net_address_changed(n, a);
	a->state = ADDRESS_VALID;
	a->left = n->link[a->link].shared ? 0 : NET_ANNOUNCEMENTS;
	a->due_ns = 0;
	a->defended = false;
	n->generation++;
	net_deadline(n, 0);
}

void
net_dad_start(struct net *n, struct net_address *a)
{
	if (n->link[a->link].dad == NET_DAD_OFF) {
		address_becomes_ours(n, a);
		return;
	}
	a->state = ADDRESS_TENTATIVE;
	a->left = times_of(n, a)->probes;
	a->begun = false;
	a->due_ns = 0;
	net_deadline(n, 0);
}

static void
address_next_probe(struct net *n, uint64_t now_ns, struct net_address *a)
{
	const struct times *t = times_of(n, a);

	if (!a->begun) {
		a->begun = true;
		a->due_ns = now_ns + net_random(n, 0, t->delay_ns);
		if (a->due_ns > now_ns)
			return;
	}
	if (a->left == 0) {
		address_becomes_ours(n, a);
		return;
	}
	if (!address_probe(n, a)) { /* nobody was asked */
		a->due_ns = now_ns + NET_TX_WAIT_NS;
		return;
	}
	a->left--;
	a->due_ns = now_ns + (a->left > 0 ? net_random(n, t->least_ns, t->most_ns) : t->last_ns);
}

void
net_dad_tick(struct net *n, uint64_t now_ns, struct net_address *a)
{
	if (a->state == ADDRESS_TENTATIVE && a->due_ns <= now_ns)
		address_next_probe(n, now_ns, a);
	if (a->state == ADDRESS_VALID && a->left > 0 && a->due_ns <= now_ns) {
		const bool sent = address_announce(n, a);

		a->left -= sent;
		a->due_ns = now_ns + (sent ? NET_S : NET_TX_WAIT_NS);
	}
	if (a->state == ADDRESS_TENTATIVE || (a->state == ADDRESS_VALID && a->left > 0))
		net_deadline(n, a->due_ns);
}

/* ---- conflicts ---- */

static void
address_give_up(struct net *n, struct net_address *a, const uint8_t mac[6])
{
	n->counters.address_conflicts++;
	a->state = ADDRESS_TAKEN;
	event_raise(n, NET_EV_TAKEN, a, mac);
}

bool
net_conflict(struct net *n, uint64_t now_ns, uint32_t link, const struct net_ip *ip,
	const uint8_t mac[6])
{
	struct net_address *a = net_address_find(n, link, ip);

	if (a == NULL || a->state == ADDRESS_TAKEN)
		return false;
	if (a->state == ADDRESS_TENTATIVE) {
		address_give_up(n, a, mac);
		return true;
	}
	n->counters.address_conflicts++;
	if (a->defended && now_ns - a->defended_ns < DEFEND_NS)
		return true;
	a->defended = true;
	a->defended_ns = now_ns;
	(void)address_announce(n, a);
	event_raise(n, NET_EV_CLAIMED, a, mac);
	return true;
}

void
net_rival(struct net *n, uint32_t link, const struct net_ip *ip, const uint8_t mac[6])
{
	struct net_address *a = net_address_find(n, link, ip);

	if (a != NULL && a->state == ADDRESS_TENTATIVE)
		address_give_up(n, a, mac);
}

void
net_port_up(struct net *n, uint64_t now_ns, uint32_t port)
{
	for (uint32_t i = 0; i < n->links; i++)
		if (n->link[i].port == port)
			net_neigh_doubt(n, now_ns, i);
	net_group_port_up(n, port);
	for (uint32_t i = 0; i < n->addresses; i++) {
		struct net_address *a = &n->address[i];

		if (n->link[a->link].port != port)
			continue;
		if (a->state == ADDRESS_VALID)
			address_becomes_ours(n, a);
		else
			net_dad_start(n, a);
	}
}
