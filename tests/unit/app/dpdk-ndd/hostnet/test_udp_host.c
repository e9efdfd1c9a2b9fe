/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostnet/udp_host.h"

#include <criterion/criterion.h>
#include <string.h>

#include "hostnet/rtnl.h"
#include "rigs/net_rig.h"
#include "udp/udp_own.h"

static struct udp_port sockets;
static const struct port port = {.kind = &sockets};

static uint32_t
interfaces_like(const char *ip, int interface[NDD_INTERFACES_MAX])
{
	const struct net_ip like = net_rig_ip(ip);

	return ndd_udp_interfaces(&port, &like, interface);
}

static struct udp_local
local(const char *text, uint32_t interface)
{
	const struct net_ip ip = net_rig_ip(text);
	struct udp_local l = {.interface = interface};

	memcpy(l.ip, ip.b, sizeof(l.ip));
	return l;
}

/* A group is joined on each interface once, by the addresses of its family, loopback apart. */
Test(udp_host, interfaces_of_a_group)
{
	const struct udp_local all[] = {local("127.0.0.1", 1), local("::1", 1),
		local("192.0.2.1", 2), local("192.0.2.2", 2), local("fe80::2", 2),
		local("198.51.100.1", 3), local("2001:db8::4", 4)};
	int interface[NDD_INTERFACES_MAX];

	udp_locals_set((struct port *)&port, all, 7);
	cr_assert_eq(interfaces_like("239.1.2.3", interface), 2);
	cr_expect(interface[0] == 2 && interface[1] == 3);
	cr_assert_eq(interfaces_like("ff15::1", interface), 2);
	cr_expect(interface[0] == 2 && interface[1] == 4);
}

Test(udp_host, more_interfaces_than_a_group_is_joined_on)
{
	struct udp_local all[UDP_LOCALS_MAX];
	int interface[NDD_INTERFACES_MAX];

	for (uint32_t i = 0; i < UDP_LOCALS_MAX; i++)
		all[i] = local("192.0.2.1", 1 + i);
	udp_locals_set((struct port *)&port, all, UDP_LOCALS_MAX);
	cr_expect_eq(interfaces_like("239.1.2.3", interface), NDD_INTERFACES_MAX);
}
