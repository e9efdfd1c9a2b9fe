/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files that UCX, libfabric and exporters of metrics read, with the names and forms that the
 * kernel's RDMA core gives them. They say what the verbs calls say (lib/ndverbs/query.c).
 */
#include "sysfs.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fail.h"
#include "ndverbs/address.h"

#define UVERBS_MAJOR 231 /* registered for them */
#define UVERBS_FIRST 192

static bool
make_folder(int at, const char *path)
{
	if (mkdirat(at, path, 0755) == 0)
		return true;
	app_complain("folder %s of the devices: %s", path, strerror(errno));
	return false;
}

/* One line. */
__attribute__((format(printf, 3, 4))) static bool
write_file(int at, const char *path, const char *format, ...)
{
	int fd = openat(at, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	va_list args;
	bool ok;

	va_start(args, format);
	ok = fd >= 0 && vdprintf(fd, format, args) >= 0 && dprintf(fd, "\n") == 1;
	va_end(args);
	if (!ok)
		app_complain("file %s of the devices: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

static bool
write_words(int at, const char *path, const uint8_t *bytes, unsigned n)
{
	char text[64];
	size_t end = 0;

	for (unsigned i = 0; i < n; i += 2)
		end += (size_t)snprintf(text + end, sizeof(text) - end, "%s%02x%02x",
			i == 0 ? "" : ":", bytes[i], bytes[i + 1]);
	return write_file(at, path, "%s", text);
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
 * none, and no file. */
static bool
write_interface(int at, const char *path, const union ibv_gid *gid)
{
	struct ifaddrs *all, *i;
	bool ok = true;

	if (getifaddrs(&all) != 0)
		return true;
	for (i = all; i != NULL && !same_host(i->ifa_addr, gid); i = i->ifa_next)
		;
	if (i != NULL)
		ok = write_file(at, path, "%s", i->ifa_name);
	freeifaddrs(all);
	return ok;
}

static bool
write_port(int at, const struct sockaddr_storage *address)
{
	union ibv_gid gid;

	ndv_gid_of(address, &gid);
	return make_folder(at, "ports") && make_folder(at, "ports/1") &&
	       make_folder(at, "ports/1/gids") && make_folder(at, "ports/1/pkeys") &&
	       make_folder(at, "ports/1/gid_attrs") && make_folder(at, "ports/1/gid_attrs/types") &&
	       make_folder(at, "ports/1/gid_attrs/ndevs") &&
	       write_file(at, "ports/1/state", "%d: ACTIVE", IBV_PORT_ACTIVE) &&
	       write_file(at, "ports/1/phys_state", "5: LinkUp") &&
	       write_file(at, "ports/1/rate", "25 Gb/sec (1X EDR)") &&
	       write_file(at, "ports/1/link_layer", "Ethernet") &&
	       write_file(at, "ports/1/lid", "0x0") &&
	       write_file(at, "ports/1/lid_mask_count", "0") &&
	       write_file(at, "ports/1/sm_lid", "0x0") && write_file(at, "ports/1/sm_sl", "0") &&
	       write_file(at, "ports/1/cap_mask", "0x00000000") &&
	       write_file(at, "ports/1/pkeys/0", "0xffff") &&
	       write_words(at, "ports/1/gids/0", gid.raw, sizeof(gid.raw)) &&
	       write_file(at, "ports/1/gid_attrs/types/0", "RoCE v2") &&
	       write_interface(at, "ports/1/gid_attrs/ndevs/0", &gid);
}

static bool
write_device(int at, const struct sockaddr_storage *address, const char *version)
{
	__be64 guid = ndv_guid_of(address);
	uint8_t bytes[sizeof(guid)];

	memcpy(bytes, &guid, sizeof(bytes));
	return write_file(at, "node_type", "%d: CA", IBV_NODE_CA) &&
	       write_words(at, "node_guid", bytes, sizeof(bytes)) &&
	       write_words(at, "sys_image_guid", bytes, sizeof(bytes)) &&
	       write_file(at, "node_desc", "dpdk-ndd") && write_file(at, "hca_type", "dpdk-ndd") &&
	       write_file(at, "board_id", "dpdk-ndd") && write_file(at, "hw_rev", "0x0") &&
	       write_file(at, "fw_ver", "%s", version) && write_port(at, address);
}

static bool
write_uverbs(int at, uint32_t number)
{
	return write_file(at, "ibdev", "ndd%u", number) && write_file(at, "abi_version", "1") &&
	       write_file(at, "dev", "%d:%u", UVERBS_MAJOR, UVERBS_FIRST + number);
}

/* Make the folder name, and have it open; negative: complained. */
static int
enter_folder(int at, const char *name)
{
	return make_folder(at, name) ? openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
}

static bool
write_number(int class, const struct verbs_devices *d, uint32_t number)
{
	char name[sizeof(VERBS_CLASS_UVERBS) + 32];
	int device, uverbs;
	bool ok;

	snprintf(name, sizeof(name), VERBS_CLASS_DEVICES "/ndd%u", number);
	device = enter_folder(class, name);
	snprintf(name, sizeof(name), VERBS_CLASS_UVERBS "/uverbs%u", number);
	uverbs = enter_folder(class, name);
	ok = device >= 0 && uverbs >= 0 && write_device(device, &d->address[number], d->version) &&
	     write_uverbs(uverbs, number);
	if (device >= 0)
		close(device);
	if (uverbs >= 0)
		close(uverbs);
	return ok;
}

bool
verbs_sysfs_write(int class, const struct verbs_devices *d)
{
	bool ok = make_folder(class, VERBS_CLASS_DEVICES) &&
		  make_folder(class, VERBS_CLASS_UVERBS) &&
		  write_file(class, VERBS_CLASS_UVERBS "/abi_version", "6");

	for (uint32_t i = 0; ok && i < d->count; i++)
		ok = write_number(class, d, i);
	return ok;
}
