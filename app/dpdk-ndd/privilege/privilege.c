/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_lcore.h>

#include "memif/memif.h"
#include "platform/log.h"
#include "privilege/filter.h"
#include "privilege/identity.h"
#include "privilege/needs.h"
#include "privilege/privilege.h"
#include "privilege/threads.h"
#include "session/closer.h"

static struct ndd_identity identity;
static struct ndd_filter filter[NDD_THREAD_KINDS];
static bool all_may_ask; /* before there are filters */

bool
ndd_privilege_prepare(const struct config *cfg)
{
	if (!ndd_identity_find(&identity, cfg->user, ndd_needs_caps(cfg)))
		return false;
	for (int kind = 0; cfg->seccomp != CONFIG_SECCOMP_OFF && kind < NDD_THREAD_KINDS; kind++)
		if (!ndd_filter_make(&filter[kind], (enum ndd_thread_kind)kind, cfg))
			return false;
	return true;
}

/* EAL numbers lcores, of which the control thread is 0. Others of ours have names: they work for
 * the control thread. */
static enum ndd_thread_kind
thread_kind(void)
{
	unsigned lcore = rte_lcore_id();
	char name[16] = "";

	if (lcore != LCORE_ID_ANY)
		return lcore == rte_get_main_lcore() ? NDD_THREAD_CONTROL : NDD_THREAD_LCORE;
	(void)syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0);
	if (strcmp(name, NDD_CLOSER_NAME) == 0)
		return NDD_THREAD_CLOSER;
	if (strcmp(name, MEMIF_THREAD_NAME) == 0)
		return NDD_THREAD_MEMIF;
	return strncmp(name, "ndd-", 4) == 0 ? NDD_THREAD_CONTROL : NDD_THREAD_DPDK;
}

/* Clients' memory is in the daemon's: neither a file nor a debugger of its user shows it. A change
 * of the user decides about it as well, so it is said behind that. */
static bool
hide_memory(const struct config *cfg)
{
	const struct rlimit none = {0, 0};

	return syscall(SYS_prctl, PR_SET_DUMPABLE, cfg->core_dumps, 0, 0, 0) == 0 &&
	       (cfg->core_dumps || setrlimit(RLIMIT_CORE, &none) == 0);
}

/* Every thread may ask that, unless a filter of ours refuses it, or one of the daemon's
 * surroundings, which the main thread has then, too. */
static bool
may_ask(void)
{
	return syscall(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) >= 0 || errno != EPERM;
}

/* A thread that was made by one that had done this has all of it from there, and its filter refuses
 * the rest: of DPDK's telemetry, when a client comes at this moment. */
static bool
thread_drop(const void *arg)
{
	const struct config *cfg = arg;

	if (all_may_ask && !may_ask())
		return true;
	return ndd_identity_take(&identity) && hide_memory(cfg) &&
	       (cfg->seccomp == CONFIG_SECCOMP_OFF || ndd_filter_install(&filter[thread_kind()]));
}

bool
ndd_privilege_drop(const struct config *cfg)
{
	all_may_ask = may_ask();
	if (!ndd_threads_each(thread_drop, cfg)) {
		ndd_error("not all threads have given up their privileges");
		return false;
	}
	ndd_info("privileges: user %u, capabilities %" PRIx64 " at most", (unsigned)geteuid(),
		identity.caps);
	return true;
}
