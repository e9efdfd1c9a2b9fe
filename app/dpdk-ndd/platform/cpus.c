/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "platform/cpus.h"
#include "platform/log.h"

/* Those that the calling thread may run on. */
static bool
allowed_cpus(cpu_set_t *set)
{
	CPU_ZERO(set);
	return sched_getaffinity(0, sizeof(*set), set) == 0;
}

unsigned
ndd_cpus_first(void)
{
	cpu_set_t allowed;
	unsigned cpu = 0;

	if (!allowed_cpus(&allowed))
		return 0;
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &allowed))
		cpu++;
	return cpu;
}

/* "0-3,5" */
static void
cpus_print(const cpu_set_t *set, char *out, size_t bytes)
{
	size_t used = 0;

	out[0] = 0;
	for (int first = 0, last; first < CPU_SETSIZE && used + 16 < bytes; first = last + 1) {
		last = first;
		if (!CPU_ISSET(first, set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
			last++;
		used += (size_t)snprintf(out + used, bytes - used,
			last > first ? "%s%d-%d" : "%s%d", used == 0 ? "" : ",", first, last);
	}
}

static void
refuse_cpu(const struct config *cfg, uint32_t i, int why, const cpu_set_t *allowed)
{
	char has[NDD_CPUS_TEXT_BYTES];

	cpus_print(allowed, has, sizeof(has));
	ndd_error("lcores[%u]: this process can't have CPU %u: %s; it runs on %s", i, cfg->lcore[i],
		why == EINVAL
			? "there is none, it is off line, or the cgroup's cpuset is without it"
			: strerror(why),
		has);
}

/*
 * Asked by doing it: what a thread runs on can be less than what it can have (taskset), and what
 * the machine has can be more (a cgroup's cpuset, a CPU that is off line).
 */
bool
ndd_cpus_check(const struct config *cfg)
{
	cpu_set_t allowed, one;
	bool all = true;

	if (!allowed_cpus(&allowed)) {
		ndd_error("CPUs of this process: %s", strerror(errno));
		return false;
	}
	for (uint32_t i = 0; i < cfg->lcores && all; i++) {
		CPU_ZERO(&one);
		CPU_SET(cfg->lcore[i], &one);
		all = sched_setaffinity(0, sizeof(one), &one) == 0;
		if (!all)
			refuse_cpu(cfg, i, errno, &allowed);
	}
	if (sched_setaffinity(0, sizeof(allowed), &allowed) == 0)
		return all;
	ndd_error("back to the CPUs that this process has: %s", strerror(errno));
	return false;
}

void
ndd_cpus_of_control(const struct config *cfg, char *out, size_t bytes)
{
	cpu_set_t allowed, rest;

	if (!allowed_cpus(&allowed))
		CPU_SET(cfg->lcore[0], &allowed);
	rest = allowed;
	for (uint32_t i = 0; i < cfg->lcores; i++)
		CPU_CLR(cfg->lcore[i], &rest);
	cpus_print(CPU_COUNT(&rest) != 0 ? &rest : &allowed, out, bytes);
}
