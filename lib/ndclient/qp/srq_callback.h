/* SPDX-License-Identifier: BSD-3-Clause */
/* Notifications of shared receive queues by callback. */
#ifndef ND_SRQ_CALLBACK_H
#define ND_SRQ_CALLBACK_H

#include <stdint.h>

#include "ndclient/ndclient.h"

/* Run the queue's callback, if it is owed one. By the callbacks' thread, no lock held. */
void nd_srq_call_back(struct nd_adapter *a, uint32_t id);

/* The others: nd_adapter.lock held. Wake the callbacks' thread, if the queue is armed. */
void nd_srq_kick(struct nd_srq *srq);
/* Fewer receives are left than the threshold. */
void nd_srq_due(struct nd_srq *srq);
/* No callback is entered any more; the queue was taken from its list. */
void nd_srq_callback_off(struct nd_srq *srq);

#endif
