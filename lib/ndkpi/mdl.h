/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory descriptor lists. */
#ifndef NDK_MDL_H
#define NDK_MDL_H

#include <stdbool.h>

#include "ndkpi/ndkpi.h"

/* Where the list's memory begins, if its first bytes bytes (1 or more) follow each other in
 * addresses, above 0. NULL: not so, or it has fewer (R-MR-13). */
PVOID ndk_mdl_start(const MDL *mdl, SIZE_T bytes);

#endif
