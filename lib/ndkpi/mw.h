/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows. */
#ifndef NDK_MW_OBJECT_H
#define NDK_MW_OBJECT_H

#include "ndkpi/object.h"

/* NDK_PD_DISPATCH.NdkCreateMw */
NTSTATUS ndk_create_mw(
	NDK_PD *self, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_MW **out);

#endif
