/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PCI's numbers of the device behind a port. DPDK tells them of devices that its own drivers drive;
 * behind an interface of the kernel (AF_XDP, AF_PACKET) the kernel does. What is no PCI device,
 * such as a TAP, has none.
 */
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "ethdev/ethdev.h"

#define SYSFS_NET "/sys/class/net"

bool
ethdev_ids_of_bus(const char *bus_info, struct port_ids *ids)
{
	struct port_ids found;

	if (bus_info == NULL || sscanf(bus_info, "vendor_id=%" SCNx16 ", device_id=%" SCNx16,
					&found.vendor, &found.device) != 2)
		return false;
	*ids = found;
	return true;
}

static bool
read_id(const char *interface, const char *file, uint16_t *id)
{
	char path[sizeof(SYSFS_NET) + IF_NAMESIZE + 32];
	bool good;
	FILE *f;

	(void)snprintf(path, sizeof(path), SYSFS_NET "/%s/device/%s", interface, file);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	good = fscanf(f, "0x%" SCNx16, id) == 1;
	fclose(f);
	return good;
}

/* A device that is on another bus than PCI has files of these names, too: virtio's do. */
static bool
is_of_pci(const char *interface)
{
	char path[sizeof(SYSFS_NET) + IF_NAMESIZE + 32];
	FILE *f;

	(void)snprintf(path, sizeof(path), SYSFS_NET "/%s/device/class", interface);
	f = fopen(path, "re");
	if (f != NULL)
		fclose(f);
	return f != NULL;
}

static bool
ethdev_ids_of_interface(uint32_t if_index, struct port_ids *ids)
{
	struct port_ids found;
	char name[IF_NAMESIZE];

	if (if_index == 0 || if_indextoname(if_index, name) == NULL || !is_of_pci(name) ||
		!read_id(name, "vendor", &found.vendor) || !read_id(name, "device", &found.device))
		return false;
	*ids = found;
	return true;
}

void
ethdev_ids_find(const struct rte_eth_dev_info *info, struct port_ids *ids)
{
	memset(ids, 0, sizeof(*ids));
	if (!ethdev_ids_of_bus(rte_dev_bus_info(info->device), ids))
		(void)ethdev_ids_of_interface(info->if_index, ids);
}
