/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/conn/connector_call.h"

#include "ndclient/conn/connector.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/futex.h"
#include "ndclient/session/overlapped.h"

uint8_t
nd_conn_read_limit(uint32_t asked, uint32_t max)
{
	uint32_t limit = asked < max ? asked : max;

	return limit < 255 ? (uint8_t)limit : 255;
}

nd_status
nd_conn_claim_qp(struct nd_connector *c, struct nd_qp *qp)
{
	if (qp->state == ND_QP_DATAGRAM)
		return nd_fail(ND_INVALID_DEVICE_REQUEST, "a queue pair of datagrams");
	if (qp->unreliable)
		return nd_fail(ND_INVALID_DEVICE_REQUEST, "an unreliable connection");
	if (qp->connector != NULL || qp->state != ND_QP_UNCONNECTED)
		return ND_CONNECTION_ACTIVE;
	c->qp = qp;
	qp->connector = c;
	return ND_SUCCESS;
}

/* A thread that waits in nd_connector_cancel() may go on now. */
static nd_status
conn_call_hook(void *arg, nd_status st, const void *reply)
{
	struct nd_conn_call *p = arg;
	struct nd_connector *c = p->c;

	st = p->hook(p, st, reply);
	c->calls--;
	nd_futex_wake(&c->calls);
	return st;
}

nd_status
nd_conn_call(struct nd_adapter *a, struct ndsh_msg_hdr *h, struct nd_overlapped *ov,
	struct nd_conn_call *p)
{
	nd_status st =
		nd_control_call(a, &(struct nd_request){.h = h, .hook = conn_call_hook, .arg = p});

	return nd_overlapped_issued(ov, st == ND_SUCCESS ? ND_PENDING : st);
}
