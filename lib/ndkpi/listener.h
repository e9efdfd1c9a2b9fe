/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners. */
#ifndef NDK_LISTENER_OBJECT_H
#define NDK_LISTENER_OBJECT_H

#include "ndkpi/object.h"

struct ndk_listener {
	struct ndk_object object;
	NDK_FN_CONNECT_EVENT_CALLBACK event;
	PVOID context;
};

/* NDK_ADAPTER_DISPATCH.NdkCreateListener */
NTSTATUS ndk_create_listener(NDK_ADAPTER *self, NDK_FN_CONNECT_EVENT_CALLBACK event,
	PVOID event_context, NDK_FN_CREATE_COMPLETION completion, PVOID context,
	NDK_LISTENER **out);

#endif
