/* SPDX-License-Identifier: BSD-3-Clause */
/* Notifications of completion queues by callback. */
#ifndef ND_CALLBACK_H
#define ND_CALLBACK_H

#include <stdbool.h>
#include <stdint.h>

#include "ndclient/ndclient.h"

/* Run the queue's callback, if it is owed one; false: it is not. By the callbacks' thread. */
bool nd_cq_call_back(struct nd_adapter *a, uint32_t id);
/* No callback is entered any more; the queue was taken from its list. nd_adapter.lock held. */
void nd_cq_callback_off(struct nd_cq *cq);

#endif
