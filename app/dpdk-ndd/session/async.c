/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous events: what happens to a client's objects without a request of its that could say
 * so. Clients get them that have asked for them; the library keeps them until they are taken.
 */
#include "control/daemon.h"
#include "object/cq.h"
#include "object/qp.h"
#include "session/async.h"
#include "session/send.h"
#include "session/session.h"

struct fate {
	uint8_t event;	/* enum ndsh_async */
	uint8_t status; /* the closest enum ndsh_wc_status */
};

/* A fault of the peer at this queue pair is an event alone; a fault of one of its own requests has
 * a completion, too (IBTA volume 1, chapters 10.10 and 11.6). */
static struct fate
fate_of(enum roce_reason reason)
{
	static const struct fate of[ROCE_REASON_COUNT] = {
		[ROCE_REASON_RETRY_EXC] = {NDSH_ASYNC_QP_ERROR, NDSH_WC_RETRY_EXC_ERR},
		[ROCE_REASON_RNR_RETRY_EXC] = {NDSH_ASYNC_QP_ERROR, NDSH_WC_RNR_RETRY_EXC_ERR},
		[ROCE_REASON_LOCAL_PROT] = {NDSH_ASYNC_QP_ERROR, NDSH_WC_LOC_PROT_ERR},
		[ROCE_REASON_RECV_PROT] = {NDSH_ASYNC_QP_ERROR, NDSH_WC_LOC_PROT_ERR},
		[ROCE_REASON_LOCAL_LEN] = {NDSH_ASYNC_QP_ERROR, NDSH_WC_LOC_LEN_ERR},
		[ROCE_REASON_RECV_TOO_SMALL] = {NDSH_ASYNC_QP_ERROR, NDSH_WC_LOC_LEN_ERR},
		[ROCE_REASON_NAK_INV_REQ] = {NDSH_ASYNC_QP_ERROR, NDSH_WC_REM_INV_REQ_ERR},
		[ROCE_REASON_NAK_REM_ACCESS] = {NDSH_ASYNC_QP_ERROR, NDSH_WC_REM_ACCESS_ERR},
		[ROCE_REASON_NAK_REM_OP] = {NDSH_ASYNC_QP_ERROR, NDSH_WC_REM_OP_ERR},
		[ROCE_REASON_SENT_REM_OP] = {NDSH_ASYNC_QP_ERROR, NDSH_WC_REM_OP_ERR},
		[ROCE_REASON_BAD_RESPONSE] = {NDSH_ASYNC_QP_ERROR, NDSH_WC_BAD_RESP_ERR},
		[ROCE_REASON_SENT_INV_REQ] = {NDSH_ASYNC_QP_REQUEST_ERROR, NDSH_WC_REM_INV_REQ_ERR},
		[ROCE_REASON_SENT_REM_ACCESS] = {NDSH_ASYNC_QP_ACCESS_ERROR,
			NDSH_WC_REM_ACCESS_ERR},
		[ROCE_REASON_GUESSES] = {NDSH_ASYNC_QP_ACCESS_ERROR, NDSH_WC_REM_ACCESS_ERR},
		[ROCE_REASON_RECV_INV] = {NDSH_ASYNC_QP_ACCESS_ERROR, NDSH_WC_REM_ACCESS_ERR},
		[ROCE_REASON_CQ_OVERRUN] = {NDSH_ASYNC_QP_FATAL, NDSH_WC_FATAL_ERR},
		[ROCE_REASON_CQ_FATAL] = {NDSH_ASYNC_QP_FATAL, NDSH_WC_FATAL_ERR},
		[ROCE_REASON_INTERNAL] = {NDSH_ASYNC_QP_FATAL, NDSH_WC_FATAL_ERR},
	};
	struct fate f = reason < ROCE_REASON_COUNT ? of[reason] : (struct fate){0};

	if (f.event == NDSH_ASYNC_NONE) /* of a request that can't be done */
		f = (struct fate){NDSH_ASYNC_QP_ERROR, NDSH_WC_LOC_QP_OP_ERR};
	return f;
}

enum ndsh_status
ndd_async_on(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	(void)r;
	s->wants_events = ((const struct ndsh_id_msg *)msg)->id != 0;
	return NDSH_OK;
}

static void
session_notify(struct ndd_session *s, enum ndsh_async event, uint32_t id, uint32_t detail)
{
	const struct ndsh_ev_async m = {
		.h.type = NDSH_EV_ASYNC, .event = event, .id = id, .detail = detail};

	if (s->wants_events)
		ndd_session_send(s, &m, sizeof(m), -1);
}

void
ndd_async_qp(struct ndd_session *s, const struct ndd_qp *qp, const struct ndd_event *ev)
{
	struct fate f;

	switch (ev->type) {
	case ROCE_EV_COMM_EST:
		session_notify(s, NDSH_ASYNC_COMM_EST, qp->owner.handle, 0);
		break;
	case ROCE_EV_SQ_DRAINED:
		session_notify(s, NDSH_ASYNC_SQ_DRAINED, qp->owner.handle, 0);
		break;
	case ROCE_EV_LAST_WQE:
		session_notify(s, NDSH_ASYNC_LAST_WQE, qp->owner.handle, 0);
		break;
	case ROCE_EV_QP_ERROR:
		f = fate_of(ev->reason);
		session_notify(s, f.event, qp->owner.handle, f.status | (uint32_t)ev->reason << 8);
		break;
	default:
		break;
	}
}

void
ndd_async_qp_taken(struct ndd_session *s, const struct ndd_qp *qp)
{
	session_notify(s, NDSH_ASYNC_QP_FATAL, qp->owner.handle, NDSH_WC_FATAL_ERR);
}

void
ndd_async_cq(struct ndd_session *s, const struct ndd_event *ev)
{
	const struct ndd_cq *cq = ndd_slots_get(&s->cqs, ev->handle);

	if (cq != NULL && cq->owner.object == ev->object)
		session_notify(s, NDSH_ASYNC_CQ_ERROR, ev->handle,
			NDSH_WC_FATAL_ERR | (uint32_t)ev->reason << 8);
}

static void
port_notify(struct ndd *d, uint32_t port, enum ndsh_async event)
{
	struct ndd_session *s, *next;

	for (s = TAILQ_FIRST(&d->sessions); s != NULL; s = next) {
		next = TAILQ_NEXT(s, next); /* a send may end it */
		if (s->state == NDSH_ST_OPEN && s->port == port)
			session_notify(s, event, 0, 0);
	}
}

void
ndd_async_link(struct ndd *d, uint32_t port, bool up)
{
	port_notify(d, port, up ? NDSH_ASYNC_LINK_UP : NDSH_ASYNC_LINK_DOWN);
}

void
ndd_async_addresses(struct ndd *d, uint32_t port)
{
	port_notify(d, port, NDSH_ASYNC_ADDRESSES);
}
