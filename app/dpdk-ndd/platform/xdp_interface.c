/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "platform/log.h"
#include "platform/vdev.h"
#include "platform/xdp.h"

bool
ndd_xdp_is(const char *vdev)
{
	return strncmp(vdev, "net_af_xdp", 10) == 0;
}

bool
ndd_xdp_interface_of(const char *vdev, char *out, size_t bytes)
{
	if (ndd_vdev_argument(vdev, "iface", out, bytes))
		return true;
	ndd_error("%s: iface=INTERFACE is missing, or too long a name", vdev);
	return false;
}

bool
ndd_xdp_interface(const struct config *cfg, uint32_t port, char *out, size_t bytes)
{
	return ndd_xdp_interface_of(ndd_vdev_of(cfg, cfg->port[port].device), out, bytes);
}
