/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "platform/cpus.h"
#include "platform/eal.h"
#include "platform/log.h"
#include "platform/memif.h"
#include "platform/xdp.h"

#define ARGS_MAX (32u + 2u * 3u * CONFIG_STRINGS_MAX)

#define TEXT_BYTES (3u * CONFIG_STRINGS_MAX * (CONFIG_PATH_BYTES + 8u) + 8192u)

struct args {
	char *v[ARGS_MAX + 1];
	char text[TEXT_BYTES];
	int n;
	size_t used;
	bool failed;
};

__attribute__((format(printf, 2, 3))) static void
add(struct args *a, const char *fmt, ...)
{
	size_t room = sizeof(a->text) - a->used;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(a->text + a->used, room, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= room || a->n == (int)ARGS_MAX) {
		a->failed = true;
		return;
	}
	a->v[a->n++] = a->text + a->used;
	a->used += (size_t)n + 1;
}

static void
add_lcores(struct args *a, const struct config *cfg)
{
	char map[4096], control[NDD_CPUS_TEXT_BYTES];
	size_t used;

	ndd_cpus_of_control(cfg, control, sizeof(control));
	used = (size_t)snprintf(map, sizeof(map), "0@(%s)", control);
	for (uint32_t i = 0; i < cfg->lcores && used < sizeof(map); i++)
		used += (size_t)snprintf(map + used, sizeof(map) - used, ",%u@%u",
			NDD_LCORE_OF_SHARD(i), cfg->lcore[i]);
	add(a, "--lcores=%s", map);
	add(a, "--main-lcore=0");
}

/* --in-memory leaves no files behind, but DPDK 22.11 refuses it together with --no-huge. */
static void
add_memory(struct args *a, const struct config *cfg)
{
	add(a, "-m");
	add(a, "%u", cfg->memory_mb);
	if (cfg->huge_pages) {
		add(a, "--in-memory");
	} else {
		add(a, "--no-huge");
		add(a, "--no-shconf");
	}
	add(a, "--file-prefix=%s", cfg->file_prefix);
}

static bool
add_vdev(struct args *a, const struct config *cfg, const char *vdev)
{
	char whole[2 * CONFIG_PATH_BYTES];

	if (ndd_xdp_is(vdev)) {
		if (!ndd_xdp_vdev(cfg, vdev, whole, sizeof(whole)))
			return false;
		vdev = whole;
	}
	add(a, "--vdev=%s", vdev);
	return true;
}

static bool
add_devices(struct args *a, const struct config *cfg)
{
	if (cfg->pcis == 0) {
		add(a, "--no-pci");
		add(a, "--iova-mode=va"); /* nothing needs physical addresses, which need root */
	}
	for (uint32_t i = 0; i < cfg->pcis; i++) {
		add(a, "-a");
		add(a, "%s", cfg->pci[i]);
	}
	for (uint32_t i = 0; i < cfg->vdevs; i++)
		if (!ndd_memif_is(cfg->vdev[i]) && !add_vdev(a, cfg, cfg->vdev[i]))
			return false;
	for (uint32_t i = 0; i < cfg->extras; i++)
		add(a, "%s", cfg->extra[i]);
	return true;
}

/* EAL keeps pointers into argv. */
bool
ndd_eal_init(const struct config *cfg, int verbose)
{
	static struct args a;

	add(&a, "dpdk-ndd");
	add_lcores(&a, cfg);
	add_memory(&a, cfg);
	if (verbose == 0)
		add(&a, "--log-level=*:warning");
	if (!cfg->telemetry)
		add(&a, "--no-telemetry");
	if (!add_devices(&a, cfg))
		return false;
	if (a.failed) {
		ndd_error("the configuration makes too many arguments for DPDK");
		return false;
	}
	for (int i = 1; i < a.n; i++)
		ndd_debug("EAL argument: %s", a.v[i]);
	if (rte_eal_init(a.n, a.v) < 0) {
		ndd_error("DPDK does not start: %s%s", rte_strerror(rte_errno),
			cfg->huge_pages ? " (no huge pages? set eal.huge_pages to false)" : "");
		return false;
	}
	return true;
}

unsigned
ndd_lcore_cpu(unsigned lcore)
{
	rte_cpuset_t set = rte_lcore_cpuset(lcore);
	unsigned cpu = 0;

	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &set))
		cpu++;
	return cpu;
}

uint64_t
ndd_lcore_cpus(unsigned lcore, uint32_t *group)
{
	rte_cpuset_t set = rte_lcore_cpuset(lcore);
	uint64_t mask = 0;

	*group = ndd_lcore_cpu(lcore) / 64;
	for (unsigned bit = 0; bit < 64; bit++)
		mask |= (uint64_t)(CPU_ISSET(64 * *group + bit, &set) != 0) << bit;
	return mask;
}
