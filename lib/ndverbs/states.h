/* SPDX-License-Identifier: BSD-3-Clause */
/* States of queue pairs, and what each step between them needs and takes. */
#ifndef NDV_STATES_H
#define NDV_STATES_H

#include <infiniband/verbs.h>

/* 0; EINVAL: there is no such step, it needs attributes that mask has not, or takes not all of
 * those that it has; EOPNOTSUPP: it would take them, but we have no alternate paths. */
int ndv_check_step(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to, int mask);

#endif
