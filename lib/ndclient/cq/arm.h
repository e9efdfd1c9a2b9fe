/* SPDX-License-Identifier: BSD-3-Clause */
/* What all styles of notification share. */
#ifndef ND_ARM_H
#define ND_ARM_H

#include "ndclient/ndclient.h"

/* The status of the queue's fault, ND_SUCCESS: it has none. */
nd_status nd_cq_fault(const struct nd_cq *cq);
/* Wake the callbacks' thread for the queue, if a callback is armed; nd_cq.lock held. */
void nd_cq_kick(struct nd_cq *cq);

#endif
