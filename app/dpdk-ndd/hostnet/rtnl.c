/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "hostnet/rtnl.h"

#define BUFFER	     32768 /* of one read: as much as the kernel puts into one message of a dump */
#define EVENTS_BYTES (1 << 20)

/* ---- addresses ---- */

static uint8_t
family_of(const struct net_ip *ip)
{
	return net_ip_is_v4(ip) ? AF_INET : AF_INET6;
}

static void
put_ip(struct nlmsghdr *h, uint16_t type, const struct net_ip *ip)
{
	if (net_ip_is_v4(ip))
		mnl_attr_put(h, type, 4, ip->b + 12);
	else
		mnl_attr_put(h, type, 16, ip->b);
}

/* False: no address of that family. */
static bool
read_ip(struct net_ip *ip, int family, const void *from, size_t bytes)
{
	if (family == AF_INET && bytes == 4) {
		net_ip_from_v4(ip, from);
		return true;
	}
	if (family != AF_INET6 || bytes != 16)
		return false;
	memcpy(ip->b, from, 16);
	return true;
}

static bool
get_ip(struct net_ip *ip, int family, const struct nlattr *a)
{
	return a != NULL &&
	       read_ip(ip, family, mnl_attr_get_payload(a), mnl_attr_get_payload_len(a));
}

/* ---- messages ---- */

/* The attributes of a message by their type, up to most. */
static void
read_attributes(
	const struct nlmsghdr *h, size_t header, const struct nlattr **by_type, uint16_t most)
{
	const struct nlattr *a;

	memset(by_type, 0, (most + 1u) * sizeof(*by_type));
	mnl_attr_for_each(a, h, header)
	{
		if (mnl_attr_get_type(a) <= most)
			by_type[mnl_attr_get_type(a)] = a;
	}
}

static bool
get_mac(uint8_t mac[6], const struct nlattr *a)
{
	if (a == NULL || mnl_attr_get_payload_len(a) != 6)
		return false;
	memcpy(mac, mnl_attr_get_payload(a), 6);
	return true;
}

static void
on_link(const struct nlmsghdr *h, const struct ndd_rtnl_callbacks *callbacks)
{
	const struct ifinfomsg *i = mnl_nlmsg_get_payload(h);
	const struct nlattr *a[IFLA_MTU + 1];
	struct ndd_rtnl_link l = {.interface = i->ifi_index, .gone = h->nlmsg_type == RTM_DELLINK};

	if (i->ifi_family != AF_UNSPEC)
		return; /* a bridge speaks of its port */
	read_attributes(h, sizeof(*i), a, IFLA_MTU);
	l.has_mac = get_mac(l.mac, a[IFLA_ADDRESS]);
	if (a[IFLA_MTU] != NULL)
		l.mtu = mnl_attr_get_u32(a[IFLA_MTU]);
	if (callbacks->link != NULL)
		callbacks->link(callbacks->arg, &l);
}

static void
on_address(const struct nlmsghdr *h, const struct ndd_rtnl_callbacks *callbacks)
{
	const struct ifaddrmsg *m = mnl_nlmsg_get_payload(h);
	const struct nlattr *a[IFA_FLAGS + 1];
	struct ndd_rtnl_address out = {
		.interface = (int)m->ifa_index, .prefix_len = m->ifa_prefixlen};
	uint32_t flags;

	read_attributes(h, sizeof(*m), a, IFA_FLAGS);
	flags = a[IFA_FLAGS] != NULL ? mnl_attr_get_u32(a[IFA_FLAGS]) : m->ifa_flags;
	out.usable =
		h->nlmsg_type == RTM_NEWADDR && (flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED)) == 0;
	/* Of a point-to-point link IFA_ADDRESS is the other end's. */
	if (callbacks->address != NULL &&
		get_ip(&out.ip, m->ifa_family,
			a[IFA_LOCAL] != NULL ? a[IFA_LOCAL] : a[IFA_ADDRESS]))
		callbacks->address(callbacks->arg, &out);
}

static void
on_neighbour(const struct nlmsghdr *h, const struct ndd_rtnl_callbacks *callbacks)
{
	const struct ndmsg *m = mnl_nlmsg_get_payload(h);
	const struct nlattr *a[NDA_LLADDR + 1];
	struct ndd_rtnl_neighbour n = {.interface = m->ndm_ifindex, .state = m->ndm_state};

	read_attributes(h, sizeof(*m), a, NDA_LLADDR);
	n.has_mac = get_mac(n.mac, a[NDA_LLADDR]);
	if (callbacks->neighbour != NULL && get_ip(&n.ip, m->ndm_family, a[NDA_DST]))
		callbacks->neighbour(callbacks->arg, &n);
}

static int
on_message(const struct nlmsghdr *h, void *arg)
{
	const struct ndd_rtnl_callbacks *callbacks = arg;

	switch (h->nlmsg_type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		on_link(h, callbacks);
		break;
	case RTM_NEWADDR:
	case RTM_DELADDR:
		on_address(h, callbacks);
		break;
	case RTM_NEWNEIGH: /* one that is deleted was forgotten, not lost */
		on_neighbour(h, callbacks);
		break;
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
	case RTM_NEWRULE:
	case RTM_DELRULE:
		if (callbacks->routes != NULL)
			callbacks->routes(callbacks->arg);
		break;
	default:
		break;
	}
	return MNL_CB_OK;
}

/* ---- sockets ---- */

static struct mnl_socket *
open_socket(unsigned groups)
{
	struct mnl_socket *s = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);

	if (s != NULL && mnl_socket_bind(s, groups, MNL_SOCKET_AUTOPID) != 0) {
		(void)mnl_socket_close(s);
		s = NULL;
	}
	return s;
}

static bool
rtnl_join(struct mnl_socket *s, const int *groups, size_t n)
{
	int bytes = EVENTS_BYTES;

	(void)setsockopt(mnl_socket_get_fd(s), SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	for (size_t i = 0; i < n; i++) {
		int group = groups[i];

		if (mnl_socket_setsockopt(s, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) != 0)
			return false;
	}
	return true;
}

bool
ndd_rtnl_open(struct ndd_rtnl *r, bool neighbours)
{
	static const int groups[] = {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV4_ROUTE,
		RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV6_RULE,
		RTNLGRP_NEIGH};
	const size_t n = sizeof(groups) / sizeof(groups[0]) - !neighbours; /* they are the last */
	/* The kernel answers at once; this is for the day when it does not. */
	const struct timeval limit = {.tv_sec = 1};

	r->events = open_socket(0);
	r->requests = open_socket(0);
	if (r->events != NULL && r->requests != NULL && rtnl_join(r->events, groups, n) &&
		setsockopt(mnl_socket_get_fd(r->requests), SOL_SOCKET, SO_RCVTIMEO, &limit,
			sizeof(limit)) == 0)
		return true;
	ndd_rtnl_close(r);
	return false;
}

void
ndd_rtnl_close(struct ndd_rtnl *r)
{
	int err = errno;

	if (r->events != NULL)
		(void)mnl_socket_close(r->events);
	if (r->requests != NULL)
		(void)mnl_socket_close(r->requests);
	r->events = r->requests = NULL;
	errno = err;
}

int
ndd_rtnl_fd(const struct ndd_rtnl *r)
{
	return mnl_socket_get_fd(r->events);
}

bool
ndd_rtnl_receive(struct ndd_rtnl *r, const struct ndd_rtnl_callbacks *callbacks)
{
	char buf[BUFFER];
	ssize_t n;

	for (uint32_t i = 0; i < NDD_RTNL_NEWS; i++) {
		n = recv(mnl_socket_get_fd(r->events), buf, sizeof(buf), MSG_DONTWAIT);
		if (n < 0)
			return errno != ENOBUFS;
		(void)mnl_cb_run(buf, (size_t)n, 0, 0, on_message, (void *)callbacks);
	}
	return true;
}

/* Ask, and hear all of the answer. False: errno is the kernel's. */
static bool
rtnl_request(struct ndd_rtnl *r, struct nlmsghdr *h, mnl_cb_t each, void *arg)
{
	unsigned portid = mnl_socket_get_portid(r->requests);
	bool in_parts = (h->nlmsg_flags & (NLM_F_DUMP | NLM_F_ACK)) != 0, more;
	char buf[BUFFER];
	ssize_t n;
	int rc;

	h->nlmsg_flags |= NLM_F_REQUEST;
	h->nlmsg_seq = ++r->sequence;
	if (mnl_socket_sendto(r->requests, h, h->nlmsg_len) < 0)
		return false;
	do {
		n = mnl_socket_recvfrom(r->requests, buf, sizeof(buf));
		if (n < 0)
			return false;
		rc = mnl_cb_run(buf, (size_t)n, h->nlmsg_seq, portid, each, arg);
		/* EPROTO: the rest of an answer that was given up on. */
		more = rc < 0 ? errno == EPROTO : rc == MNL_CB_OK && in_parts;
	} while (more);
	return rc >= 0;
}

static void *
rtnl_begin(char *buf, struct nlmsghdr **h, uint16_t type, uint16_t flags, size_t header)
{
	*h = mnl_nlmsg_put_header(buf);
	(*h)->nlmsg_type = type;
	(*h)->nlmsg_flags = flags;
	return mnl_nlmsg_put_extra_header(*h, header);
}

bool
ndd_rtnl_link(struct ndd_rtnl *r, int interface, const struct ndd_rtnl_callbacks *callbacks)
{
	char buf[256];
	struct nlmsghdr *h;
	struct ifinfomsg *i = rtnl_begin(buf, &h, RTM_GETLINK, 0, sizeof(*i));

	i->ifi_index = interface;
	return rtnl_request(r, h, on_message, (void *)callbacks);
}

bool
ndd_rtnl_addresses(struct ndd_rtnl *r, const struct ndd_rtnl_callbacks *callbacks)
{
	char buf[256];
	struct nlmsghdr *h;
	struct ifaddrmsg *m = rtnl_begin(buf, &h, RTM_GETADDR, NLM_F_DUMP, sizeof(*m));

	m->ifa_family = AF_UNSPEC;
	return rtnl_request(r, h, on_message, (void *)callbacks);
}

/* ---- ways ---- */

struct route {
	bool any; /* interface, loopback's as well */
	bool found;
	uint32_t interface;
	struct net_ip hop; /* the destination itself, if no router */
	bool has_source;
	struct net_ip source;
};

static void
read_via(struct route *w, const struct nlattr *a)
{
	const struct rtvia *via = mnl_attr_get_payload(a);
	size_t bytes = mnl_attr_get_payload_len(a);

	if (bytes > sizeof(*via))
		w->found =
			read_ip(&w->hop, via->rtvia_family, via->rtvia_addr, bytes - sizeof(*via));
}

static int
on_route(const struct nlmsghdr *h, void *arg)
{
	const struct rtmsg *m = mnl_nlmsg_get_payload(h);
	const struct nlattr *a[RTA_VIA + 1];
	struct route *w = arg;

	if (h->nlmsg_type != RTM_NEWROUTE ||
		(m->rtm_type != RTN_UNICAST && !(w->any && m->rtm_type == RTN_LOCAL)))
		return MNL_CB_STOP;
	read_attributes(h, sizeof(*m), a, RTA_VIA);
	w->found = true;
	w->interface = a[RTA_OIF] != NULL ? mnl_attr_get_u32(a[RTA_OIF]) : 0;
	w->has_source = get_ip(&w->source, m->rtm_family, a[RTA_PREFSRC]);
	if (a[RTA_GATEWAY] != NULL)
		w->found = get_ip(&w->hop, m->rtm_family, a[RTA_GATEWAY]);
	else if (a[RTA_VIA] != NULL)
		read_via(w, a[RTA_VIA]); /* IPv4 by a router of IPv6: RFC 5549 */
	return MNL_CB_STOP;
}

/* source may be NULL. */
static bool
route_ask(struct ndd_rtnl *r, int interface, const struct net_ip *source, const struct net_ip *ip,
	uint32_t flags, struct route *w)
{
	char buf[256];
	struct nlmsghdr *h;
	struct rtmsg *m = rtnl_begin(buf, &h, RTM_GETROUTE, 0, sizeof(*m));

	m->rtm_family = family_of(ip);
	m->rtm_dst_len = net_ip_is_v4(ip) ? 32 : 128;
	m->rtm_flags = flags;
	put_ip(h, RTA_DST, ip);
	if (source != NULL) {
		m->rtm_src_len = m->rtm_dst_len;
		put_ip(h, RTA_SRC, source);
	}
	w->any = interface == 0;
	if (!w->any)
		mnl_attr_put_u32(h, RTA_OIF, (uint32_t)interface);
	w->hop = *ip;
	w->found = false;
	return rtnl_request(r, h, on_route, w) && w->found;
}

/*
 * Asked for the route out of an interface, IPv4 takes a destination without a route to be on that
 * link. Whether there is a route at all is another request (RTM_F_FIB_MATCH).
 */
static bool
route_find(struct ndd_rtnl *r, int interface, const struct net_ip *source, const struct net_ip *ip,
	struct route *w)
{
	return route_ask(r, interface, source, ip, RTM_F_FIB_MATCH, w) &&
	       route_ask(r, interface, source, ip, 0, w) &&
	       (w->any || w->interface == (uint32_t)interface);
}

bool
ndd_rtnl_route(struct ndd_rtnl *r, int interface, const struct net_ip *source,
	const struct net_ip *ip, struct net_ip *hop)
{
	struct route w;

	if (!route_find(r, interface, source, ip, &w))
		return false;
	*hop = w.hop;
	return true;
}

bool
ndd_rtnl_source(struct ndd_rtnl *r, int interface, const struct net_ip *ip, struct net_ip *source)
{
	struct route w;

	if (!route_find(r, interface, NULL, ip, &w) || !w.has_source)
		return false;
	*source = w.source;
	return true;
}

/* ---- neighbours ---- */

static void
put_neighbour(struct nlmsghdr *h, struct ndmsg *m, int interface, const struct net_ip *ip)
{
	m->ndm_family = family_of(ip);
	m->ndm_ifindex = interface;
	put_ip(h, NDA_DST, ip);
}

static void
neighbour_keep(void *arg, const struct ndd_rtnl_neighbour *n)
{
	*(struct ndd_rtnl_neighbour *)arg = *n;
}

bool
ndd_rtnl_neighbour(
	struct ndd_rtnl *r, int interface, const struct net_ip *ip, struct ndd_rtnl_neighbour *n)
{
	const struct ndd_rtnl_callbacks callbacks = {.neighbour = neighbour_keep, .arg = n};
	char buf[256];
	struct nlmsghdr *h;
	struct ndmsg *m = rtnl_begin(buf, &h, RTM_GETNEIGH, 0, sizeof(*m));

	put_neighbour(h, m, interface, ip);
	n->interface = 0;
	return rtnl_request(r, h, on_message, (void *)&callbacks) && n->interface == interface;
}

void
ndd_rtnl_use(struct ndd_rtnl *r, int interface, const struct net_ip *ip)
{
	const struct ndd_rtnl_callbacks none = {0};
	char buf[256];
	struct nlmsghdr *h;
	struct ndmsg *m = rtnl_begin(buf, &h, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_ACK, sizeof(*m));

	m->ndm_flags = NTF_USE;
	put_neighbour(h, m, interface, ip);
	(void)rtnl_request(r, h, on_message, (void *)&none);
}
