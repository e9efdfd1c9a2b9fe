/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files that UCX, libfabric and exporters of metrics read, with the names and forms that the
 * kernel's RDMA core gives them. They say what the verbs calls say (lib/ndverbs/query.c).
 */
#include "sysfs.h"

#include <endian.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ndverbs/address.h"

#define UVERBS_MAJOR 231 /* registered for them */
#define UVERBS_FIRST 192

static bool
write_words(struct verbs_tree *t, const char *path, const uint8_t *bytes, unsigned n)
{
	char text[64];
	size_t end = 0;

	for (unsigned i = 0; i < n; i += 2)
		end += (size_t)snprintf(text + end, sizeof(text) - end, "%s%02x%02x",
			i == 0 ? "" : ":", bytes[i], bytes[i + 1]);
	return verbs_tree_file(t, path, "%s", text);
}

static bool
same_host(const struct sockaddr *a, const union ibv_gid *gid)
{
	struct sockaddr_storage ss = {0};
	union ibv_gid other;

	if (a == NULL || (a->sa_family != AF_INET && a->sa_family != AF_INET6))
		return false;
	memcpy(&ss, a,
		a->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
	ndv_gid_of(&ss, &other);
	return memcmp(&other, gid, sizeof(other)) == 0;
}

/* The kernel's interface with that address. Where the daemon has an address for itself, there is
 * none. */
static bool
find_interface(const struct sockaddr_storage *address, char name[IFNAMSIZ])
{
	struct ifaddrs *all, *i;
	union ibv_gid gid;

	if (getifaddrs(&all) != 0)
		return false;
	ndv_gid_of(address, &gid);
	for (i = all; i != NULL && !same_host(i->ifa_addr, &gid); i = i->ifa_next)
		;
	if (i != NULL)
		snprintf(name, IFNAMSIZ, "%s", i->ifa_name);
	freeifaddrs(all);
	return i != NULL;
}

/* As the attribute of the GID, and as the folder that a network card's device has of it: there
 * scripts and rdma-core's tests look for a device's interface. */
static bool
write_interface(struct verbs_tree *t, const struct sockaddr_storage *address)
{
	char name[IFNAMSIZ], folder[sizeof("device/net/") + IFNAMSIZ];

	if (!find_interface(address, name))
		return true;
	snprintf(folder, sizeof(folder), "device/net/%s", name);
	return verbs_tree_file(t, "ports/1/gid_attrs/ndevs/0", "%s", name) &&
	       verbs_tree_folder(t, "device") && verbs_tree_folder(t, "device/net") &&
	       verbs_tree_folder(t, folder);
}

static bool
write_port(struct verbs_tree *t, const struct sockaddr_storage *address)
{
	union ibv_gid gid;

	ndv_gid_of(address, &gid);
	return verbs_tree_folder(t, "ports") && verbs_tree_folder(t, "ports/1") &&
	       verbs_tree_folder(t, "ports/1/gids") && verbs_tree_folder(t, "ports/1/pkeys") &&
	       verbs_tree_folder(t, "ports/1/gid_attrs") &&
	       verbs_tree_folder(t, "ports/1/gid_attrs/types") &&
	       verbs_tree_folder(t, "ports/1/gid_attrs/ndevs") &&
	       verbs_tree_file(t, "ports/1/state", VERBS_PORT_ACTIVE) &&
	       verbs_tree_file(t, "ports/1/phys_state", VERBS_PHYS_LINK_UP) &&
	       verbs_tree_file(t, "ports/1/rate", "25 Gb/sec (1X EDR)") &&
	       verbs_tree_file(t, "ports/1/link_layer", "Ethernet") &&
	       verbs_tree_file(t, "ports/1/lid", "0x0") &&
	       verbs_tree_file(t, "ports/1/lid_mask_count", "0") &&
	       verbs_tree_file(t, "ports/1/sm_lid", "0x0") &&
	       verbs_tree_file(t, "ports/1/sm_sl", "0") &&
	       verbs_tree_file(t, "ports/1/cap_mask", "0x00000000") &&
	       verbs_tree_file(t, "ports/1/pkeys/0", "0xffff") &&
	       write_words(t, "ports/1/gids/0", gid.raw, sizeof(gid.raw)) &&
	       verbs_tree_file(t, "ports/1/gid_attrs/types/0", "RoCE v2");
}

bool
verbs_sysfs_device(
	struct verbs_tree *t, const struct sockaddr_storage *address, const char *version)
{
	__be64 guid = ndv_guid_of(address);
	uint8_t bytes[sizeof(guid)];

	memcpy(bytes, &guid, sizeof(bytes));
	return verbs_tree_file(t, "node_type", "%d: CA", IBV_NODE_CA) &&
	       write_words(t, "node_guid", bytes, sizeof(bytes)) &&
	       write_words(t, "sys_image_guid", bytes, sizeof(bytes)) &&
	       verbs_tree_file(t, "node_desc", "dpdk-ndd") &&
	       verbs_tree_file(t, "hca_type", "dpdk-ndd") &&
	       verbs_tree_file(t, "board_id", "dpdk-ndd") && verbs_tree_file(t, "hw_rev", "0x0") &&
	       verbs_tree_file(t, "fw_ver", "%s", version) && write_port(t, address) &&
	       write_interface(t, address);
}

static bool
write_uverbs(struct verbs_tree *t, uint32_t number)
{
	return verbs_tree_file(t, "ibdev", "ndd%u", number) &&
	       verbs_tree_file(t, "abi_version", "1") &&
	       verbs_tree_file(t, "dev", "%d:%u", UVERBS_MAJOR, UVERBS_FIRST + number);
}

/* Make the folder name of t, and have it open in *in. */
static bool
enter_folder(struct verbs_tree *t, const char *name, struct verbs_tree *in)
{
	*in = (struct verbs_tree){.at = -1};
	if (!verbs_tree_folder(t, name))
		return false;
	in->at = openat(t->at, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return in->at >= 0;
}

static void
leave_folder(struct verbs_tree *in)
{
	verbs_tree_forget(in);
	if (in->at >= 0)
		close(in->at);
}

static bool
write_number(struct verbs_tree *t, const struct verbs_devices *d, uint32_t number)
{
	char name[sizeof(VERBS_CLASS_UVERBS) + 32];
	struct verbs_tree in;
	bool ok;

	snprintf(name, sizeof(name), VERBS_CLASS_DEVICES "/ndd%u", number);
	ok = enter_folder(t, name, &in) && verbs_sysfs_device(&in, &d->address[number], d->version);
	leave_folder(&in);
	if (!ok)
		return false;
	snprintf(name, sizeof(name), VERBS_CLASS_UVERBS "/uverbs%u", number);
	ok = enter_folder(t, name, &in) && write_uverbs(&in, number);
	leave_folder(&in);
	return ok;
}

bool
verbs_sysfs_write(int class, const struct verbs_devices *d)
{
	struct verbs_tree t = {.at = class};
	bool ok = verbs_tree_folder(&t, VERBS_CLASS_DEVICES) &&
		  verbs_tree_folder(&t, VERBS_CLASS_UVERBS) &&
		  verbs_tree_file(&t, VERBS_CLASS_UVERBS "/abi_version", "6");

	for (uint32_t i = 0; ok && i < d->count; i++)
		ok = write_number(&t, d, i);
	verbs_tree_forget(&t);
	return ok;
}
