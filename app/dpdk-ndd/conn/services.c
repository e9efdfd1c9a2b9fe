/* SPDX-License-Identifier: BSD-3-Clause */
#include "conn/services.h"

#include <assert.h>
#include <string.h>

#include "cm/sidr.h"
#include "conn/active.h"
#include "conn/conn.h"
#include "conn/endpoint.h"
#include "conn/listener.h"
#include "conn/notify.h"
#include "conn/passive.h"
#include "control/daemon.h"
#include "hostnet/path.h"
#include "object/qp.h"
#include "platform/clock.h"
#include "session/session.h"

static_assert(NDSH_LOOKUP_DATA_MAX <= sizeof(((struct ndd_conn *)0)->priv), "kept until it leaves");

/* The state decides which event the client gets. */
static void
service_on_end(struct ndd *d, const struct roce_cm_event *ev)
{
	struct ndd_conn *c = ev->owner;
	enum ndsh_status status = NDSH_OK;

	(void)d;
	if (ev->timed_out)
		status = ndd_conn_unanswered(ev);
	else if (ev->reason != ROCE_CM_SIDR_SUCCESS)
		status = NDSH_ERR_REFUSED;
	c->peer.qpn = ev->peer.qpn;
	c->peer_q_key = ev->q_key;
	ndd_conn_fail(c, status, ev);
}

static void
service_mark(struct ndd_conn *c)
{
	c->sidr.on_end = service_on_end;
	c->by_numbers = true;
	c->datagrams = true;
}

/* ---- lookups ------------------------------------------------------------------------------- */

static enum ndsh_status
judge_look_up(const struct ndsh_cm_look_up *m, const struct ndd_listener *l)
{
	struct roce_gid remote;

	if (l == NULL)
		return NDSH_ERR_INVALID_ID;
	if (!l->datagrams || !ndd_listener_is_source(l))
		return NDSH_ERR_INVALID_STATE;
	if (m->priv_bytes > NDSH_LOOKUP_DATA_MAX)
		return NDSH_ERR_PRIVATE_DATA_SIZE;
	if ((m->tos & ROCE_TOS_ECN) != 0)
		return NDSH_ERR_INVALID_PARAMETER;
	memcpy(remote.raw, m->remote.ip, 16);
	/* Each member of a group would answer. */
	if (!ndd_is_destination(&m->remote) || roce_gid_is_group(&remote))
		return NDSH_ERR_BAD_DESTINATION;
	return NDSH_OK;
}

enum ndsh_status
ndd_service_look_up(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_cm_look_up *m = msg;
	const struct ndd_listener *l = ndd_slots_get(&s->listeners, m->listener);
	enum ndsh_status status = judge_look_up(m, l);
	struct ndd_conn *c;

	if (status != NDSH_OK)
		return status;
	c = ndd_conn_new(s, NDD_CONN_RESOLVING);
	if (c == NULL)
		return NDSH_ERR_NO_RESOURCES;
	service_mark(c);
	c->local = l->port.addr;
	c->tos = m->tos;
	ndd_conn_ask(c, &m->remote, m->priv, m->priv_bytes);
	r->id.id = c->id;
	return NDSH_OK;
}

void
ndd_service_query(struct ndd_conn *c, uint64_t now_ns)
{
	struct ndd *d = c->session->daemon;
	const struct roce_cm_sidr_query query = {
		.local = c->local,
		.remote = c->remote,
		.port = c->hop.port,
		.user = c->session->account.principal->number,
		.tos = c->tos,
		.hop_limit = c->hop_limit,
		.priv = c->priv,
		.priv_bytes = c->priv_bytes,
		.owner = c,
	};

	c->mtu_code = ndd_mtu_code(ndd_path_mtu(d->plane.port[c->hop.port].mtu));
	c->state = NDD_CONN_REQUESTED;
	c->cm = roce_cm_sidr_query(d->cm, now_ns, &query);
	if (c->cm == NULL)
		ndd_conn_fail(c, NDSH_ERR_NO_RESOURCES, NULL);
}

/* ---- requests of peers --------------------------------------------------------------------- */

void
ndd_service_on_request(struct ndd *d, const struct roce_cm_event *ev)
{
	struct ndd_conn *c = ndd_conn_offered(ev);

	if (c == NULL) {
		(void)roce_cm_sidr_reply(d->cm, ndd_now_ns(), ev->conn,
			&(struct roce_cm_sidr_reply){.status = ROCE_CM_SIDR_NO_QP});
		return;
	}
	service_mark(c);
	ndd_conn_notify(c, NDSH_EV_CONN_REQUEST, NDSH_OK, ev);
}

/* The CM keeps the reply as long as the peer may ask again: the connection has done its work. */
static enum ndsh_status
service_reply(struct ndd_conn *c, const struct roce_cm_sidr_reply *a)
{
	bool sent;

	if (a->priv_bytes > NDSH_ANSWER_DATA_MAX)
		return NDSH_ERR_PRIVATE_DATA_SIZE;
	if (c->state == NDD_CONN_OVER)
		return NDSH_ERR_ABORTED; /* the peer has gone, or has its answer */
	if (c->state != NDD_CONN_OFFERED)
		return NDSH_ERR_NOT_CONNECTED;
	sent = roce_cm_sidr_reply(c->session->daemon->cm, ndd_now_ns(), c->cm, a);
	if (sent)
		c->cm = NULL;
	ndd_conn_over(c);
	return sent ? NDSH_OK : NDSH_ERR_ABORTED;
}

enum ndsh_status
ndd_service_accept(struct ndd_conn *c, const struct ndd_qp *qp, const struct ndsh_cm_accept *m)
{
	if (qp == NULL || (m->own.q_key & ROCE_QKEY_PRIVILEGED) != 0)
		return NDSH_ERR_ACCESS;
	if (!qp->datagrams)
		return NDSH_ERR_INVALID_REQUEST;
	return service_reply(c, &(struct roce_cm_sidr_reply){.status = ROCE_CM_SIDR_SUCCESS,
					.qpn = qp->qpn,
					.q_key = m->own.q_key,
					.priv = m->priv,
					.priv_bytes = m->priv_bytes});
}

enum ndsh_status
ndd_service_reject(struct ndd_conn *c, const struct ndsh_reject *m)
{
	return service_reply(c, &(struct roce_cm_sidr_reply){.status = ROCE_CM_SIDR_REJECT,
					.priv = m->priv,
					.priv_bytes = m->priv_bytes});
}
