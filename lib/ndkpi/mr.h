/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions. */
#ifndef NDK_MR_OBJECT_H
#define NDK_MR_OBJECT_H

#include <stdbool.h>

#include "ndkpi/object.h"

/* object.nd is a struct nd_mr, or a struct nd_fr. */
struct ndk_mr {
	struct ndk_object object;
	bool fast;
	struct nd_pd *pd;
};

/* NDK_PD_DISPATCH.NdkCreateMr */
NTSTATUS ndk_create_mr(NDK_PD *self, BOOLEAN fast, NDK_FN_CREATE_COMPLETION completion,
	PVOID context, NDK_MR **out);

#endif
