/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/log.h"
#include "platform/vdev.h"
#include "platform/xdp.h"

/* As the driver counts: a driver without channels has one queue. 0: errno says why. */
static unsigned
queues_of(const char *interface)
{
	struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};
	struct ifreq ifr = {.ifr_data = (void *)&channels};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc, err;

	if (fd < 0)
		return 0;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", interface);
	rc = ioctl(fd, SIOCETHTOOL, &ifr);
	err = errno;
	close(fd);
	errno = err;
	if (rc != 0)
		return err == EOPNOTSUPP ? 1 : 0;
	return channels.combined_count != 0 ? channels.combined_count : 1;
}

static bool
is_shared(const struct config *cfg, const char *vdev)
{
	for (uint32_t i = 0; i < cfg->ports; i++)
		if (cfg->port[i].shared && ndd_vdev_of(cfg, cfg->port[i].device) == vdev)
			return true;
	return false;
}

bool
ndd_xdp_vdev(const struct config *cfg, const char *vdev, char *out, size_t bytes)
{
	char interface[IFNAMSIZ], given[16], program[64], with[80] = "";
	unsigned queues;

	if (!ndd_xdp_interface_of(vdev, interface, sizeof(interface)))
		return false;
	if (ndd_vdev_argument(vdev, "queue_count", given, sizeof(given)) ||
		ndd_vdev_argument(vdev, "start_queue", given, sizeof(given))) {
		snprintf(out, bytes, "%s", vdev);
		return true;
	}
	queues = queues_of(interface);
	if (queues == 0) {
		ndd_error("%s: interface %s: %s", vdev, interface, strerror(errno));
		return false;
	}
	if (is_shared(cfg, vdev)) {
		ndd_xdp_program(program, sizeof(program));
		snprintf(with, sizeof(with), ",xdp_prog=%s", program);
	}
	snprintf(out, bytes, "%s,queue_count=%u%s", vdev, queues, with);
	return true;
}
