/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A grace period for the memory of DPDK's memif driver. When the peer goes away, the driver's
 * interrupt thread marks the device as not connected and unmaps the shared rings at once, although
 * an lcore may be in the middle of a burst on them: the daemon would die with its peer (seen with
 * DPDK 22.11). The driver has no hook before that moment, but it calls munmap(), and this file's
 * definition of it comes first: on threads that are no lcore it waits until every burst has ended
 * that could have begun before.
 *
 * The lcore pays two plain stores per burst; the full barrier that Dekker's handshake needs between
 * its store and the driver's check is put there from the outside by membarrier().
 */
#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_lcore.h>

#include "ethdev/ethdev.h"

#define GRACE_PORTS 8
#define GRACE_SPINS 1000000 /* a burst takes microseconds; a descheduled lcore milliseconds */

static struct ethdev *device_of[GRACE_PORTS];
static int expedited;

void
ethdev_grace_watch(struct ethdev *e, bool on)
{
	for (int i = 0; i < GRACE_PORTS; i++) {
		struct ethdev *expected = on ? NULL : e;

		if (__atomic_compare_exchange_n(&device_of[i], &expected, on ? e : NULL, 0,
			    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			break;
	}
	expedited = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void
ethdev_grace_wait(void)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	if (!expedited || syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
		nanosleep(&moment, NULL); /* store buffers are empty by then */
	for (int i = 0; i < GRACE_PORTS; i++) {
		struct ethdev *e = __atomic_load_n(&device_of[i], __ATOMIC_ACQUIRE);
		uint32_t seq;

		if (e == NULL)
			continue;
		seq = __atomic_load_n(&e->bursts, __ATOMIC_ACQUIRE);
		for (int k = 0; (seq & 1) != 0 && k < GRACE_SPINS; k++) {
			if (__atomic_load_n(&e->bursts, __ATOMIC_ACQUIRE) != seq)
				break;
			sched_yield();
		}
	}
}

struct ethdev *
ethdev_grace_in_burst(void)
{
	for (int i = 0; i < GRACE_PORTS; i++) {
		struct ethdev *e = __atomic_load_n(&device_of[i], __ATOMIC_ACQUIRE);

		if (e != NULL && (__atomic_load_n(&e->bursts, __ATOMIC_RELAXED) & 1) != 0)
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
