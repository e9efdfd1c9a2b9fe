/* SPDX-License-Identifier: BSD-3-Clause */
/* What all styles of notification share. */
#ifndef ND_ARM_H
#define ND_ARM_H

#include <stdbool.h>
#include <stdint.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_ring.h"

/* The ABI's number of ND_CQ_NOTIFY_*; false: it is none of them. */
bool nd_arm_of(uint32_t type, enum ndsh_arm *arm);
/* The status of the queue's fault, ND_SUCCESS: it has none. */
nd_status nd_cq_fault(const struct nd_cq *cq);
/* Wake the callbacks' thread for the queue, if a callback is armed; nd_cq.lock held. */
void nd_cq_kick(struct nd_cq *cq);

#endif
