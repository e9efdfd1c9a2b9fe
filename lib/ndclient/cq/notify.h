/* SPDX-License-Identifier: BSD-3-Clause */
/* Notifications of completion queues in the overlapped style: the control thread's side. */
#ifndef ND_NOTIFY_H
#define ND_NOTIFY_H

#include "ndclient/ndclient.h"

/* The queue's notify_fd is readable; nd_adapter.lock held. */
void nd_cq_readable(struct nd_cq *cq);
/* Complete all waiters with that status, and wake the callbacks' thread if the queue is armed. */
void nd_cq_end_waiters(struct nd_cq *cq, nd_status st);

#endif
