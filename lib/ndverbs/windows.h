/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows, as programs call for them by the context. */
#ifndef NDV_WINDOWS_H
#define NDV_WINDOWS_H

#include <infiniband/verbs.h>

struct ibv_mw *ndv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
/* One that is bound as well. */
int ndv_dealloc_mw(struct ibv_mw *mw);
/* Post a bind of a window of type 1, which has its new key when this returns 0. */
int ndv_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

#endif
