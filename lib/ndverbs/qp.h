/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs. */
#ifndef NDV_QP_H
#define NDV_QP_H

#include "ndverbs/object.h"

struct ibv_qp *ndv_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
/* What is posted vanishes, as by a change to RESET. */
void ndv_qp_empty(struct ndv_qp *qp);

#endif
