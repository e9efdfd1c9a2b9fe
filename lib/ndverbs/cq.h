/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues. */
#ifndef NDV_CQ_H
#define NDV_CQ_H

#include <infiniband/verbs.h>

#include "ndclient/cq/take.h"
#include "ndverbs/object.h"

/* With what both ways of creating one give; NULL and errno. */
struct ndv_cq *ndv_cq_make(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr);
struct ibv_cq_ex *ndv_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
int ndv_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int ndv_req_notify_cq(struct ibv_cq *cq, int solicited_only);
/* Fill *wc from an entry. */
void ndv_wc_of(const struct nd_entry *entry, struct ibv_wc *wc);
/* The queue has an event for its channel, or is about to be destroyed and has none any more. */
void ndv_channel_put(struct ndv_cq *cq);
void ndv_channel_forget(struct ndv_cq *cq);

#endif
