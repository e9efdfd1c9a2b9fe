/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous events wait in their objects: a bit for each kind. */
#ifndef ND_EVENT_H
#define ND_EVENT_H

#include <stdint.h>
#include <sys/queue.h>

struct nd_qp;
struct nd_cq;
struct nd_srq;

struct nd_event_source {		   /* in queue pairs, queues, the adapter */
	TAILQ_ENTRY(nd_event_source) link; /* of those that have some */
	uint32_t pending;		   /* 1 << enum nd_event_type */
	uint32_t detail;		   /* of its end */
	struct nd_qp *qp;
	struct nd_cq *cq;
	struct nd_srq *srq;
};
TAILQ_HEAD(nd_event_list, nd_event_source);

#endif
