/* SPDX-License-Identifier: BSD-3-Clause */
/* Adapters. */
#ifndef NDK_ADAPTER_H
#define NDK_ADAPTER_H

#include <pthread.h>

#include "ndclient/ndclient.h"

#include "ndkpi/adopted.h"
#include "ndkpi/blocks.h"
#include "ndkpi/ndkpi.h"
#include "ndkpi/worker.h"

struct ndk_adapter {
	NDK_ADAPTER face;
	struct nd_adapter *nd;
	struct ndk_worker worker;
	struct ndk_blocks blocks;   /* of NdkAllocateMemory() */
	struct ndk_adopted adopted; /* other memory that is mapped */
	pthread_mutex_t lock;
	pthread_cond_t unused;
	uint32_t holders; /* objects; guarded by lock */
};

/* That of all objects: 1.2. */
extern const NDK_VERSION ndk_version;

void ndk_adapter_hold(struct ndk_adapter *a);
void ndk_adapter_drop(struct ndk_adapter *a);

#endif
