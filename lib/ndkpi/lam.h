/* SPDX-License-Identifier: BSD-3-Clause */
/* Logical address mappings: NDK_ADAPTER_DISPATCH's calls of these names. */
#ifndef NDK_LAM_H
#define NDK_LAM_H

#include "ndkpi/ndkpi.h"

NTSTATUS ndk_build_lam(NDK_ADAPTER *self, MDL *mdl, SIZE_T length,
	NDK_FN_REQUEST_COMPLETION completion, PVOID context, NDK_LOGICAL_ADDRESS_MAPPING *lam,
	ULONG *lam_bytes, ULONG *fbo);
VOID ndk_release_lam(NDK_ADAPTER *self, NDK_LOGICAL_ADDRESS_MAPPING *lam);

#endif
