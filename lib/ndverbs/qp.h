/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs. */
#ifndef NDV_QP_H
#define NDV_QP_H

#include "ndverbs/object.h"

/* What is posted vanishes, as by a change to RESET. */
void ndv_qp_empty(struct ndv_qp *qp);

#endif
