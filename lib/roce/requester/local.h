/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of the send queue that nothing is sent for (ndsh_op_is_local()). */
#ifndef ROCE_LOCAL_H
#define ROCE_LOCAL_H

#include "roce/roce.h"

struct roce_wqe;

#define ROCE_LOCAL_BUDGET 16u /* local operations that may run between two packets */

/* The part of ROCE_LOCAL_BUDGET that op takes: a page list takes its time. */
static inline unsigned
roce_local_cost(uint8_t op)
{
	return op == NDSH_OP_FAST_REGISTER ? ROCE_LOCAL_BUDGET / 2 : 1;
}

/* Carry out w, whose turn it is to be sent. False: it failed, or has to wait for requests before
 * it. */
bool roce_local_run(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w);

#endif
