/* SPDX-License-Identifier: BSD-3-Clause */
/* Life and end of a connection; see conn_active.c and conn_passive.c for its beginning. */
#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "conn/conn.h"
#include "platform/log.h"
#include "ud/ud.h"

/* The peer's acknowledgement on the data path may be behind its DREQ on the CM's (R-DISC-17). */
#define FLUSH_GRACE_NS (10 * NDD_MS)

struct ndd_conn *
ndd_conn_new(struct ndd_session *s, enum ndd_conn_state state)
{
	struct ndd_conn *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->id = ndd_slots_add(&s->conns, c);
	if (c->id == NDD_SLOT_NONE) {
		free(c);
		return NULL;
	}
	c->session = s;
	c->state = state;
	c->deadline_ns = UINT64_MAX;
	TAILQ_INSERT_TAIL(&s->daemon->conns, c, next);
	return c;
}

void
ndd_conn_ask(struct ndd_conn *c)
{
	c->fresh = true;
	c->deadline_ns = ndd_now_ns() + NDD_RESOLVE_NS;
	ndd_hops_until(&c->session->daemon->conn_hops, 0);
}

static void
addr_out(struct ndsh_addr *out, const struct roce_cm_addr *in)
{
	memcpy(out->ip, in->gid.raw, 16);
	out->port = in->port;
}

void
ndd_conn_tell(
	struct ndd_conn *c, uint16_t type, enum ndsh_status status, const struct roce_cm_event *ev)
{
	struct ndsh_ev_conn m = {
		.h = {.type = type, .status = status},
		.conn = c->id,
		.listener = c->listener,
		.inbound_reads = c->inbound,
		.outbound_reads = c->outbound,
	};

	addr_out(&m.local, &c->local);
	addr_out(&m.remote, &c->remote);
	if (ev != NULL) {
		m.reject_reason = ev->reason;
		m.priv_bytes = ev->priv_bytes;
		memcpy(m.priv, ev->priv, sizeof(m.priv));
	}
	ndd_session_send(c->session, &m, sizeof(m), -1);
}

static void
tell_end(struct ndd_conn *c, enum ndsh_status status)
{
	if (!c->told_end)
		ndd_conn_tell(c, NDSH_EV_CONN_DISCONNECTED, status, NULL);
	c->told_end = true;
}

/* A queue pair that never left INIT keeps its receives and may try again (R-CONN-03). One of a
 * session that ends is destroyed next: its client shall hear of the end, not of flushed requests.
 */
static void
release_qp(struct ndd_conn *c)
{
	if (c->qp == NULL)
		return;
	if (c->brought_up && !c->qp->failed && !c->session->ended)
		ndd_qp_to_error(c->session, c->qp, false);
	c->qp->conn = NULL;
	c->qp = NULL;
}

void
ndd_conn_over(struct ndd_conn *c)
{
	if (c->cm != NULL)
		roce_cm_destroy(c->session->daemon->cm, ndd_now_ns(), c->cm);
	c->cm = NULL;
	release_qp(c);
	c->state = NDD_CONN_OVER;
	c->deadline_ns = UINT64_MAX;
}

void
ndd_conn_fail(struct ndd_conn *c, enum ndsh_status status, const struct roce_cm_event *ev)
{
	switch (c->state) {
	case NDD_CONN_RESOLVING:
	case NDD_CONN_REQUESTED:
		ndd_conn_tell(c, NDSH_EV_CONN_REPLY, status, ev);
		break;
	case NDD_CONN_ANSWERING:
	case NDD_CONN_ACCEPTED:
		ndd_conn_tell(c, NDSH_EV_CONN_ESTABLISHED, status, ev);
		break;
	case NDD_CONN_REPLIED:
	case NDD_CONN_ESTABLISHED:
	case NDD_CONN_CLOSING:
		tell_end(c, status);
		break;
	case NDD_CONN_BOUND:
	case NDD_CONN_OFFERED: /* Accept will say so (R-CONN-21) */
	case NDD_CONN_FLUSHING:
	case NDD_CONN_OVER:
		break;
	}
	ndd_conn_over(c);
}

void
ndd_conn_free(struct ndd_session *s, struct ndd_conn *c)
{
	ndd_conn_over(c);
	ndd_port_give(&c->port);
	TAILQ_REMOVE(&s->daemon->conns, c, next);
	ndd_slots_remove(&s->conns, c->id);
	free(c);
}

enum ndsh_status
ndd_conn_destroy(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	struct ndd_conn *c = ndd_slots_get(&s->conns, ((const struct ndsh_id_msg *)msg)->id);

	(void)r;
	if (c == NULL)
		return NDSH_ERR_INVALID_ID;
	ndd_conn_free(s, c);
	return NDSH_OK;
}

/* ---- ends ---- */

enum ndsh_status
ndd_conn_disconnect(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	struct ndd_conn *c = ndd_slots_get(&s->conns, ((const struct ndsh_id_msg *)msg)->id);

	(void)r;
	if (c == NULL)
		return NDSH_ERR_INVALID_ID;
	switch (c->state) {
	case NDD_CONN_REPLIED:
	case NDD_CONN_ESTABLISHED:
		/* Flush first, then DREQ (W-CM-51). */
		if (c->brought_up)
			ndd_qp_to_error(s, c->qp, true);
		c->state = NDD_CONN_CLOSING;
		roce_cm_disconnect(s->daemon->cm, ndd_now_ns(), c->cm);
		return NDSH_OK;
	case NDD_CONN_FLUSHING:
		ndd_conn_over(c);
		return NDSH_OK;
	case NDD_CONN_CLOSING:
	case NDD_CONN_OVER:
		return c->told_end ? NDSH_OK : NDSH_ERR_NOT_CONNECTED;
	default:
		return NDSH_ERR_NOT_CONNECTED;
	}
}

/* The queue pair is in error: its connection is of no more use, the peer shall know (R-DISC-11). */
void
ndd_conn_qp_failed(struct ndd_conn *c)
{
	switch (c->state) {
	case NDD_CONN_ESTABLISHED:
	case NDD_CONN_REPLIED:
		tell_end(c, NDSH_ERR_ABORTED);
		c->state = NDD_CONN_CLOSING;
		roce_cm_disconnect(c->session->daemon->cm, ndd_now_ns(), c->cm);
		break;
	case NDD_CONN_CLOSING:
	case NDD_CONN_FLUSHING:
	case NDD_CONN_OVER:
		break;
	default:
		ndd_conn_fail(c, NDSH_ERR_ABORTED, NULL);
	}
}

void
ndd_conn_qp_gone(struct ndd_conn *c)
{
	ndd_conn_qp_failed(c);
	if (c->qp != NULL)
		c->qp->conn = NULL;
	c->qp = NULL;
}

static void
conn_disconnected(struct ndd_conn *c, const struct roce_cm_event *ev, uint64_t now_ns)
{
	if (!ev->by_peer || (c->state != NDD_CONN_ESTABLISHED && c->state != NDD_CONN_REPLIED)) {
		ndd_conn_fail(c, ev->timed_out ? NDSH_UNANSWERED : NDSH_OK, NULL);
		return;
	}
	/* First the word of it, then the flush (R-DISC-08), or none before the client's own end. */
	tell_end(c, NDSH_OK);
	c->state = NDD_CONN_FLUSHING;
	c->deadline_ns = c->session->no_flush ? UINT64_MAX : now_ns + FLUSH_GRACE_NS;
	ndd_hops_until(&c->session->daemon->conn_hops, c->deadline_ns);
}

/* ---- what happens ---- */

void
ndd_conn_cm_event(struct ndd *d, const struct roce_cm_event *ev)
{
	struct ndd_conn *c = ev->owner;

	switch (ev->type) {
	case ROCE_CM_EV_REQUEST:
		ndd_conn_requested(d, ev);
		break;
	case ROCE_CM_EV_REPLY:
		ndd_conn_replied(c, ev);
		break;
	case ROCE_CM_EV_ESTABLISHED:
		if (c->state != NDD_CONN_ACCEPTED)
			break;
		c->state = NDD_CONN_ESTABLISHED;
		ndd_conn_start_keepalive(c);
		ndd_conn_tell(c, NDSH_EV_CONN_ESTABLISHED, NDSH_OK, NULL);
		break;
	case ROCE_CM_EV_REJECTED:
		/* Refused by the peer's CM or consumer, or taken back by the active side. */
		ndd_conn_fail(
			c, c->state == NDD_CONN_REPLIED ? NDSH_ERR_ABORTED : NDSH_ERR_REFUSED, ev);
		break;
	case ROCE_CM_EV_UNREACHABLE:
		ndd_conn_fail(
			c, c->state == NDD_CONN_ACCEPTED ? NDSH_ERR_ABORTED : NDSH_ERR_TIMEOUT, ev);
		break;
	case ROCE_CM_EV_DISCONNECTED:
		conn_disconnected(c, ev, ndd_now_ns());
		break;
	case ROCE_CM_EV_SIDR_REQUEST:
		ndd_ud_asked(d, ev);
		break;
	case ROCE_CM_EV_SIDR_REPLY:
		ndd_ah_answered(ev->owner, ev);
		break;
	case ROCE_CM_EV_SIDR_GONE:
		ndd_ud_gone(ev->owner);
		break;
	}
}

static void
qp_died(struct ndd_session *s, struct ndd_qp *qp, const struct ndd_event *ev)
{
	ndd_log_limited(NDD_LOG_INFO,
		"session %lu: queue pair 0x%06x went to error: %s (syndrome 0x%02x)", s->serial,
		qp->qpn, roce_reason_name(ev->reason), ev->syndrome);
	qp->failed = true;
	if (qp->conn != NULL)
		ndd_conn_qp_failed(qp->conn);
}

/* The object may be gone, and its handle another's, since the shard wrote the event. */
void
ndd_conn_shard_event(struct ndd *d, const struct ndd_event *ev)
{
	struct ndd_session *s = ndd_session_find(d, ev->session);
	struct ndd_qp *qp;

	if (s == NULL)
		return;
	if (ev->type == ROCE_EV_CLIENT_BREACH) {
		ndd_session_end(s, "a descriptor in shared memory breaks the contract");
		return;
	}
	if (ev->type == ROCE_EV_CQ_ERROR && ev->handle == NDD_SLOT_NONE) {
		ndd_session_end(s, "its mover has not done what it says it has");
		return;
	}
	if (ev->type == ROCE_EV_CQ_ERROR) {
		ndd_info("session %lu: completion queue %u: %s", s->serial, ev->handle,
			roce_reason_name(ev->reason));
		ndd_async_cq(s, ev);
		return;
	}
	if (ev->type == ROCE_EV_SRQ_LIMIT) {
		ndd_srq_limit(s, ev);
		return;
	}
	qp = ndd_slots_get(&s->qps, ev->handle);
	if (qp == NULL || qp->owner.object != ev->object)
		return;
	ndd_async_qp(s, qp, ev);
	if (ev->type == ROCE_EV_QP_ERROR)
		qp_died(s, qp, ev);
	else if (ev->type == ROCE_EV_COMM_EST && qp->conn != NULL && qp->conn->cm != NULL)
		roce_cm_established(d->cm, ndd_now_ns(), qp->conn->cm);
}

/* ---- time ---- */

static void
conn_step(struct ndd_conn *c, uint64_t now_ns)
{
	enum ndsh_status status;

	if (c->state == NDD_CONN_FLUSHING) {
		if (now_ns < c->deadline_ns)
			return;
		if (c->qp != NULL)
			ndd_qp_to_error(c->session, c->qp, true);
		ndd_conn_over(c);
		return;
	}
	if (c->state != NDD_CONN_RESOLVING && c->state != NDD_CONN_ANSWERING)
		return;
	c->fresh = false;
	status = ndd_next_hop_by(ndd_conn_resolve(c, now_ns), now_ns, c->deadline_ns);
	if (status == NDSH_PENDING)
		return;
	c->deadline_ns = UINT64_MAX;
	if (status != NDSH_OK)
		ndd_conn_fail(c, status, NULL);
	else if (c->state == NDD_CONN_RESOLVING)
		ndd_conn_send_request(c, now_ns);
	else
		ndd_conn_send_reply(c, now_ns);
}

void
ndd_conn_tick(struct ndd *d, uint64_t now_ns)
{
	struct ndd_conn *c;
	bool moved;

	if (!ndd_hops_begin(&d->conn_hops, d->net, now_ns, &moved))
		return;
	TAILQ_FOREACH (c, &d->conns, next) {
		if (c->deadline_ns != UINT64_MAX && (moved || c->fresh || now_ns >= c->deadline_ns))
			conn_step(c, now_ns);
		else if (moved && c->state == NDD_CONN_ESTABLISHED)
			ndd_conn_refresh(c, now_ns);
		ndd_hops_until(&d->conn_hops, c->deadline_ns);
	}
}
