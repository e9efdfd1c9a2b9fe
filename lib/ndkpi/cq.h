/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues. */
#ifndef NDK_CQ_H
#define NDK_CQ_H

#include "ndkpi/object.h"

struct ndk_cq {
	struct ndk_object object;
	NDK_FN_CQ_NOTIFICATION_CALLBACK notification;
	PVOID context;
};

extern const NDK_CQ_DISPATCH ndk_cq_dispatch;

/* NDK_ADAPTER_DISPATCH.NdkCreateCq */
NTSTATUS ndk_create_cq(NDK_ADAPTER *self, ULONG depth, NDK_FN_CQ_NOTIFICATION_CALLBACK notification,
	PVOID notification_context, GROUP_AFFINITY *affinity, NDK_FN_CREATE_COMPLETION completion,
	PVOID context, NDK_CQ **out);

#endif
