/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <linux/neighbour.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "control/daemon.h"
#include "ethdev/ethdev.h"
#include "hostnet/address.h"
#include "hostnet/kernel_port.h"
#include "hostnet/path.h"
#include "hostnet/rtnl.h"
#include "hostnet/udp_host.h"
#include "platform/clock.h"
#include "platform/log.h"
#include "platform/xdp.h"
#include "udp/udp.h"

#define CATCH_UP_NS (200 * NDD_MS) /* from one look at all to the next */

#define NUD_VALID (NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT | NUD_NOARP)
#define NUD_SURE  (NUD_REACHABLE | NUD_PERMANENT | NUD_NOARP)

struct ndd_kernel_ports {
	struct ndd_watch watch;
	struct ndd_rtnl rtnl;
	ndd_address_lost *on_address_lost;
	bool routes_changed;
	bool behind;			       /* news were lost: all is to be looked at anew, */
	uint64_t catch_up_ns;		       /* but not before */
	bool addresses_changed, links_changed; /* of the port of sockets */
	bool address_left; /* an interface has lost one, and another may have it */
	struct {
		int interface; /* the kernel's number; 0: the port is not shared */
		uint32_t mtu;  /* of the interface; of sockets the one at the start */
	} port[CONFIG_PORTS_MAX];
};

/* The port that shares the interface; else that of the kernel's sockets, which has all others.
 * CONFIG_PORTS_MAX: there is none. */
static uint32_t
port_of(const struct ndd *d, int interface)
{
	uint32_t found = CONFIG_PORTS_MAX;

	for (uint32_t i = 0; i < d->cfg->ports; i++) {
		if (d->cfg->port[i].shared && d->kernel_ports->port[i].interface == interface)
			return i;
		if (d->cfg->port[i].udp)
			found = i;
	}
	return found;
}

static const char *
port_device(const struct ndd *d, uint32_t port)
{
	return d->cfg->port[port].device;
}

uint32_t
ndd_kernel_port_mtu(const struct ndd *d, uint32_t port)
{
	uint32_t mtu = d->cfg->port[port].mtu;

	if (d->cfg->port[port].udp)
		return ndd_udp_mtu(d, &d->kernel_ports->rtnl, port);
	if (d->kernel_ports->port[port].mtu < mtu)
		mtu = d->kernel_ports->port[port].mtu;
	return mtu < ETHDEV_XDP_MTU_MAX ? mtu : ETHDEV_XDP_MTU_MAX;
}

uint32_t
ndd_kernel_port_interfaces(
	const struct ndd *d, uint32_t port, const struct net_ip *like, int *interface)
{
	if (d->cfg->port[port].udp)
		return ndd_udp_interfaces(&d->plane.port[port], like, interface);
	*interface = d->kernel_ports->port[port].interface;
	return 1;
}

/* ---- links ---- */

static void
on_link(void *arg, const struct ndd_rtnl_link *l)
{
	struct ndd *d = arg;
	uint32_t i = port_of(d, l->interface);
	struct port *p = &d->plane.port[i];
	int link;

	if (i == CONFIG_PORTS_MAX)
		return;
	if (d->cfg->port[i].udp) {
		d->kernel_ports->links_changed = true;
		return;
	}
	if (l->gone) {
		ndd_error("port %s: its interface is gone; a new one needs a restart",
			port_device(d, i));
		return;
	}
	if (!l->has_mac || l->mtu == 0)
		return;
	d->kernel_ports->port[i].mtu = l->mtu;
	link = d->net != NULL ? net_link_find(d->net, i, 0) : -1;
	if (link < 0)
		return;
	memcpy(p->mac, l->mac, 6);
	p->mtu = ndd_kernel_port_mtu(d, i);
	net_link_change(d->net, (uint32_t)link, p->mac, p->mtu);
}

/* ---- addresses ---- */

static void
address_lost(struct ndd *d, uint32_t port, const struct net_ip *ip)
{
	char text[INET6_ADDRSTRLEN];
	int link = net_link_find(d->net, port, 0);

	ndd_notice("port %s: %s is no more", port_device(d, port), ndd_ip_text(ip->b, text));
	d->kernel_ports->on_address_lost(d, ip->b, "the kernel has lost its address");
	net_address_remove(d->net, (uint32_t)link, ip);
}

static void
address_gained(struct ndd *d, uint32_t port, const struct net_ip *ip, uint8_t prefix_len)
{
	char text[INET6_ADDRSTRLEN];
	int link = net_link_find(d->net, port, 0);
	const char *why;

	if (net_address_keep(d->net, (uint32_t)link, ip, prefix_len))
		return;
	if (net_address_add(d->net, (uint32_t)link, ip, prefix_len, &why))
		ndd_notice("port %s: %s/%u", port_device(d, port), ndd_ip_text(ip->b, text),
			prefix_len);
	else
		ndd_error("port %s: %s/%u can't be used: %s", port_device(d, port),
			ndd_ip_text(ip->b, text), prefix_len, why);
}

static void
on_address(void *arg, const struct ndd_rtnl_address *a)
{
	struct ndd *d = arg;
	uint32_t i = port_of(d, a->interface);

	if (i == CONFIG_PORTS_MAX || net_link_find(d->net, i, 0) < 0 ||
		(d->cfg->port[i].udp && !ndd_udp_takes(d, i, &a->ip)))
		return;
	d->kernel_ports->addresses_changed |= d->cfg->port[i].udp;
	if (a->usable)
		address_gained(d, i, &a->ip, a->prefix_len);
	else if (net_local_port(d->net, &a->ip) != (int)i)
		return;
	else if (d->cfg->port[i].udp && !net_ip_is_loopback(&a->ip))
		d->kernel_ports->address_left = true;
	else
		address_lost(d, i, &a->ip);
}

/* ---- neighbours and routes ---- */

static void
on_neighbour(void *arg, const struct ndd_rtnl_neighbour *n)
{
	struct ndd *d = arg;
	uint32_t i = port_of(d, n->interface);

	if (i == CONFIG_PORTS_MAX || d->cfg->port[i].udp)
		return; /* the kernel sends its packets to them */
	if ((n->state & NUD_VALID) != 0 && n->has_mac)
		net_told_neighbour(d->net, ndd_now_ns(), i, &n->ip, n->mac);
	else if ((n->state & NUD_FAILED) != 0)
		net_told_neighbour(d->net, ndd_now_ns(), i, &n->ip, NULL);
}

static void
on_routes(void *arg)
{
	((struct ndd *)arg)->kernel_ports->routes_changed = true;
}

static struct ndd_rtnl_callbacks
callbacks_of(struct ndd *d)
{
	return (struct ndd_rtnl_callbacks){.link = on_link,
		.address = on_address,
		.neighbour = on_neighbour,
		.routes = on_routes,
		.arg = d};
}

/* Of sockets it is the kernel that sends to the next hop; that there is a way is enough. */
static void
kernel_ask_udp(struct ndd *d, uint64_t now_ns, const struct net_question *q)
{
	const struct port *p = &d->plane.port[q->port];
	struct net_ip hop;
	uint8_t mac[6];
	int interface = 0;

	if (net_ip_is_link_local(&q->ip))
		interface = (int)udp_interface(p, q->source.b);
	if (!ndd_rtnl_route(&d->kernel_ports->rtnl, interface, &q->source, &q->ip, &hop)) {
		net_told_way(d->net, now_ns, q->port, &q->ip, NULL);
		return;
	}
	udp_gateway(p, mac);
	net_told_way(d->net, now_ns, q->port, &q->ip, &q->ip);
	net_told_neighbour(d->net, now_ns, q->port, &q->ip, mac);
}

/* The kernel has the route at hand, and perhaps the MAC; if not, it resolves it, and news of the
 * neighbour follow. */
static void
kernel_ask(struct ndd *d, uint64_t now_ns, const struct net_question *q)
{
	struct ndd_rtnl *r = &d->kernel_ports->rtnl;
	int interface = d->kernel_ports->port[q->port].interface;
	struct ndd_rtnl_neighbour n = {0};
	struct net_ip hop;

	if (!ndd_rtnl_route(r, interface, &q->source, &q->ip, &hop)) {
		net_told_way(d->net, now_ns, q->port, &q->ip, NULL);
		return;
	}
	net_told_way(d->net, now_ns, q->port, &q->ip, &hop);
	if (!ndd_rtnl_neighbour(r, interface, &hop, &n) || (n.state & NUD_SURE) == 0)
		ndd_rtnl_use(r, interface, &hop);
	if ((n.state & NUD_VALID) != 0 && n.has_mac)
		net_told_neighbour(d->net, now_ns, q->port, &hop, n.mac);
}

bool
ndd_kernel_ports_source(struct ndd *d, const struct net_ip *ip, struct net_ip *source)
{
	for (uint32_t i = 0; i < d->cfg->ports; i++)
		if (d->cfg->port[i].kernel &&
			ndd_rtnl_source(&d->kernel_ports->rtnl, d->kernel_ports->port[i].interface,
				ip, source) &&
			net_local_port(d->net, source) == (int)i)
			return true;
	return d->kernel_ports != NULL && ndd_udp_source(d, &d->kernel_ports->rtnl, ip, source);
}

static void
kernel_answer(struct ndd *d, uint64_t now_ns)
{
	struct net_question q;

	while (net_question(d->net, &q)) {
		if (d->cfg->port[q.port].udp)
			kernel_ask_udp(d, now_ns, &q);
		else
			kernel_ask(d, now_ns, &q);
	}
}

/* ---- life ---- */

/* Clients take the first by default. */
enum reach { ANYWHERE, ON_THE_LINK, WITHIN, REACHES };

static enum reach
reach_of(const struct net_ip *ip)
{
	if (net_ip_is_loopback(ip))
		return WITHIN;
	return net_ip_is_link_local(ip) ? ON_THE_LINK : ANYWHERE;
}

/* Addresses of all shared ports, as the kernel lists them. */
struct listed {
	struct ndd *d;
	enum reach reach; /* these alone */
	uint32_t n;
	struct net_ip ip[NET_ADDRESSES_MAX];
};

static void
on_listed(void *arg, const struct ndd_rtnl_address *a)
{
	struct listed *l = arg;

	if (!a->usable || port_of(l->d, a->interface) == CONFIG_PORTS_MAX ||
		reach_of(&a->ip) != l->reach)
		return;
	on_address(l->d, a);
	if (l->n < NET_ADDRESSES_MAX)
		l->ip[l->n++] = a->ip;
}

static bool
is_listed(const struct listed *l, const struct net_ip *ip)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (net_ip_equal(&l->ip[i], ip))
			return true;
	return false;
}

/* The whole list, those that reach far first. What is not on it has gone. */
static bool
list_addresses(struct ndd *d)
{
	struct listed l = {.d = d};
	const struct ndd_rtnl_callbacks callbacks = {.address = on_listed, .arg = &l};
	uint8_t prefix_len;
	struct net_ip ip;
	uint32_t port;

	d->kernel_ports->address_left = false;
	for (; l.reach < REACHES; l.reach++)
		if (!ndd_rtnl_addresses(&d->kernel_ports->rtnl, &callbacks))
			return false;
	for (unsigned i = 0; net_address_get(d->net, i, &ip, &prefix_len, &port);) {
		if (d->cfg->port[port].kernel && !is_listed(&l, &ip) &&
			!(d->cfg->port[port].udp && net_ip_is_loopback(&ip)))
			address_lost(d, port, &ip);
		else
			i++;
	}
	return true;
}

/* Paths of connections to come have what fits now, those that are there keep theirs. Windows are
 * made for the MTU of the start, which is the most. */
static void
follow_mtu(struct ndd *d, uint32_t port)
{
	struct port *p = &d->plane.port[port];
	uint32_t mtu = ndd_kernel_port_mtu(d, port), most = d->kernel_ports->port[port].mtu;

	mtu = mtu < most ? mtu : most;
	if (mtu == p->mtu)
		return;
	if (mtu == 0) {
		ndd_error("port %s: the MTU of its interfaces can't be read: taken for %u",
			p->device, p->mtu);
		return;
	}
	if (mtu < NDD_IP_MTU_MIN) {
		ndd_error("port %s: an MTU of %u is too small for RoCEv2, which needs %u: taken "
			  "for %u",
			p->device, mtu, NDD_IP_MTU_MIN, p->mtu);
		return;
	}
	ndd_notice("port %s: MTU %u, path MTU %u from now on", p->device, mtu, ndd_path_mtu(mtu));
	p->mtu = mtu;
	net_link_change(d->net, (uint32_t)net_link_find(d->net, port, 0), p->mac, mtu);
}

static void
renew_sockets(struct ndd *d)
{
	struct ndd_kernel_ports *s = d->kernel_ports;
	bool addresses = s->addresses_changed, links = s->links_changed;

	s->addresses_changed = s->links_changed = false;
	for (uint32_t i = 0; i < d->cfg->ports && (addresses || links); i++) {
		if (!d->cfg->port[i].udp)
			continue;
		if (addresses)
			ndd_udp_renew_locals(d, &s->rtnl, i);
		follow_mtu(d, i);
	}
}

static void
read_addresses(struct ndd *d)
{
	if (list_addresses(d))
		return;
	ndd_error("the kernel's addresses can't be read: %s", strerror(errno));
	d->kernel_ports->behind = true;
}

static void
kernel_catch_up(struct ndd *d)
{
	const struct ndd_rtnl_callbacks callbacks = callbacks_of(d);
	struct ndd_kernel_ports *s = d->kernel_ports;

	ndd_log_limited(NDD_LOG_WARNING,
		"more happened to the kernel's interfaces than could be followed: looking anew");
	s->routes_changed = s->addresses_changed = s->links_changed = true;
	for (uint32_t i = 0; i < d->cfg->ports; i++)
		if (d->cfg->port[i].shared)
			(void)ndd_rtnl_link(&s->rtnl, s->port[i].interface, &callbacks);
	read_addresses(d);
}

/* What news were about. A look at all costs several dumps of the kernel's tables, and whoever
 * brings about more news than can be kept goes on doing so. */
static void
kernel_follow(struct ndd *d, uint64_t now_ns)
{
	struct ndd_kernel_ports *s = d->kernel_ports;

	if (s->behind && now_ns >= s->catch_up_ns) {
		s->behind = false;
		s->catch_up_ns = now_ns + CATCH_UP_NS;
		kernel_catch_up(d);
	}
	if (s->address_left)
		read_addresses(d);
	for (uint32_t i = 0; s->routes_changed && i < d->cfg->ports; i++)
		if (d->cfg->port[i].kernel)
			net_told_changes(d->net, now_ns, i);
	s->routes_changed = false;
	renew_sockets(d);
}

static void
on_kernel_news(struct ndd *d, struct ndd_watch *w, uint32_t events)
{
	const struct ndd_rtnl_callbacks callbacks = callbacks_of(d);
	struct ndd_kernel_ports *s = d->kernel_ports;

	(void)w;
	(void)events;
	if (!ndd_rtnl_receive(&s->rtnl, &callbacks))
		s->behind = true;
	kernel_follow(d, ndd_now_ns());
}

void
ndd_kernel_ports_tend(struct ndd *d, uint64_t now_ns)
{
	if (d->kernel_ports == NULL)
		return;
	if (d->kernel_ports->behind)
		kernel_follow(d, now_ns);
	kernel_answer(d, now_ns);
}

static bool
read_links(struct ndd *d)
{
	const struct ndd_rtnl_callbacks callbacks = callbacks_of(d);
	struct ndd_kernel_ports *s = d->kernel_ports;
	char interface[IFNAMSIZ];

	for (uint32_t i = 0; i < d->cfg->ports; i++) {
		if (!d->cfg->port[i].shared)
			continue;
		/* There, as ndd_xdp_claim() has seen. */
		if (!ndd_xdp_interface(d->cfg, i, interface, sizeof(interface)))
			return false;
		s->port[i].interface = (int)if_nametoindex(interface);
		if (s->port[i].interface == 0 ||
			!ndd_rtnl_link(&s->rtnl, s->port[i].interface, &callbacks)) {
			ndd_error("ports[%u] %s: interface %s: %s", i, port_device(d, i), interface,
				strerror(errno));
			return false;
		}
	}
	return true;
}

static bool
any_kernel_port(const struct config *cfg)
{
	for (uint32_t i = 0; i < cfg->ports; i++)
		if (cfg->port[i].kernel)
			return true;
	return false;
}

/* The kernel sends packets of sockets to their neighbours itself. */
static bool
any_shared_port(const struct config *cfg)
{
	for (uint32_t i = 0; i < cfg->ports; i++)
		if (cfg->port[i].shared)
			return true;
	return false;
}

bool
ndd_kernel_ports_open(struct ndd *d, ndd_address_lost *on_address_lost)
{
	struct ndd_kernel_ports *s;

	if (!any_kernel_port(d->cfg))
		return true;
	s = d->kernel_ports = calloc(1, sizeof(*s));
	if (s == NULL) {
		ndd_error("no memory for the ports of the kernel's");
		return false;
	}
	s->on_address_lost = on_address_lost;
	if (!ndd_rtnl_open(&s->rtnl, any_shared_port(d->cfg)) ||
		!ndd_watch_add(d, &s->watch, ndd_rtnl_fd(&s->rtnl), EPOLLIN, on_kernel_news)) {
		ndd_error("rtnetlink: %s", strerror(errno));
		return false;
	}
	return read_links(d);
}

void
ndd_kernel_ports_close(struct ndd *d)
{
	if (d->kernel_ports == NULL)
		return;
	ndd_rtnl_close(&d->kernel_ports->rtnl);
	free(d->kernel_ports);
	d->kernel_ports = NULL;
}

bool
ndd_kernel_port_start(struct ndd *d, uint32_t port)
{
	const struct ndd_rtnl_callbacks callbacks = callbacks_of(d);
	const struct port *p = &d->plane.port[port];
	struct net_link link = {.port = port, .mtu = p->mtu, .shared = true};
	bool read = true;

	memcpy(link.mac, p->mac, sizeof(link.mac));
	if (net_link_add(d->net, &link) < 0) {
		ndd_error("ports[%u] %s: too many links", port, port_device(d, port));
		return false;
	}
	if (d->cfg->port[port].udp) {
		d->kernel_ports->port[port].mtu = p->mtu;
		ndd_udp_add_listed(d, port);
	} else { /* once more: it may have changed since read_links() */
		read = ndd_rtnl_link(
			&d->kernel_ports->rtnl, d->kernel_ports->port[port].interface, &callbacks);
	}
	if (!read || !list_addresses(d)) {
		ndd_error("port %s: its interface can't be read: %s", port_device(d, port),
			strerror(errno));
		return false;
	}
	renew_sockets(d);
	return true;
}
