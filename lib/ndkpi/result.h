/* SPDX-License-Identifier: BSD-3-Clause */
/* Results, as NDK lays them out. */
#ifndef NDK_RESULT_H
#define NDK_RESULT_H

#include "ndclient/ndclient.h"

#include "ndkpi/ndkpi.h"

/* Take up to n; a dead queue has none. */
ULONG ndk_results(struct nd_cq *cq, NDK_RESULT results[], ULONG n);
ULONG ndk_results_ex(struct nd_cq *cq, NDK_RESULT_EX results[], ULONG n);

#endif
