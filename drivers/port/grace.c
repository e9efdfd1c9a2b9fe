/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/grace.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define GRACE_SPINS 1000000 /* a burst takes microseconds; a descheduled lcore milliseconds */

static int expedited;

void
port_grace_prepare(void)
{
	long rc = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);

	__atomic_store_n(&expedited, rc == 0, __ATOMIC_RELAXED);
}

void
port_grace_wait(const struct port_grace *g)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	uint32_t seq;

	if (!__atomic_load_n(&expedited, __ATOMIC_RELAXED) ||
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
		nanosleep(&moment, NULL); /* store buffers are empty by then */
	seq = __atomic_load_n(&g->bursts, __ATOMIC_ACQUIRE);
	for (int k = 0; (seq & 1) != 0 && k < GRACE_SPINS; k++) {
		if (__atomic_load_n(&g->bursts, __ATOMIC_ACQUIRE) != seq)
			break;
		sched_yield();
	}
}
