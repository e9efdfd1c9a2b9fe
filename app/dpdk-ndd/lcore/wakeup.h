/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How threads of the daemon wake each other: a thread puts work into a ring, then notifies the
 * reader of the ring; the system call is made only if the reader sleeps.
 *
 * Reader: ndd_wakeup_before_sleep(); check all rings once more; if they are empty, epoll_wait();
 *         ndd_wakeup_after_sleep().
 * Writer: enqueue; ndd_wakeup_notify().
 * Both have a full barrier between their write and their read, so one of them sees the other.
 */
#ifndef NDD_WAKEUP_H
#define NDD_WAKEUP_H

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "shm/ndsh_ring.h"

struct ndd_wakeup {
	_Alignas(NDSH_CACHE_LINE) uint32_t asleep;
	int fd; /* eventfd, non-blocking, for the sleeper's epoll */
};

bool ndd_wakeup_init(struct ndd_wakeup *b);
void ndd_wakeup_fini(struct ndd_wakeup *b);
/* Make fd unreadable again. */
void ndd_wakeup_drain(struct ndd_wakeup *b);
/* The part of ndd_wakeup_notify() that makes the system call. */
void ndd_wakeup_signal(struct ndd_wakeup *b);

static inline void
ndd_wakeup_before_sleep(struct ndd_wakeup *b)
{
	__atomic_store_n(&b->asleep, 1, __ATOMIC_RELAXED);
	ndsh_full_barrier();
}

static inline void
ndd_wakeup_after_sleep(struct ndd_wakeup *b)
{
	__atomic_store_n(&b->asleep, 0, __ATOMIC_RELAXED);
}

static inline void
ndd_wakeup_notify(struct ndd_wakeup *b)
{
	ndsh_full_barrier();
	if (__atomic_load_n(&b->asleep, __ATOMIC_RELAXED) != 0)
		ndd_wakeup_signal(b);
}

#endif
