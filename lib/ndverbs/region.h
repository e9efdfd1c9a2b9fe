/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions. */
#ifndef NDV_REGION_H
#define NDV_REGION_H

#include <stdint.h>

/* ND_MR_FLAG_* of IBV_ACCESS_*. EINVAL: no such set of rights; EOPNOTSUPP: not one that we have. */
int ndv_region_flags(unsigned int access, uint32_t *flags);

#endif
