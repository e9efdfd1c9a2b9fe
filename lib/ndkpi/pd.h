/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection domains. */
#ifndef NDK_PD_OBJECT_H
#define NDK_PD_OBJECT_H

#include "ndkpi/object.h"

struct ndk_pd {
	struct ndk_object object;
	UINT32 privileged_token;
};

/* NDK_ADAPTER_DISPATCH.NdkCreatePd */
NTSTATUS ndk_create_pd(
	NDK_ADAPTER *self, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_PD **out);

#endif
