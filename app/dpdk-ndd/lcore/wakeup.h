/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How threads of the daemon wake each other: work is put into a ring first, then the bell of its
 * reader is rung; the system call is made only if the reader sleeps.
 *
 * Sleeper: ndd_bell_rest(); look at all rings once more; if empty, epoll_wait(); ndd_bell_up().
 * Ringer:  enqueue; ndd_bell_ring().
 * Both have a full barrier between their write and their read, so one of them sees the other.
 */
#ifndef NDD_BELL_H
#define NDD_BELL_H

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "shm/ndsh_ring.h"

struct ndd_bell {
	_Alignas(NDSH_CACHE_LINE) uint32_t asleep;
	int fd; /* eventfd, non-blocking, for the sleeper's epoll */
};

bool ndd_bell_init(struct ndd_bell *b);
void ndd_bell_fini(struct ndd_bell *b);
/* Make fd unreadable again. */
void ndd_bell_drain(struct ndd_bell *b);
/* The part of ndd_bell_ring() that costs a system call. */
void ndd_bell_kick(struct ndd_bell *b);

static inline void
ndd_bell_rest(struct ndd_bell *b)
{
	__atomic_store_n(&b->asleep, 1, __ATOMIC_RELAXED);
	ndsh_full_barrier();
}

static inline void
ndd_bell_up(struct ndd_bell *b)
{
	__atomic_store_n(&b->asleep, 0, __ATOMIC_RELAXED);
}

static inline void
ndd_bell_ring(struct ndd_bell *b)
{
	ndsh_full_barrier();
	if (__atomic_load_n(&b->asleep, __ATOMIC_RELAXED) != 0)
		ndd_bell_kick(b);
}

#endif
