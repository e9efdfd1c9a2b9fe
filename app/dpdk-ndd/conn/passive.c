/* SPDX-License-Identifier: BSD-3-Clause */
/* A REQ for one of our listeners: offer it, then accept or reject. */
#include <string.h>

#include "conn/bring_up.h"
#include "conn/conn.h"
#include "conn/listener.h"
#include "conn/notify.h"
#include "conn/numbers.h"
#include "conn/passive.h"
#include "conn/services.h"
#include "control/daemon.h"
#include "hostnet/path.h"
#include "object/qp.h"
#include "platform/clock.h"
#include "session/session.h"

static uint8_t
least_reads(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

struct ndd_conn *
ndd_conn_offered(const struct roce_cm_event *ev)
{
	const struct ndd_listener *l = ev->owner;
	struct ndd_session *s = l->session;
	struct ndd_conn *c = s->ended ? NULL : ndd_conn_new(s, NDD_CONN_OFFERED);

	if (c == NULL)
		return NULL;
	roce_cm_set_owner(ev->conn, c);
	c->cm = ev->conn;
	c->listener = l->id;
	c->by_numbers = l->by_numbers;
	c->local = ev->local;
	c->nic = ev->port;
	c->remote = ev->remote;
	c->tos = ev->tos;
	c->hop_limit = ev->hop_limit;
	return c;
}

void
ndd_conn_on_request(struct ndd *d, const struct roce_cm_event *ev)
{
	uint8_t max_mtu = ndd_mtu_code(ndd_path_mtu(d->plane.port[ev->port].mtu));
	uint64_t now_ns = ndd_now_ns();
	struct ndd_conn *c;

	/* The REQ's MTU is taken verbatim or not at all (W-CM-32). */
	if (ev->mtu_code > max_mtu) {
		roce_cm_reject_mtu(d->cm, now_ns, ev->conn, max_mtu);
		roce_cm_destroy(d->cm, now_ns, ev->conn);
		return;
	}
	c = ndd_conn_offered(ev);
	if (c == NULL) {
		roce_cm_reject(d->cm, now_ns, ev->conn, ROCE_CM_REASON_NO_RESOURCES, NULL, 0);
		roce_cm_destroy(d->cm, now_ns, ev->conn);
		return;
	}
	c->peer = ev->peer;
	c->flow_label = ev->flow_label;
	c->mtu_code = ev->mtu_code;
	c->ack_timeout = ev->ack_timeout;
	/* The peer serves as many reads as this side may issue, and the other way round (W-CM-30).
	 */
	c->inbound = least_reads(ev->peer.initiator_depth, ROCE_RD_ATOMIC_MAX);
	c->outbound = least_reads(ev->peer.responder_resources, ROCE_RD_ATOMIC_MAX);
	ndd_conn_notify(c, NDSH_EV_CONN_REQUEST, NDSH_OK, ev);
}

enum ndsh_status
ndd_conn_accept(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_accept *m = msg;
	struct ndd_conn *c = ndd_slots_get(&s->conns, m->conn);
	struct ndd_qp *qp = ndd_qp_get(s, m->qp);
	enum ndsh_status status;

	if (c == NULL || qp == NULL)
		return NDSH_ERR_INVALID_ID;
	if (m->priv_bytes > NDSH_CALLEE_DATA_MAX)
		return NDSH_ERR_PRIVATE_DATA_SIZE;
	if (m->ecn > NDSH_ECN_ON)
		return NDSH_ERR_INVALID_PARAMETER;
	if (c->state == NDD_CONN_OVER)
		return NDSH_ERR_ABORTED; /* the peer has vanished (R-CONN-14) */
	if (c->state != NDD_CONN_OFFERED)
		return NDSH_ERR_NOT_CONNECTED;
	if (qp->datagrams || qp->unreliable || c->by_numbers)
		return NDSH_ERR_INVALID_REQUEST;
	if (qp->conn != NULL)
		return NDSH_ERR_CONNECTED;
	if (qp->failed || qp->by_hand)
		return NDSH_ERR_INVALID_STATE;
	status = ndd_port_accepted(&s->daemon->ports, &s->account, &c->port, c->nic, &c->local);
	if (status != NDSH_OK)
		return status;
	ndd_conn_take_qp(c, qp);
	c->inbound = least_reads(c->inbound, m->inbound_reads);
	c->outbound = least_reads(c->outbound, m->outbound_reads);
	c->ecn = m->ecn;
	c->priv_bytes = m->priv_bytes;
	memcpy(c->priv, m->priv, m->priv_bytes);
	c->state = NDD_CONN_ACCEPTING;
	ndd_conn_resolve_later(c);
	r->id.id = c->id;
	return NDSH_OK;
}

/* RTR and RTS are acknowledged by the shard before the REP leaves (W-CM-35). */
void
ndd_conn_send_reply(struct ndd_conn *c, uint64_t now_ns)
{
	struct ndd *d = c->session->daemon;
	const struct roce_cm_qp_params qp = ndd_conn_own_values(c);
	enum ndsh_status status = NDSH_OK;

	if (!c->by_numbers)
		status = ndd_conn_bring_up(c);
	else if (!ndd_cm_has_number(c))
		status = NDSH_ERR_ABORTED;
	if (status != NDSH_OK) {
		enum roce_cm_reason why = status == NDSH_ERR_REFUSED ? ROCE_CM_REASON_CONSUMER
								     : ROCE_CM_REASON_NO_RESOURCES;

		roce_cm_reject(d->cm, now_ns, c->cm, why, NULL, 0);
		ndd_conn_fail(c, status, NULL);
		return;
	}
	c->state = NDD_CONN_ACCEPTED;
	if (!roce_cm_accept(d->cm, now_ns, c->cm, &qp, c->priv, c->priv_bytes, c))
		ndd_conn_fail(c, NDSH_ERR_ABORTED, NULL);
}

static void
conn_establish(struct ndd_conn *c)
{
	if (c->state != NDD_CONN_ACCEPTED)
		return;
	c->state = NDD_CONN_ESTABLISHED;
	ndd_conn_start_keepalive(c);
	ndd_conn_notify(c, NDSH_EV_CONN_ESTABLISHED, NDSH_OK, NULL);
}

void
ndd_conn_on_established(struct ndd *d, const struct roce_cm_event *ev)
{
	(void)d;
	conn_establish(ev->owner);
}

/* At once, before the CM says so: that request may have ended the queue pair, which is the next
 * event, and the end of a connection that was established. */
void
ndd_conn_on_first_request(struct ndd_conn *c)
{
	if (c->cm != NULL)
		roce_cm_established(c->session->daemon->cm, ndd_now_ns(), c->cm);
	conn_establish(c);
}

/* By the passive side instead of Accept, or by the active one instead of completing. */
enum ndsh_status
ndd_conn_reject(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_reject *m = msg;
	struct ndd_conn *c = ndd_slots_get(&s->conns, m->conn);

	(void)r;
	if (c == NULL)
		return NDSH_ERR_INVALID_ID;
	if (c->datagrams)
		return ndd_service_reject(c, m);
	if (m->priv_bytes > NDSH_REJECT_DATA_MAX)
		return NDSH_ERR_PRIVATE_DATA_SIZE;
	if (c->state == NDD_CONN_OVER)
		return NDSH_ERR_ABORTED; /* the peer has gone, and the client is not told yet */
	if (c->state != NDD_CONN_OFFERED && c->state != NDD_CONN_REPLIED)
		return NDSH_ERR_NOT_CONNECTED;
	roce_cm_reject(s->daemon->cm, ndd_now_ns(), c->cm, ROCE_CM_REASON_CONSUMER, m->priv,
		m->priv_bytes);
	ndd_conn_over(c);
	return NDSH_OK;
}
