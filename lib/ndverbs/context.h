/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts: a device that a program has opened. */
#ifndef NDV_CONTEXT_H
#define NDV_CONTEXT_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "ndclient/ndclient.h"
#include "ndverbs/device.h"

struct ndv_cq;
struct ndv_srq;
struct ndv_qp;

struct ndv_context {
	struct nd_adapter *adapter; /* NULL until it was needed; atomic */
	struct nd_adapter_info info;
	pthread_mutex_t lock;	 /* while the session is opened, and of what follows */
	LIST_HEAD(, ndv_cq) cqs; /* that events may be of */
	LIST_HEAD(, ndv_srq) srqs;
	struct nd_overlapped event_due;	    /* nd_adapter_notify_event() */
	LIST_ENTRY(ndv_context) in_process; /* with a session: permit.c */
	struct verbs_context verbs;	    /* programs have a pointer to the end of it */
};

static inline struct ndv_context *
ndv_context(struct ibv_context *context)
{
	return (struct ndv_context *)(void *)((char *)context -
					      offsetof(struct ndv_context, verbs.context));
}

/* The session with the daemon, opened now if it is not open yet: programs open every device that
 * they find. 0, or an errno. */
int ndv_session(struct ibv_context *context, struct ndv_context **c);
/* Events are told of these until they are removed. */
void ndv_context_add_cq(struct ndv_context *c, struct ndv_cq *cq);
void ndv_context_remove_cq(struct ndv_context *c, struct ndv_cq *cq);
void ndv_context_add_srq(struct ndv_context *c, struct ndv_srq *srq);
void ndv_context_remove_srq(struct ndv_context *c, struct ndv_srq *srq);
/* Of a queue pair no events are told any more, and none of its entries are given out. */
void ndv_context_forsake(struct ndv_context *c, struct ndv_qp *qp);

#endif
