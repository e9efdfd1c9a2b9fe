/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "ndverbs/cm/cm.h"
#include "ndverbs/counter.h"

#define GROUP_HOP_LIMIT 64

/* ---- what the program is told of a peer ---------------------------------------------------- */

static uint8_t
private_bytes(enum cm_event_type type, const struct ndsh_ev_cm *ev)
{
	static const uint8_t most[] = {[CM_EV_CONNECT_REQUEST] = NDSH_CALLER_DATA_MAX,
		[CM_EV_CONNECT_RESPONSE] = NDSH_CALLEE_DATA_MAX,
		[CM_EV_REJECTED] = NDSH_REJECT_DATA_MAX,
		[CM_EV_DEVICE_REMOVAL] = 0};

	return ev->priv_bytes < most[type] ? (uint8_t)ev->priv_bytes : most[type];
}

static void
fill_parameters(struct rdma_ucm_conn_param *p, enum cm_event_type type, const struct ndsh_ev_cm *ev)
{
	p->private_data_len = private_bytes(type, ev);
	memcpy(p->private_data, ev->priv, p->private_data_len);
	if (type != CM_EV_CONNECT_REQUEST && type != CM_EV_CONNECT_RESPONSE)
		return;
	p->qp_num = ev->peer.qpn;
	p->responder_resources = ev->peer.inbound_reads;
	p->initiator_depth = ev->peer.outbound_reads;
	p->retry_count = ev->peer.retries;
	p->rnr_retry_count = ev->peer.rnr_retries;
	p->flow_control = 1;
	p->srq = ev->peer.srq;
}

/* The whole field of the message: what a failure says of itself is in it, too. */
static void
fill_datagrams(struct rdma_ucm_ud_param *p, enum cm_event_type type, const struct ndsh_ev_cm *ev)
{
	const uint32_t bytes =
		ev->priv_bytes < NDSH_LOOKUP_DATA_MAX ? ev->priv_bytes : NDSH_LOOKUP_DATA_MAX;

	p->private_data_len = (uint8_t)bytes;
	memcpy(p->private_data, ev->priv, bytes);
	if (type != CM_EV_ESTABLISHED)
		return;
	p->qp_num = ev->peer.qpn;
	p->qkey = ev->peer.q_key;
	p->ah_attr.is_global = 1;
	p->ah_attr.port_num = 1;
	memcpy(p->ah_attr.grh.dgid, ev->remote.ip, sizeof(p->ah_attr.grh.dgid));
	p->ah_attr.grh.hop_limit = ev->hop_limit;
	p->ah_attr.grh.traffic_class = ev->tos;
}

/* The GID of the group is its address, as RoCEv2 has it; the rest as the kernel gives it. */
static void
fill_group(struct rdma_ucm_ud_param *p, const struct ndsh_addr *group)
{
	p->qp_num = CM_GROUP_QP;
	p->qkey = CM_Q_KEY;
	p->ah_attr.is_global = 1;
	p->ah_attr.port_num = 1;
	memcpy(p->ah_attr.grh.dgid, group->ip, sizeof(p->ah_attr.grh.dgid));
	p->ah_attr.grh.hop_limit = GROUP_HOP_LIMIT;
}

/* ---- the queue ----------------------------------------------------------------------------- */

/* An event that there is no memory for is lost, as in the kernel. */
static struct cm_event *
event_new(struct cm_id *id, enum cm_event_type type, int status, const struct ndsh_ev_cm *ev)
{
	struct cm_event *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return NULL;
	e->id = id;
	e->resp.uid = id->uid;
	e->resp.id = id->handle;
	e->resp.event = type;
	e->resp.status = (uint32_t)status;
	if (ev != NULL && id->datagrams)
		fill_datagrams(&e->resp.param.ud, type, ev);
	else if (ev != NULL)
		fill_parameters(&e->resp.param.conn, type, ev);
	return e;
}

static void
event_queue(struct cm_event *e)
{
	struct cm_file *f = e->id->file;

	TAILQ_INSERT_TAIL(&f->events, e, next);
	ndv_counter_up(f->fd);
}

void
cm_event_raise(struct cm_id *id, enum cm_event_type type, int status, const struct ndsh_ev_cm *ev)
{
	struct cm_event *e;

	/* The program knows nothing of a request that it has not accepted. */
	if (id->uid == 0 || id->destroyed)
		return;
	e = event_new(id, type, status, ev);
	if (e != NULL)
		event_queue(e);
}

bool
cm_event_request(struct cm_id *listener, struct cm_id *request, const struct ndsh_ev_cm *ev)
{
	struct cm_event *e = event_new(listener, CM_EV_CONNECT_REQUEST, 0, ev);

	if (e == NULL)
		return false;
	e->request = request;
	e->resp.id = request->handle;
	event_queue(e);
	return true;
}

bool
cm_event_joined(struct cm_id *id, struct cm_join *join, uint64_t uid, const struct ndsh_addr *group)
{
	struct cm_event *e = event_new(id, CM_EV_MULTICAST_JOIN, 0, NULL);

	if (e == NULL)
		return false;
	e->join = join;
	e->resp.uid = uid;
	fill_group(&e->resp.param.ud, group);
	event_queue(e);
	return true;
}

void
cm_events_drop(struct cm_id *id, const struct cm_join *join)
{
	struct cm_event *e, *next;

	for (e = TAILQ_FIRST(&id->file->events); e != NULL; e = next) {
		next = TAILQ_NEXT(e, next);
		if (e->id != id || (join != NULL && e->join != join))
			continue;
		TAILQ_REMOVE(&id->file->events, e, next);
		(void)ndv_counter_try(id->file->fd);
		free(e);
	}
}

static void
change_file(struct cm_id *id, struct cm_file *to)
{
	LIST_REMOVE(id, in_file);
	LIST_INSERT_HEAD(&to->ids, id, in_file);
	id->file = to;
}

/* Requests that a listener has and the program does not know go along. */
void
cm_id_move(struct cm_id *id, struct cm_file *to)
{
	struct cm_file *from = id->file;
	struct cm_event *e, *next;

	if (from == to)
		return;
	for (e = TAILQ_FIRST(&from->events); e != NULL; e = next) {
		next = TAILQ_NEXT(e, next);
		if (e->id != id)
			continue;
		TAILQ_REMOVE(&from->events, e, next);
		(void)ndv_counter_try(from->fd);
		if (e->request != NULL)
			change_file(e->request, to);
		TAILQ_INSERT_TAIL(&to->events, e, next);
		ndv_counter_up(to->fd);
	}
	change_file(id, to);
}
