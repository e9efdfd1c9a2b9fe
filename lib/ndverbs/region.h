/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions. */
#ifndef NDV_REGION_H
#define NDV_REGION_H

#include <stdbool.h>
#include <stdint.h>

/* ND_MR_FLAG_* of IBV_ACCESS_*. EINVAL: no such set of rights; EOPNOTSUPP: not one that we have. */
int ndv_region_flags(unsigned int access, uint32_t *flags);
/* NDSH_ACCESS_* of a window's. False: it can't have them. */
bool ndv_window_rights(unsigned int access, uint32_t *rights);

#endif
