/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues. */
#ifndef NDK_SRQ_OBJECT_H
#define NDK_SRQ_OBJECT_H

#include <pthread.h>

#include "ndkpi/object.h"

struct ndk_srq {
	struct ndk_object object;
	NDK_FN_SRQ_NOTIFICATION_CALLBACK notification; /* or NULL */
	PVOID context;
	/* libndclient wants no receive posted while the queue is modified, and NDK's consumer does
	 * not know when that is. */
	pthread_mutex_t modifying;
};

/* NDK_PD_DISPATCH.NdkCreateSrq */
NTSTATUS ndk_create_srq(NDK_PD *self, ULONG depth, ULONG sge, ULONG threshold,
	NDK_FN_SRQ_NOTIFICATION_CALLBACK notification, PVOID notification_context,
	GROUP_AFFINITY *affinity, NDK_FN_CREATE_COMPLETION completion, PVOID context,
	NDK_SRQ **out);

#endif
