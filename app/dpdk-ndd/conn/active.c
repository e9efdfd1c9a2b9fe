/* SPDX-License-Identifier: BSD-3-Clause */
/* Connect: next hop, REQ, REP, then the client completes and RTU leaves. */
#include <string.h>

#include "conn/active.h"
#include "conn/bring_up.h"
#include "conn/conn.h"
#include "conn/endpoint.h"
#include "conn/notify.h"
#include "conn/numbers.h"
#include "control/daemon.h"
#include "hostnet/path.h"
#include "object/qp.h"
#include "platform/clock.h"
#include "session/session.h"

static enum ndsh_status
connect_check(const struct ndsh_connect *m, const struct ndd_qp *qp)
{
	if (qp == NULL)
		return NDSH_ERR_INVALID_ID;
	if (qp->datagrams || qp->unreliable)
		return NDSH_ERR_INVALID_REQUEST;
	if (qp->conn != NULL)
		return NDSH_ERR_CONNECTED;
	if (qp->failed || qp->by_hand)
		return NDSH_ERR_INVALID_STATE;
	if (m->priv_bytes > NDSH_CALLER_DATA_MAX)
		return NDSH_ERR_PRIVATE_DATA_SIZE;
	if ((m->tos & ROCE_TOS_ECN) > NDSH_ECN_ON)
		return NDSH_ERR_INVALID_PARAMETER;
	if (!ndd_is_destination(&m->remote))
		return NDSH_ERR_BAD_DESTINATION;
	return NDSH_OK;
}

/* A connection with a local address and port. */
static enum ndsh_status
bind_new(struct ndd_session *s, const struct ndsh_addr *local, struct ndd_conn **out)
{
	struct roce_cm_addr addr;
	const int nic = ndd_local_address(s, local, &addr);
	struct ndd_conn *c;
	enum ndsh_status status;

	if (nic < 0)
		return NDSH_ERR_ADDRESS_NOT_LOCAL;
	c = ndd_conn_new(s, NDD_CONN_BOUND);
	if (c == NULL)
		return NDSH_ERR_NO_RESOURCES;
	status = ndd_port_take(
		&s->daemon->ports, &s->account, &c->port, NDD_PORT_CONNECTOR, (uint32_t)nic, &addr);
	if (status != NDSH_OK) {
		ndd_conn_free(s, c);
		return status;
	}
	c->local = c->port.addr;
	*out = c;
	return NDSH_OK;
}

enum ndsh_status
ndd_conn_bind(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_bind *m = msg;
	struct ndd_conn *c;
	enum ndsh_status status = bind_new(s, &m->addr, &c);

	if (status != NDSH_OK)
		return status;
	c->bound = true;
	r->bind.id = c->id;
	ndd_bind_reply_fill(&r->bind, &c->local);
	return NDSH_OK;
}

/* The connection of a BIND, fresh or after an attempt that came to nothing (R-CONN-03). */
static enum ndsh_status
find_bound(struct ndd_session *s, uint32_t id, struct ndd_conn **out)
{
	struct ndd_conn *c = ndd_slots_get(&s->conns, id);

	if (c == NULL)
		return NDSH_ERR_INVALID_ID;
	if (!c->bound || c->end_notified || c->brought_up ||
		(c->state != NDD_CONN_BOUND && c->state != NDD_CONN_OVER))
		return NDSH_ERR_INVALID_STATE;
	*out = c;
	return NDSH_OK;
}

/* A connection from the address and port of an endpoint. */
static enum ndsh_status
bind_shared(struct ndd_session *s, const struct ndsh_connect *m, struct ndd_conn **out)
{
	const struct ndd_endpoint *e = ndd_slots_get(&s->endpoints, m->local_id);
	struct roce_cm_addr peer = {.port = m->remote.port};
	struct ndd_conn *c;
	enum ndsh_status status;

	if (e == NULL)
		return NDSH_ERR_INVALID_ID;
	c = ndd_conn_new(s, NDD_CONN_BOUND);
	if (c == NULL)
		return NDSH_ERR_NO_RESOURCES;
	memcpy(peer.gid.raw, m->remote.ip, 16);
	status = ndd_port_share(&s->daemon->ports, &c->port, &e->port, &peer);
	if (status != NDSH_OK) {
		ndd_conn_free(s, c);
		return status;
	}
	c->local = c->port.addr;
	*out = c;
	return NDSH_OK;
}

static enum ndsh_status
find_local(struct ndd_session *s, const struct ndsh_connect *m, struct ndd_conn **out)
{
	switch (m->local_kind) {
	case NDSH_LOCAL_OWN:
		return bind_new(s, &m->local, out);
	case NDSH_LOCAL_BOUND:
		return find_bound(s, m->local_id, out);
	case NDSH_LOCAL_SHARED:
		return bind_shared(s, m, out);
	default:
		return NDSH_ERR_INVALID_PARAMETER;
	}
}

static uint8_t
reads_limited(uint8_t reads)
{
	return reads < ROCE_RD_ATOMIC_MAX ? reads : (uint8_t)ROCE_RD_ATOMIC_MAX;
}

void
ndd_conn_ask(struct ndd_conn *c, const struct ndsh_addr *remote, const uint8_t *priv,
	uint32_t priv_bytes)
{
	memcpy(c->remote.gid.raw, remote->ip, 16);
	c->remote.port = remote->port;
	c->hop_limit = ROCE_HOP_LIMIT;
	c->flow_label = roce_cm_flow_label(c->local.port, c->remote.port);
	c->priv_bytes = priv_bytes;
	memcpy(c->priv, priv, priv_bytes);
	ndd_conn_resolve_later(c);
}

enum ndsh_status
ndd_conn_connect(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_connect *m = msg;
	struct ndd_qp *qp = ndd_qp_get(s, m->qp);
	enum ndsh_status status = connect_check(m, qp);
	struct ndd_conn *c;

	if (status == NDSH_OK)
		status = find_local(s, m, &c);
	if (status != NDSH_OK)
		return status;
	c->state = NDD_CONN_RESOLVING;
	ndd_conn_take_qp(c, qp);
	c->inbound = reads_limited(m->inbound_reads);
	c->outbound = reads_limited(m->outbound_reads);
	/* The peer gets the DSCP alone: it need not react to congestion as this side does
	 * (W-CM-73). */
	c->tos = m->tos & (uint8_t)~ROCE_TOS_ECN;
	c->ecn = m->tos & ROCE_TOS_ECN;
	ndd_conn_ask(c, &m->remote, m->priv, m->priv_bytes);
	r->id.id = c->id;
	return NDSH_OK;
}

void
ndd_conn_send_request(struct ndd_conn *c, uint64_t now_ns)
{
	struct ndd *d = c->session->daemon;
	struct roce_cm_connect req = {
		.local = c->local,
		.remote = c->remote,
		.port = c->hop.port,
		.user = c->session->account.principal->number,
		.qp = ndd_conn_own_values(c),
		.ack_timeout = d->cfg->timeout_code,
		.tos = c->tos,
		.hop_limit = c->hop_limit,
		.sl = ndd_hop_priority(&c->hop, c->tos),
		.flow_label = c->flow_label,
		.priv = c->priv,
		.priv_bytes = c->priv_bytes,
		.owner = c,
	};

	c->mtu_code = ndd_mtu_code(ndd_path_mtu(d->plane.port[c->hop.port].mtu));
	req.mtu_code = c->mtu_code;
	if (c->by_numbers && !ndd_cm_has_number(c)) {
		ndd_conn_fail(c, NDSH_ERR_ABORTED, NULL);
		return;
	}
	c->cm = roce_cm_connect(d->cm, now_ns, &req);
	if (c->cm == NULL)
		ndd_conn_fail(c, NDSH_ERR_NO_RESOURCES, NULL);
	else
		c->state = NDD_CONN_REQUESTED;
}

/* Read limits are lowered to what both sides grant (R-CONN-09). */
void
ndd_conn_on_reply(struct ndd *d, const struct roce_cm_event *ev)
{
	struct ndd_conn *c = ev->owner;

	if (c->state != NDD_CONN_REQUESTED)
		return;
	c->peer = ev->peer;
	c->peer.retry_count = c->by_numbers ? c->own.retry_count : d->cfg->retry_count;
	c->ack_timeout = ev->ack_timeout;
	if (ev->peer.initiator_depth < c->inbound)
		c->inbound = ev->peer.initiator_depth;
	if (ev->peer.responder_resources < c->outbound)
		c->outbound = ev->peer.responder_resources;
	c->state = NDD_CONN_REPLIED;
	ndd_conn_notify(c, NDSH_EV_CONN_REPLY, NDSH_OK, ev);
}

enum ndsh_status
ndd_conn_complete(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	struct ndd_conn *c = ndd_slots_get(&s->conns, ((const struct ndsh_id_msg *)msg)->id);
	enum ndsh_status status = NDSH_ERR_ABORTED;

	(void)r;
	if (c == NULL)
		return NDSH_ERR_INVALID_ID;
	if (c->state == NDD_CONN_OVER || c->state == NDD_CONN_FLUSHING)
		return NDSH_ERR_ABORTED;
	if (c->state != NDD_CONN_REPLIED)
		return NDSH_ERR_NOT_CONNECTED;
	if (c->by_numbers)
		status = NDSH_OK;
	else if (c->qp != NULL && !c->qp->failed)
		status = ndd_conn_bring_up(c);
	if (status != NDSH_OK) {
		roce_cm_reject(
			s->daemon->cm, ndd_now_ns(), c->cm, ROCE_CM_REASON_CONSUMER, NULL, 0);
		c->end_notified = true;
		ndd_conn_over(c);
		return status == NDSH_ERR_REFUSED ? status : NDSH_ERR_ABORTED;
	}
	/* RTR and RTS before RTU (W-CM-35). */
	c->state = NDD_CONN_ESTABLISHED;
	if (!roce_cm_complete(s->daemon->cm, ndd_now_ns(), c->cm)) {
		c->end_notified = true;
		ndd_conn_over(c);
		return NDSH_ERR_ABORTED;
	}
	return NDSH_OK;
}
