/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous events wait in their objects: a bit for each kind. */
#ifndef ND_EVENT_H
#define ND_EVENT_H

#include <stdint.h>
#include <sys/queue.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_msg.h"

struct nd_event_source {		   /* in queue pairs, queues, the adapter */
	TAILQ_ENTRY(nd_event_source) link; /* of those that have some */
	uint32_t pending;		   /* 1 << enum nd_event_type */
	uint32_t detail;		   /* of its end */
	struct nd_qp *qp;
	struct nd_cq *cq;
	struct nd_srq *srq;
};
TAILQ_HEAD(nd_event_list, nd_event_source);

/* By the control thread, nd_adapter.lock held: the daemon tells an event. */
void nd_event_async(struct nd_adapter *a, const struct ndsh_ev_async *ev);
void nd_event_srq_limit(struct nd_srq *srq);
/* The session is over. */
void nd_event_removed(struct nd_adapter *a);
/* The object is being closed. */
void nd_event_forget(struct nd_adapter *a, struct nd_event_source *s);

#endif
