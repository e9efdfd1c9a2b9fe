/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is there a link? The driver says so; where the device is an interface of the kernel's, the kernel
 * does, too: packet sockets and AF_XDP of DPDK 22.11 call theirs up as long as they are started.
 */
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ethdev/ethdev.h"

/* By number: its name may change. One that was removed has none. */
static bool
kernel_says_up(int fd, uint32_t if_index)
{
	struct ifreq r = {.ifr_ifindex = (int)if_index};

	return ioctl(fd, SIOCGIFNAME, &r) == 0 && ioctl(fd, SIOCGIFFLAGS, &r) == 0 &&
	       (r.ifr_flags & IFF_UP) != 0 && (r.ifr_flags & IFF_RUNNING) != 0;
}

static bool
interface_is_up(uint32_t if_index)
{
	int fd;
	bool up;

	if (if_index == 0)
		return true;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return true; /* no descriptor left: no news */
	up = kernel_says_up(fd, if_index);
	close(fd);
	return up;
}

static bool
driver_says_up(const struct ethdev *e)
{
	struct rte_eth_link link = {0};

	return rte_eth_link_get_nowait(e->id, &link) == 0 && link.link_status != 0;
}

bool
ethdev_link_is_up(struct port *p)
{
	const struct ethdev *e = ethdev_of(p);

	return __atomic_load_n(&e->moving, __ATOMIC_RELAXED) &&
	       !__atomic_load_n(&e->changing, __ATOMIC_ACQUIRE) && driver_says_up(e) &&
	       interface_is_up(e->if_index);
}
