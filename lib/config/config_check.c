/* SPDX-License-Identifier: BSD-3-Clause */
/* Do values that are right by themselves fit each other? */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/config_table.h"

void
config_at(struct config_errors *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(e->path, sizeof(e->path), fmt, ap);
	va_end(ap);
}

/* Devices are given with their arguments behind a comma. */
static bool
names_device(const char *spec, const char *device)
{
	size_t n = strcspn(spec, ",");

	return strlen(device) == n && memcmp(spec, device, n) == 0;
}

static void
check_device(struct config_errors *e, const struct config *c, unsigned p)
{
	const char *device = c->port[p].device;
	bool known = c->port[p].udp;

	config_at(e, "ports[%u].device", p);
	for (unsigned i = 0; i < c->vdevs; i++)
		known |= names_device(c->vdev[i], device);
	for (unsigned i = 0; i < c->pcis; i++)
		known |= names_device(c->pci[i], device);
	if (!known)
		config_error(e, "\"%s\" is named neither in eal.vdevs nor in eal.pci", device);
	for (unsigned q = 0; q < p; q++)
		if (strcmp(c->port[q].device, device) == 0)
			config_error(e, "\"%s\" is also the device of ports[%u]", device, q);
}

/* The rest of the driver's arguments are the daemon's to find. */
static void
check_shared_device(struct config_errors *e, const struct config *c, unsigned p)
{
	static const char *const ours[] = {",xdp_prog=", ",queue_count=", ",start_queue="};
	const char *device = c->port[p].device;

	if (!c->port[p].shared)
		return;
	config_at(e, "ports[%u].shared", p);
	if (strncmp(device, "net_af_xdp", 10) != 0)
		config_error(e, "only ports of net_af_xdp can be shared with the kernel");
	for (unsigned i = 0; i < c->vdevs; i++)
		for (unsigned k = 0; k < sizeof(ours) / sizeof(ours[0]); k++) {
			config_at(e, "eal.vdevs[%u]", i);
			if (names_device(c->vdev[i], device) && strstr(c->vdev[i], ours[k]) != NULL)
				config_error(e, "%.*s of a shared port is found by the daemon",
					(int)strlen(ours[k]) - 2, ours[k] + 1);
		}
}

static void
check_devices_once(struct config_errors *e, const struct config *c)
{
	for (unsigned i = 0; i < c->vdevs; i++) {
		config_at(e, "eal.vdevs[%u]", i);
		for (unsigned j = 0; j < i; j++)
			if (strcspn(c->vdev[i], ",") == strcspn(c->vdev[j], ",") &&
				strncmp(c->vdev[i], c->vdev[j], strcspn(c->vdev[i], ",")) == 0)
				config_error(e, "the same device as eal.vdevs[%u]", j);
	}
	for (unsigned i = 0; i < c->pcis; i++) {
		config_at(e, "eal.pci[%u]", i);
		for (unsigned j = 0; j < i; j++)
			if (strncmp(c->pci[i], c->pci[j], strcspn(c->pci[i], ",")) == 0)
				config_error(e, "the same device as eal.pci[%u]", j);
	}
}

static void
check_lcores(struct config_errors *e, const struct config *c)
{
	for (unsigned i = 0; i < c->lcores; i++) {
		config_at(e, "lcores[%u]", i);
		for (unsigned j = 0; j < i; j++)
			if (c->lcore[i] == c->lcore[j])
				config_error(e, "CPU %u is also lcores[%u]", c->lcore[i], j);
	}
}

/* What one session is promised must exist in a shard, or in the daemon. */
static void
check_limits(struct config_errors *e, const struct config *c)
{
	config_at(e, "limits.memory_mb");
	if (c->max_memory_bytes > c->total_memory_bytes)
		config_error(e, "%u is more than limits.total_memory_mb, %u",
			(unsigned)(c->max_memory_bytes >> 20),
			(unsigned)(c->total_memory_bytes >> 20));
	config_at(e, "limits.qps");
	if (c->max_qps > c->shard_qps)
		config_error(e, "%u is more than limits.shard_qps, %u", c->max_qps, c->shard_qps);
	config_at(e, "limits.mrs");
	if (c->max_mrs > c->shard_mrs)
		config_error(e, "%u is more than limits.shard_mrs, %u", c->max_mrs, c->shard_mrs);
	config_at(e, "limits.shard_wqes");
	if (c->shard_wqes < c->shard_qps)
		config_error(e, "%u is less than one request for each of limits.shard_qps, %u",
			c->shard_wqes, c->shard_qps);
}

/* Frame buffers of a port's queues, or of the rings and bursts of a shard. */
#define FRAMES_MB 32u

static void
check_memory(struct config_errors *e, const struct config *c)
{
	uint32_t least = (c->ports + c->lcores) * FRAMES_MB;

	config_at(e, "eal.memory_mb");
	if (c->memory_mb < least)
		config_error(e, "%u is too little: %u ports and %u lcores take %u for frames",
			c->memory_mb, c->ports, c->lcores, least);
}

void
config_check(struct config_errors *e, const struct config *c)
{
	check_devices_once(e, c);
	check_lcores(e, c);
	check_limits(e, c);
	check_memory(e, c);
	for (unsigned p = 0; p < c->ports; p++)
		check_device(e, c, p);
	for (unsigned p = 0; p < c->ports; p++)
		check_shared_device(e, c, p);
	config_check_links(e, c);
	config_check_principals(e, c);
}
