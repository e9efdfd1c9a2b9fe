/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One place where events arrive. Each kind has its handler in the folder of the object that it is
 * about; what the handlers have in common (is the session still there, is the queue pair still the
 * one that the event is about?) is judged here.
 */
#include "control/events.h"

#include "cm/sidr.h"
#include "conn/active.h"
#include "conn/conn.h"
#include "conn/leave.h"
#include "conn/passive.h"
#include "conn/sidr_user.h"
#include "control/daemon.h"
#include "hostnet/follower.h"
#include "hostnet/host.h"
#include "hostnet/kernel_port.h"
#include "hostnet/network.h"
#include "object/cq.h"
#include "object/qp.h"
#include "object/qp_work.h"
#include "object/srq.h"
#include "session/async.h"
#include "session/end.h"
#include "session/session.h"
#include "ud/sidr_request.h"

#define EVENT_BUDGET	256u /* per shard and round, then the sockets' turn */
#define CM_EVENT_BUDGET 256u

/* ---- of the engine ------------------------------------------------------------------------- */

static void
on_client_breach(struct ndd_session *s, const struct ndd_event *ev)
{
	(void)ev;
	ndd_session_end(s, "a descriptor in shared memory breaks the contract");
}

/* The object may be gone, and its handle another's, since the shard wrote the event. */
static void
on_qp_event(struct ndd_session *s, const struct ndd_event *ev)
{
	struct ndd_qp *qp = ndd_qp_get(s, ev->handle);

	if (qp == NULL || qp->owner.object != ev->object)
		return;
	ndd_async_qp(s, qp, ev);
	if (ev->type == ROCE_EV_QP_ERROR)
		ndd_qp_on_error(s, qp, ev);
	else if (ev->type == ROCE_EV_COMM_EST && qp->conn != NULL)
		ndd_conn_on_first_request(qp->conn);
}

static void (*const on_shard_event[])(struct ndd_session *s, const struct ndd_event *ev) = {
	[ROCE_EV_COMM_EST] = on_qp_event,
	[ROCE_EV_QP_ERROR] = on_qp_event,
	[ROCE_EV_LAST_WQE] = on_qp_event,
	[ROCE_EV_SQ_DRAINED] = on_qp_event,
	[ROCE_EV_CQ_ERROR] = ndd_cq_on_error,
	[ROCE_EV_SRQ_LIMIT] = ndd_srq_on_limit,
	[ROCE_EV_CLIENT_BREACH] = on_client_breach,
};

static void
shard_event_dispatch(struct ndd *d, const struct ndd_event *ev)
{
	struct ndd_session *s = ndd_session_find(d, ev->session);

	if (s != NULL)
		on_shard_event[ev->type](s, ev);
}

/* ---- of the CM ----------------------------------------------------------------------------- */

static void
on_sidr_end(struct ndd *d, const struct roce_cm_event *ev)
{
	((const struct ndd_sidr_user *)ev->owner)->on_end(d, ev);
}

static void (*const on_cm_event[])(struct ndd *d, const struct roce_cm_event *ev) = {
	[ROCE_CM_EV_REQUEST] = ndd_conn_on_request,
	[ROCE_CM_EV_REPLY] = ndd_conn_on_reply,
	[ROCE_CM_EV_ESTABLISHED] = ndd_conn_on_established,
	[ROCE_CM_EV_REJECTED] = ndd_conn_on_rejected,
	[ROCE_CM_EV_UNREACHABLE] = ndd_conn_on_unreachable,
	[ROCE_CM_EV_DISCONNECTED] = ndd_conn_on_disconnected,
	[ROCE_CM_EV_SIDR_REQUEST] = ndd_sidr_on_request,
	[ROCE_CM_EV_SIDR_REPLY] = on_sidr_end,
	[ROCE_CM_EV_SIDR_GONE] = on_sidr_end,
};

/* ---- a turn of the control thread ---------------------------------------------------------- */

/*
 * Events first: a queue pair that saw its first request was brought up before the DREQ which may be
 * behind it among the frames.
 */
bool
ndd_control_receive(struct ndd *d, uint64_t now_ns)
{
	const struct ndd_handover *h = &d->plane.rings;
	struct ndd_event ev;
	bool more = false;
	uint32_t n;

	for (uint32_t i = 0; i < h->shards; i++) {
		for (n = 0; n < EVENT_BUDGET && ndd_event_get(h->event[i], &ev); n++)
			shard_event_dispatch(d, &ev);
		more |= n == EVENT_BUDGET;
		more |= ndd_host_rx(d, now_ns, i);
	}
	return more;
}

void
ndd_control_proceed(struct ndd *d, uint64_t now_ns)
{
	struct roce_cm_event ev;

	net_tick(d->net, now_ns);
	ndd_network_events(d);
	roce_cm_tick(d->cm, now_ns);
	for (uint32_t n = 0; n < CM_EVENT_BUDGET && roce_cm_event(d->cm, &ev); n++)
		on_cm_event[ev.type](d, &ev);
	ndd_host_retry_mads(d, now_ns);
	/* What clients wait for comes first: a host that moves makes all the others due. */
	ndd_conn_leave_tick(d, now_ns);
	ndd_qp_work_tick(d, now_ns);
	ndd_followers_tick(d, now_ns);
	ndd_host_tx(d, now_ns);
	ndd_kernel_ports_tend(d, now_ns);
}

uint64_t
ndd_control_deadline(const struct ndd *d)
{
	const uint64_t all[] = {d->followers.deadline_ns, roce_cm_next_deadline(d->cm),
		net_next_deadline(d->net), d->delayed_until_ns, d->leave_look_ns, d->work_look_ns};
	uint64_t first = UINT64_MAX;

	if (roce_cm_has_work(d->cm))
		return 0; /* more than a turn's budget */
	if (net_generation(d->net) != d->mads.generation)
		return 0; /* the kernel had an answer at once */
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i] < first)
			first = all[i];
	return first;
}
