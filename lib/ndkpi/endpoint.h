/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared endpoints. */
#ifndef NDK_ENDPOINT_H
#define NDK_ENDPOINT_H

#include "ndkpi/object.h"

/* NDK_ADAPTER_DISPATCH.NdkCreateSharedEndpoint */
NTSTATUS ndk_create_shared_endpoint(NDK_ADAPTER *self, CONST SOCKADDR *address, ULONG bytes,
	NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_SHARED_ENDPOINT **out);

#endif
