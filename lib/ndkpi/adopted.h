/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is not of NdkAllocateMemory(), while logical address mappings hold it: it is adopted
 * where it lies, by regions of libndclient. Pages are adopted, and are private again, a range at a
 * time. One page may belong to two mappings, of neighbours: it is a range of its own, so that
 * nothing but this page stays adopted while one of them holds it. Mappings that overlap otherwise
 * have a region for each run of pages between the borders of others.
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
 * Adopt the pages of [at, at+bytes). ND_NOT_SUPPORTED: one of them can't be adopted;
 * ND_INSUFFICIENT_RESOURCES, ND_DEVICE_REMOVED. Waits for the daemon.
 */
nd_status ndk_adopted_hold(struct ndk_adopted *all, struct nd_adapter *a, uintptr_t at,
	size_t bytes, struct ndk_hold **out);
/* The memory is private again, but for ranges of which another mapping has a part. Waits for the
 * daemon. */
void ndk_adopted_drop(struct ndk_adopted *all, struct ndk_hold *hold);

#endif
