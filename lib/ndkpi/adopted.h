/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is not of NdkAllocateMemory(), while logical address mappings hold it: it is adopted
 * where it lies, by regions of libndclient. One page may belong to two mappings, of neighbours, so
 * a mapping has a region for each run of pages that begins and ends where another's memory does.
 */
#ifndef NDK_ADOPTED_H
#define NDK_ADOPTED_H

#include <pthread.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ndclient/ndclient.h"

struct ndk_hold; /* what one mapping has */

struct ndk_adopted { /* of an adapter */
	pthread_mutex_t lock;
	struct nd_pd *pd; /* of the regions; the rest is guarded by lock */
	LIST_HEAD(, ndk_hold) holds;
};

void ndk_adopted_init(struct ndk_adopted *all);
/* When the adapter of libndclient is closed. */
void ndk_adopted_fini(struct ndk_adopted *all);
/*
 * Adopt [at, at+bytes), whole pages. ND_NOT_SUPPORTED: a part of it can't be adopted; nd_adoption()
 * counts why. ND_INSUFFICIENT_RESOURCES, ND_DEVICE_REMOVED. Waits for the daemon.
 */
nd_status ndk_adopted_hold(struct ndk_adopted *all, struct nd_adapter *a, uintptr_t at,
	size_t bytes, struct ndk_hold **out);
/* The memory is private again, as far as no other mapping has it. Waits for the daemon. */
void ndk_adopted_drop(struct ndk_adopted *all, struct ndk_hold *hold);

#endif
