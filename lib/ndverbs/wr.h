/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting by calls that fill a request step by step: ibv_wr_start() to ibv_wr_complete(). */
#ifndef NDV_WR_H
#define NDV_WR_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

struct ndv_qp;

/* IBV_QP_EX_WITH_*: what queue pairs of the type can be created for. */
uint64_t ndv_wr_operations(enum ibv_qp_type type);
/* The queue pair has these calls from now on. False: no memory. */
bool ndv_wr_prepare(struct ndv_qp *qp, uint64_t operations);

#endif
