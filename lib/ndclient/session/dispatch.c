/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one place where what comes from outside finds its object: the daemon's events, and the
 * wake-ups of completion queues, in the control thread, the descriptors of callbacks in theirs. The
 * threads call it through nd_adapter.handlers.
 */
#include "ndclient/conn/connector.h"
#include "ndclient/conn/connector_event.h"
#include "ndclient/conn/listener.h"
#include "ndclient/conn/numbers.h"
#include "ndclient/conn/offer.h"
#include "ndclient/cq/callback.h"
#include "ndclient/cq/cq.h"
#include "ndclient/cq/notify.h"
#include "ndclient/mem/admin.h"
#include "ndclient/mem/window.h"
#include "ndclient/qp/modify.h"
#include "ndclient/qp/srq.h"
#include "ndclient/qp/srq_callback.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/event.h"
#include "ndclient/session/fd.h"
#include "ndclient/session/handlers.h"
#include "ndclient/ud/ah.h"
#include "ndclient/ud/listener.h"

/* ---- the control thread -------------------------------------------------------------- */

/* The end of the session is control.c's own. */
static void
dispatch_event(struct nd_adapter *a, const struct ndsh_msg_hdr *h)
{
	switch (h->type) {
	case NDSH_EV_CONN_REQUEST:
		nd_listener_request(a, (const struct ndsh_ev_conn *)h);
		break;
	case NDSH_EV_AH:
		nd_ah_event(a, (const struct ndsh_ev_ah *)h);
		break;
	case NDSH_EV_UD_QUESTION:
		nd_ud_question_event(a, (const struct ndsh_ev_ud_question *)h);
		break;
	case NDSH_EV_CM:
		nd_cm_event(a, (const struct ndsh_ev_cm *)h);
		break;
	case NDSH_EV_SRQ_LIMIT:
		nd_srq_limit(a, (const struct ndsh_ev_srq *)h);
		break;
	case NDSH_EV_ASYNC:
		nd_event_async(a, (const struct ndsh_ev_async *)h);
		break;
	case NDSH_EV_QP_MODIFIED:
		nd_qp_modified(a, (const struct ndsh_ev_qp *)h);
		break;
	default:
		nd_conn_event(a, (const struct ndsh_ev_conn *)h);
	}
}

static void
dispatch_queue(struct nd_adapter *a, uint32_t id)
{
	struct nd_cq *cq;

	TAILQ_FOREACH (cq, &a->cqs, link)
		if (cq->id == id)
			break;
	if (cq != NULL && cq == a->admin.cq)
		nd_admin_readable(a);
	else if (cq != NULL)
		nd_cq_readable(cq);
}

/* Everything that waits for the daemon ends now. */
static void
dispatch_removed(struct nd_adapter *a)
{
	struct nd_connector *c;
	struct nd_srq *srq;
	struct nd_cq *cq;

	TAILQ_FOREACH (c, &a->connectors, link)
		nd_conn_end_waiters(c, ND_DEVICE_REMOVED);
	TAILQ_FOREACH (cq, &a->cqs, link)
		nd_cq_end_waiters(cq, nd_cq_status(cq));
	TAILQ_FOREACH (srq, &a->srqs, link)
		nd_srq_removed(srq);
	nd_qp_end_modifies(a, ND_DEVICE_REMOVED);
	nd_event_removed(a);
	nd_ah_end_waiters(a, ND_DEVICE_REMOVED);
	nd_ud_listeners_end_waiters(a, ND_DEVICE_REMOVED);
	nd_admin_end(a, ND_DEVICE_REMOVED);
	nd_cm_event(a, NULL);
}

/* ---- the callbacks' thread ----------------------------------------------------------- */

static void
dispatch_cq_callback(struct nd_adapter *a, uint32_t id)
{
	(void)nd_cq_call_back(a, id);
}

static void
dispatch_offer(struct nd_adapter *a, uint32_t id)
{
	(void)id;
	(void)nd_listener_call_back(a);
}

/* Regions that polling and posting threads let go of last. */
static void
dispatch_end(struct nd_adapter *a, uint32_t id)
{
	(void)id;
	(void)nd_drain(a->callbacks.end_fd);
	nd_mr_end_all(a);
}

static void
dispatch_cm_time(struct nd_adapter *a, uint32_t id)
{
	(void)id;
	nd_cm_time(a);
}

const struct nd_handlers nd_handlers = {
	.on_event = dispatch_event,
	.on_queue = dispatch_queue,
	.on_removed = dispatch_removed,
	.on_ready =
		{
			[ND_CALLBACK_CQ] = dispatch_cq_callback,
			[ND_CALLBACK_SRQ] = nd_srq_call_back,
			[ND_CALLBACK_OFFER] = dispatch_offer,
			[ND_CALLBACK_END] = dispatch_end,
			[ND_CALLBACK_CM] = dispatch_cm_time,
		},
};
