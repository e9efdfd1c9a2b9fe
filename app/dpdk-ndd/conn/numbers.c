/* SPDX-License-Identifier: BSD-3-Clause */
#include "conn/numbers.h"

#include <string.h>

#include "base/siphash.h"
#include "conn/active.h"
#include "conn/conn.h"
#include "conn/endpoint.h"
#include "conn/listener.h"
#include "conn/services.h"
#include "control/daemon.h"
#include "object/qp.h"
#include "session/end.h"
#include "session/session.h"

#define PSN_MAX	    0xffffffu
#define RETRIES_MAX 7u

/* ---- permits ------------------------------------------------------------------------------- */

/* Of the queue pair, not of its handle, which others get after it. */
static uint64_t
permit_key(const struct ndd_session *s, const struct ndd_qp *qp)
{
	return ndsh_siphash(s->daemon->permit_secret, s->serial, qp->owner.object);
}

enum ndsh_status
ndd_cm_permit(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const uint32_t id = ((const struct ndsh_id_msg *)msg)->id;
	const struct ndd_qp *qp = ndd_qp_get(s, id);

	if (qp == NULL)
		return NDSH_ERR_INVALID_ID;
	r->permit.permit = (struct ndsh_cm_permit){
		.session = s->serial, .key = permit_key(s, qp), .qp = id, .qpn = qp->qpn};
	return NDSH_OK;
}

/* The queue pair that a client may name; NULL: none. */
static const struct ndd_qp *
permitted_qp(const struct ndd_session *s, const struct ndsh_cm_permit *p)
{
	const struct ndd_session *owner = ndd_session_find(s->daemon, p->session);
	const struct ndd_qp *qp;

	if (owner == NULL || owner->account.principal != s->account.principal)
		return NULL;
	qp = ndd_qp_get(owner, p->qp);
	return qp != NULL && p->key == permit_key(owner, qp) ? qp : NULL;
}

/* While the next hop is resolved the CM knows nothing of the connection. A queue pair that ends
 * meanwhile leaves its number to another, which may be another client's: to the peer it would have
 * this connection. */
bool
ndd_cm_has_number(const struct ndd_conn *c)
{
	const struct ndd_qp *qp = permitted_qp(c->session, &c->permit);

	return qp != NULL && qp->conn == NULL;
}

/* ---- both sides ---------------------------------------------------------------------------- */

static enum ndsh_status
judge_values(const struct ndd_qp *qp, const struct ndsh_cm_values *v)
{
	if (qp == NULL)
		return NDSH_ERR_ACCESS;
	if (qp->unreliable) /* the CM's messages here are of RC alone */
		return NDSH_ERR_INVALID_REQUEST;
	if (qp->conn != NULL) /* its numbers are that connection's */
		return NDSH_ERR_CONNECTED;
	if (v->psn > PSN_MAX || v->retries > RETRIES_MAX || v->rnr_retries > RETRIES_MAX ||
		v->srq > 1)
		return NDSH_ERR_INVALID_PARAMETER;
	return NDSH_OK;
}

static uint8_t
fewer_reads(uint8_t asked, uint8_t most)
{
	return asked < most ? asked : most;
}

/* Reads are lowered to what is possible, most_in of the peer's here and most_out of ours there. */
static void
conn_take_values(struct ndd_conn *c, uint32_t qpn, const struct ndsh_cm_values *v, uint8_t most_in,
	uint8_t most_out)
{
	c->inbound = fewer_reads(v->inbound_reads, most_in);
	c->outbound = fewer_reads(v->outbound_reads, most_out);
	c->own = (struct roce_cm_qp_params){
		.qpn = qpn,
		.psn = v->psn,
		.responder_resources = c->inbound,
		.initiator_depth = c->outbound,
		.retry_count = v->retries,
		.rnr_retry = v->rnr_retries,
		.srq = v->srq != 0,
	};
}

/* ---- active -------------------------------------------------------------------------------- */

static enum ndsh_status
judge_connect(const struct ndsh_cm_connect *m, const struct ndd_listener *l)
{
	if (l == NULL)
		return NDSH_ERR_INVALID_ID;
	if (l->datagrams || !ndd_listener_is_source(l))
		return NDSH_ERR_INVALID_STATE;
	if (m->priv_bytes > NDSH_CALLER_DATA_MAX)
		return NDSH_ERR_PRIVATE_DATA_SIZE;
	if ((m->tos & ROCE_TOS_ECN) != 0)
		return NDSH_ERR_INVALID_PARAMETER;
	if (!ndd_is_destination(&m->remote))
		return NDSH_ERR_BAD_DESTINATION;
	return NDSH_OK;
}

enum ndsh_status
ndd_cm_connect(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_cm_connect *m = msg;
	const struct ndd_listener *l = ndd_slots_get(&s->listeners, m->listener);
	const struct ndd_qp *qp = permitted_qp(s, &m->permit);
	enum ndsh_status status = judge_connect(m, l);
	struct ndd_conn *c;

	if (status == NDSH_OK)
		status = judge_values(qp, &m->own);
	if (status != NDSH_OK)
		return status;
	c = ndd_conn_new(s, NDD_CONN_RESOLVING);
	if (c == NULL)
		return NDSH_ERR_NO_RESOURCES;
	c->by_numbers = true;
	c->local = l->port.addr;
	c->permit = m->permit;
	conn_take_values(c, qp->qpn, &m->own, ROCE_RD_ATOMIC_MAX, ROCE_RD_ATOMIC_MAX);
	c->tos = m->tos;
	ndd_conn_ask(c, &m->remote, m->priv, m->priv_bytes);
	r->id.id = c->id;
	return NDSH_OK;
}

/* ---- passive ------------------------------------------------------------------------------- */

enum ndsh_status
ndd_cm_accept(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_cm_accept *m = msg;
	struct ndd_conn *c = ndd_slots_get(&s->conns, m->conn);
	const struct ndd_qp *qp = permitted_qp(s, &m->permit);
	enum ndsh_status status = judge_values(qp, &m->own);

	if (c == NULL)
		return NDSH_ERR_INVALID_ID;
	r->id.id = c->id;
	if (c->datagrams)
		return ndd_service_accept(c, qp, m);
	if (status != NDSH_OK)
		return status;
	if (m->priv_bytes > NDSH_CALLEE_DATA_MAX)
		return NDSH_ERR_PRIVATE_DATA_SIZE;
	if (!c->by_numbers)
		return NDSH_ERR_INVALID_REQUEST;
	if (c->state == NDD_CONN_OVER)
		return NDSH_ERR_ABORTED; /* the peer has vanished */
	if (c->state != NDD_CONN_OFFERED)
		return NDSH_ERR_NOT_CONNECTED;
	c->permit = m->permit;
	conn_take_values(c, qp->qpn, &m->own, c->inbound, c->outbound);
	c->priv_bytes = m->priv_bytes;
	memcpy(c->priv, m->priv, m->priv_bytes);
	c->state = NDD_CONN_ACCEPTING;
	ndd_conn_resolve_later(c);
	return NDSH_OK;
}
