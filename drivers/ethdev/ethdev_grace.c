/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Grace for the memory of peers that DPDK's vhost-user driver unmaps, in a thread of its own, while
 * an lcore may be in the middle of a burst. The driver has no hook before that moment, but it calls
 * munmap(), and this file's definition of it comes first: on threads that are no lcore it waits
 * until every burst has ended that could have begun before.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_lcore.h>

#include "ethdev/ethdev.h"

#define GRACE_PORTS 8

static struct ethdev *device_of[GRACE_PORTS];

void
ethdev_grace_watch(struct ethdev *e, bool on)
{
	for (int i = 0; i < GRACE_PORTS; i++) {
		struct ethdev *expected = on ? NULL : e;

		if (__atomic_compare_exchange_n(&device_of[i], &expected, on ? e : NULL, 0,
			    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			break;
	}
	port_grace_prepare();
}

void
ethdev_grace_wait(void)
{
	for (int i = 0; i < GRACE_PORTS; i++) {
		const struct ethdev *e = __atomic_load_n(&device_of[i], __ATOMIC_ACQUIRE);

		if (e != NULL)
			port_grace_wait(&e->grace);
	}
}

struct ethdev *
ethdev_grace_in_burst(void)
{
	for (int i = 0; i < GRACE_PORTS; i++) {
		struct ethdev *e = __atomic_load_n(&device_of[i], __ATOMIC_ACQUIRE);

		if (e != NULL && port_grace_in_burst(&e->grace))
			return e;
	}
	return NULL;
}

int
munmap(void *addr, size_t bytes)
{
	if (rte_lcore_id() == LCORE_ID_ANY) {
		ethdev_grace_wait();
		ethdev_memory_unmapped(addr);
	}
	return (int)syscall(SYS_munmap, addr, bytes);
}
