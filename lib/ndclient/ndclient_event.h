/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libndclient: asynchronous events, as verbs have them: what happens to objects without a request
 * that could say so. Part of ndclient.h. Our extension: ND 2 has no such calls.
 *
 * Events are kept with the object that they are of, until they are taken: none is lost, and what
 * an application never takes needs no room. One that happens again before it was taken is told
 * once. They are kept from the first of these calls on an adapter on; what happened before is not
 * told. Closing an object takes its events back.
 */
#ifndef NDCLIENT_EVENT_H
#define NDCLIENT_EVENT_H

#include "ndclient.h"

#ifdef __cplusplus
extern "C" {
#endif

enum nd_event_type {
	/* Of a queue pair, in the order in which they are told: */
	ND_EVENT_ESTABLISHED = 1,  /* the peer's first request came */
	ND_EVENT_DRAINED,	   /* ND_QP_STATE_SQD: all that was begun is acknowledged */
	ND_EVENT_QP_REQUEST_ERROR, /* it ended: the peer asked for what can't be done */
	ND_EVENT_QP_ACCESS_ERROR,  /* it ended: the peer asked for what is not permitted */
	ND_EVENT_QP_ERROR,	   /* it ended by a request or receive, or by its keepalive */
	ND_EVENT_QP_FATAL,	   /* it ended with its completion queue, by our fault, or the
				    * daemon took it away: its address or its way has gone */
	ND_EVENT_LAST_RECEIVE,	   /* it takes no more from its shared receive queue */
	/* Of a completion queue: it overran, or lost its memory. */
	ND_EVENT_CQ_ERROR,
	/* Of a shared receive queue without a callback: fewer receives wait than the threshold that
	 * nd_srq_modify() was called with last; one event for each such call (W-EVT-01). */
	ND_EVENT_SRQ_LIMIT,
	/* Of the adapter: */
	ND_EVENT_LINK_DOWN, /* its port has no link; of several changes the last is told */
	ND_EVENT_LINK_UP,
	ND_EVENT_ADDRESSES,	 /* of its port came or went: nd_query_addresses() */
	ND_EVENT_DEVICE_REMOVED, /* the daemon has gone, or ended the session: the last one */
};

struct nd_event {
	enum nd_event_type type;
	uint32_t detail;    /* of an end: nd_detail_name() */
	struct nd_qp *qp;   /* or NULL; it is for the application to know that it is still open */
	struct nd_cq *cq;   /* or NULL */
	void *context;	    /* of the queue pair */
	struct nd_srq *srq; /* or NULL */
};

/*
 * Take the next event. ND_NO_MORE_ENTRIES: there is none; ND_NOT_SUPPORTED: the daemon is older
 * than this. ND_DEVICE_REMOVED: as that, once the event that says so was taken. Any thread.
 */
nd_status nd_adapter_get_event(struct nd_adapter *a, struct nd_event *event);
/*
 * Completes with ND_SUCCESS when there is an event to take, at once if there is one; several may be
 * outstanding and complete together. After taking the events that there were, ask anew. Always
 * ND_PENDING if it succeeds. ND_NOT_SUPPORTED as above.
 */
nd_status nd_adapter_notify_event(struct nd_adapter *a, struct nd_overlapped *ov);
/* Pending notifications complete with ND_CANCELED. ND_SUCCESS. */
nd_status nd_adapter_cancel_events(struct nd_adapter *a);

#ifdef __cplusplus
}
#endif

#endif
