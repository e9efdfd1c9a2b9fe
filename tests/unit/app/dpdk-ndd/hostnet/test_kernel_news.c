/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * News of the kernel that never end: stations on a link can bring about as many of neighbours as
 * they like. The control thread takes a few at a time, and has its other work in between.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "control/daemon.h"
#include "hostnet/kernel_port.h"
#include "hostnet/rtnl.h"
#include "platform/clock.h"
#include "rigs/net_rig.h"

/* ---- calls of the daemon ---- */

static bool news_are_lost;
static char made_up[256]; /* what comes next, if it has a length */
static size_t made_up_bytes;
static uint32_t dumps;
static bool no_routes;
static uint32_t routes_asked;
static struct ndd_watch *watched;

ssize_t
recv(int fd, void *buf, size_t bytes, int flags)
{
	if (news_are_lost) {
		errno = ENOBUFS;
		return -1;
	}
	if (made_up_bytes != 0 && made_up_bytes <= bytes) {
		ssize_t n = (ssize_t)made_up_bytes;

		memcpy(buf, made_up, made_up_bytes);
		made_up_bytes = 0;
		return n;
	}
	return syscall(SYS_recvfrom, fd, buf, bytes, flags, NULL, NULL);
}

ssize_t
sendto(int fd, const void *buf, size_t bytes, int flags, const struct sockaddr *to,
	socklen_t length)
{
	if (no_routes && bytes >= sizeof(struct nlmsghdr) &&
		((const struct nlmsghdr *)buf)->nlmsg_type == RTM_GETROUTE) {
		routes_asked++;
		errno = ENETUNREACH;
		return -1;
	}
	if (news_are_lost && bytes >= sizeof(struct nlmsghdr))
		dumps += ((const struct nlmsghdr *)buf)->nlmsg_type == RTM_GETADDR;
	return syscall(SYS_sendto, fd, buf, bytes, flags, to, length);
}

int
epoll_ctl(int epoll_fd, int op, int fd, struct epoll_event *ev)
{
	if (op == EPOLL_CTL_ADD)
		watched = ev->data.ptr;
	return (int)syscall(SYS_epoll_ctl, epoll_fd, op, fd, ev);
}

/* ---- a flood ---- */

struct flood {
	int fd; /* where news come from */
	uint32_t seen;
};

static void
news_put(int fd)
{
	const uint8_t mac[6] = {2, 0, 0, 0, 0, 9}, ip[4] = {192, 0, 2, 9};
	char buf[256];
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct ndmsg *m;

	h->nlmsg_type = RTM_NEWNEIGH;
	m = mnl_nlmsg_put_extra_header(h, sizeof(*m));
	m->ndm_family = AF_INET;
	m->ndm_ifindex = 1;
	m->ndm_state = NUD_STALE;
	mnl_attr_put(h, NDA_DST, sizeof(ip), ip);
	mnl_attr_put(h, NDA_LLADDR, sizeof(mac), mac);
	cr_assert_eq(write(fd, buf, h->nlmsg_len), (ssize_t)h->nlmsg_len);
}

/* As soon as one is taken there is another. */
static void
on_neighbour(void *arg, const struct ndd_rtnl_neighbour *n)
{
	struct flood *f = arg;

	cr_expect_eq(n->interface, 1);
	cr_assert_lt(++f->seen, 10 * NDD_RTNL_NEWS, "it goes on for ever");
	news_put(f->fd);
}

Test(kernel_news, a_flood_is_taken_in_parts)
{
	struct flood f = {0};
	const struct ndd_rtnl_callbacks callbacks = {.neighbour = on_neighbour, .arg = &f};
	struct ndd_rtnl r = {0};
	int fd[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_DGRAM, 0, fd), 0);
	r.events = mnl_socket_fdopen(fd[0]);
	cr_assert_not_null(r.events);
	f.fd = fd[1];
	news_put(f.fd);
	cr_expect(ndd_rtnl_receive(&r, &callbacks));
	cr_expect_eq(f.seen, NDD_RTNL_NEWS);
	cr_expect(ndd_rtnl_receive(&r, &callbacks), "the rest is still there");
	cr_expect_eq(f.seen, 2 * NDD_RTNL_NEWS);
}

/* ---- what is not wanted is not asked for ---- */

static bool
is_member(const struct ndd_rtnl *r, unsigned group)
{
	uint32_t groups[8] = {0};
	socklen_t bytes = sizeof(groups);

	cr_assert_eq(getsockopt(mnl_socket_get_fd(r->events), SOL_NETLINK, NETLINK_LIST_MEMBERSHIPS,
			     groups, &bytes),
		0);
	return (groups[(group - 1) / 32] >> (group - 1) % 32 & 1) != 0;
}

/* Whose packets leave by the kernel's sockets need not know where neighbours are. */
Test(kernel_news, of_neighbours_where_they_matter)
{
	struct ndd_rtnl r;

	for (unsigned wanted = 0; wanted < 2; wanted++) {
		cr_assert(ndd_rtnl_open(&r, wanted));
		cr_expect_eq(is_member(&r, RTNLGRP_NEIGH), wanted);
		cr_expect(is_member(&r, RTNLGRP_LINK));
		cr_expect(is_member(&r, RTNLGRP_IPV6_RULE));
		ndd_rtnl_close(&r);
	}
}

/* ---- news that are lost ---- */

static struct ndd d;
static struct config cfg = {.ports = 1, .port[0] = {.udp = true, .kernel = true, .device = "udp"}};

static unsigned lost;

static void
address_gone(struct ndd *dd, const uint8_t ip[16], const char *why)
{
	(void)dd;
	(void)ip;
	(void)why;
	lost++;
}

static void
port_start(void)
{
	static struct net_rig net;

	net_rig_init(&net, 16);
	net_link_remove(net.n, 0);
	d.cfg = &cfg;
	d.net = net.n;
	d.plane.port[0] = (struct port){.device = "udp", .mtu = 1500, .mac = {2, 0, 0, 0, 0, 1}};
	d.plane.ports = 1;
	d.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	cfg.port[0].has_mtu = true;
	cfg.port[0].mtu = 1500;
	cr_assert(ndd_kernel_ports_open(&d, address_gone));
	cr_assert_not_null(watched);
	cr_assert(ndd_kernel_port_start(&d, 0));
}

/* All tables are read once, however often news are lost; not for each time, and once more when that
 * is some time ago, though no news come any more. */
Test(kernel_news, that_are_lost_again_and_again)
{
	uint64_t now_ns = ndd_now_ns();
	uint32_t once;

	port_start();
	news_are_lost = true;
	watched->ready(&d, watched, EPOLLIN);
	once = dumps;
	cr_expect_gt(once, 0);
	for (unsigned i = 0; i < 20; i++)
		watched->ready(&d, watched, EPOLLIN);
	if (ndd_now_ns() - now_ns < 200 * NDD_MS) /* else this machine had no time */
		cr_expect_eq(dumps, once);
	ndd_kernel_ports_tend(&d, ndd_now_ns() + NDD_S);
	cr_expect_geq(dumps, 2 * once);
	once = dumps;
	ndd_kernel_ports_tend(&d, ndd_now_ns() + 2 * NDD_S);
	cr_expect_eq(dumps, once, "it has caught up");
	news_are_lost = false;
	ndd_kernel_ports_close(&d);
}

/* ---- addresses that are there twice ---- */

/* The kernel says so of an interface that there is not. */
static void
address_news(uint16_t type, const struct net_ip *ip, uint32_t flags)
{
	const bool v4 = net_ip_is_v4(ip);
	struct nlmsghdr *h = mnl_nlmsg_put_header(made_up);
	struct ifaddrmsg *m;

	h->nlmsg_type = type;
	m = mnl_nlmsg_put_extra_header(h, sizeof(*m));
	m->ifa_family = v4 ? AF_INET : AF_INET6;
	m->ifa_prefixlen = v4 ? 32 : 128;
	m->ifa_index = 999999;
	mnl_attr_put(h, IFA_ADDRESS, v4 ? 4 : 16, v4 ? ip->b + 12 : ip->b);
	mnl_attr_put_u32(h, IFA_FLAGS, flags);
	made_up_bytes = h->nlmsg_len;
	watched->ready(&d, watched, EPOLLIN);
}

/* One of this machine's. False: it has none but loopback's. */
static bool
own_address(struct net_ip *ip)
{
	uint8_t prefix_len;
	uint32_t port;

	for (unsigned i = 0; net_address_get(d.net, i, ip, &prefix_len, &port); i++)
		if (!net_ip_is_loopback(ip))
			return true;
	return false;
}

/* A bridge and its port, or an interface and its VLANs, may have one link-local address; a station
 * of one of them can see to it that the address is a duplicate there. */
Test(kernel_news, an_address_goes_with_the_last_interface_that_has_it)
{
	const struct net_ip other = net_rig_ip("203.0.113.77");
	struct net_ip ip;

	port_start();
	if (!own_address(&ip))
		cr_skip_test("no address");
	address_news(RTM_NEWADDR, &ip, IFA_F_DADFAILED);
	cr_expect_eq(net_local_port(d.net, &ip), 0, "it is a duplicate somewhere else");
	address_news(RTM_DELADDR, &ip, 0);
	cr_expect_eq(net_local_port(d.net, &ip), 0, "it has gone from somewhere else");
	cr_expect_eq(lost, 0);
	address_news(RTM_NEWADDR, &other, 0);
	cr_expect_eq(net_local_port(d.net, &other), 0);
	address_news(RTM_DELADDR, &other, 0);
	cr_expect_eq(net_local_port(d.net, &other), -1, "nobody else has it");
	cr_expect_eq(lost, 1);
	ndd_kernel_ports_close(&d);
}

/* A client asks for the way to where none leads, on a machine with many addresses. */
Test(kernel_news, a_way_is_not_asked_for_from_each_address)
{
	const struct net_ip to = net_rig_ip("198.51.100.9");
	struct net_ip ip = net_rig_ip("203.0.113.0"), source;

	port_start();
	for (unsigned i = 1; i <= 200; i++) {
		ip.b[15] = (uint8_t)i;
		address_news(RTM_NEWADDR, &ip, 0);
		cr_assert_eq(net_local_port(d.net, &ip), 0);
	}
	no_routes = true;
	cr_expect_not(ndd_kernel_ports_source(&d, &to, &source));
	cr_expect_gt(routes_asked, 8, "each of a configuration's");
	cr_expect_leq(routes_asked, 17, "%u", routes_asked);
	ndd_kernel_ports_close(&d);
}
