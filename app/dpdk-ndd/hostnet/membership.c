/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/daemon.h"
#include "hostnet/address.h"
#include "hostnet/kernel_port.h"
#include "hostnet/membership.h"
#include "hostnet/rtnl.h"
#include "platform/log.h"

static void
fill_request(struct group_req *r, int interface, const struct net_ip *group)
{
	const bool v4 = net_ip_is_v4(group);
	struct sockaddr_in sin = {.sin_family = AF_INET};
	struct sockaddr_in6 sin6 = {.sin6_family = AF_INET6};

	memcpy(&sin.sin_addr, group->b + 12, 4);
	memcpy(&sin6.sin6_addr, group->b, 16);
	memset(r, 0, sizeof(*r));
	r->gr_interface = (uint32_t)interface;
	memcpy(&r->gr_group, v4 ? (const void *)&sin : (const void *)&sin6,
		v4 ? sizeof(sin) : sizeof(sin6));
}

/* By one of these interfaces, or by several; errno: why not. */
static bool
join_by(int fd, const int *interface, uint32_t n, const struct net_ip *group)
{
	bool joined = false;
	struct group_req r;

	errno = ENODEV;
	for (uint32_t i = 0; i < n; i++) {
		fill_request(&r, interface[i], group);
		joined |= setsockopt(fd, net_ip_is_v4(group) ? IPPROTO_IP : IPPROTO_IPV6,
				  MCAST_JOIN_GROUP, &r, sizeof(r)) == 0;
	}
	return joined;
}

/* The kernel is in the group as long as this socket is. Each group has its own, as IPv4 allows a
 * socket but few (net.ipv4.igmp_max_memberships). It is not bound and receives nothing. -1: no. */
static int
kernel_join(const struct ndd *d, uint32_t port, const struct net_ip *group)
{
	int fd = socket(net_ip_is_v4(group) ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char text[INET6_ADDRSTRLEN];
	int interface[NDD_INTERFACES_MAX];
	uint32_t n = ndd_kernel_port_interfaces(d, port, group, interface);

	if (fd >= 0 && join_by(fd, interface, n, group))
		return fd;
	ndd_log_limited(NDD_LOG_ERROR, "port %s: the kernel does not join %s: %s",
		d->plane.port[port].device, ndd_ip_text(group->b, text), strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* A socket that is bound to an address receives nothing that is sent to a group. */
bool
ndd_membership_possible(const struct ndd *d, uint32_t port)
{
	return !d->cfg->port[port].udp || d->cfg->port[port].untagged.addresses == 0;
}

bool
ndd_membership_begin(
	struct ndd *d, uint32_t port, uint16_t vlan, const struct net_ip *group, int *fd)
{
	int link = net_link_find(d->net, port, vlan);

	*fd = -1;
	if (d->cfg->port[port].kernel)
		*fd = kernel_join(d, port, group);
	else if (link >= 0)
		return net_group_join(d->net, (uint32_t)link, group);
	return *fd >= 0;
}

void
ndd_membership_end(struct ndd *d, uint32_t port, uint16_t vlan, const struct net_ip *group, int fd)
{
	int link = net_link_find(d->net, port, vlan);

	if (fd >= 0)
		close(fd);
	else if (link >= 0) /* else it has gone, and its groups with it */
		net_group_leave(d->net, (uint32_t)link, group);
}
