/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagram services. Nothing is acknowledged: the query is repeated until there is a reply, and the
 * reply is kept for a while, for a peer that repeats its request because the reply was lost. Both
 * are bounded: requests, and replies that are kept, take no more than a part of what peers may
 * begin, so that those of strangers don't push out connections.
 */
#include <string.h>

#include "base/share.h"
#include "cm/event.h"
#include "cm/id.h"
#include "cm/manager.h"
#include "cm/message.h"
#include "cm/outbox.h"
#include "cm/retry.h"
#include "cm/sidr.h"
#include "cm/sidr_conn.h"
#include "cm/stateless.h"
#include "cm/table.h"
#include "cm/timer.h"

/* Longer than the longest pause between two copies of a request, ours (W-CM-60) or Linux's. */
#define REQUEST_HOLD_NS (10000 * CM_MS)
#define REPLY_HOLD_NS	(10000 * CM_MS)
/* Parts of max_passive, at least one. */
#define REQUESTS_PART 4u
#define REPLIES_PART  8u

static uint32_t
sidr_part(const struct roce_cm *cm, uint32_t part)
{
	return cm->cfg.max_passive / part + 1;
}

static bool
sidr_is_full(const struct roce_cm *cm, uint32_t part)
{
	return cm->sidr_requests >= sidr_part(cm, part);
}

/* A client that answers nothing must not make those of others unreachable: its share of this part
 * is as of the whole (cm/room.c). */
static bool
sidr_has_room(struct roce_cm *cm, const struct cm_claim *claim)
{
	const uint32_t room = sidr_part(cm, REQUESTS_PART);
	const uint32_t held = cm->users[claim->user].sidr_requests;

	if (sidr_is_full(cm, REQUESTS_PART)) {
		cm->counters.no_resources++;
		return false;
	}
	if (!base_share_has_room(held, room, cm->sidr_requests, BASE_FAIR_FACTOR)) {
		cm->counters.rejected_listener++;
		return false;
	}
	return true;
}

/* ---- queries ---- */

struct roce_cm_conn *
roce_cm_sidr_query(struct roce_cm *cm, uint64_t now_ns, const struct roce_cm_sidr_query *l)
{
	const struct cm_claim claim = cm_claim_active(l->user);
	struct roce_cm_conn *c;

	if (l->priv_bytes > ROCE_CM_SIDR_QUERY_PRIV)
		return NULL;
	c = cm_conn_new(cm, CM_SIDR_SENT, &claim);
	if (c == NULL)
		return NULL;
	c->host_holds = true;
	c->owner = l->owner;
	c->tid = cm_new_tid(cm, c->local_id);
	c->local = l->local;
	c->remote = l->remote;
	c->port = l->port;
	c->tos = l->tos;
	c->hop_limit = l->hop_limit != 0 ? l->hop_limit : ROCE_HOP_LIMIT;
	c->max_retries = cm->cfg.max_retries;
	(void)cm_set_out_priv(c, l->priv, l->priv_bytes, ROCE_CM_SIDR_QUERY_PRIV);
	cm_table_unlink(c, CM_BY_LOCAL_ID); /* no message of a connection finds it */
	cm_table_link(cm, c, CM_BY_SIDR_ID);
	cm_send(cm, c, CM_TX_SIDR);
	cm_retry_start(cm, now_ns, c);
	return c;
}

void
cm_recv_sidr_rep(struct roce_cm *cm, const struct cm_in *in)
{
	const struct cm_mad *m = &in->mad;
	struct roce_cm_conn *c = cm_find_sidr_query(cm, in);

	if (c == NULL) {
		cm->counters.rx_dropped++;
		return;
	}
	if (m->status == ROCE_CM_SIDR_SUCCESS && m->qpn <= ROCE_QPN_GSI) {
		cm->counters.rx_malformed++;
		return;
	}
	c->ev_reason = (uint16_t)m->status;
	c->peer.qpn = m->qpn;
	c->q_key = m->qkey;
	cm_set_in_priv(c, m->priv, ROCE_CM_SIDR_REPLY_PRIV);
	cm_event_raise(cm, c, ROCE_CM_EV_SIDR_REPLY);
	cm_conn_dead(cm, c);
}

void
cm_sidr_query_timed_out(struct roce_cm *cm, struct roce_cm_conn *c)
{
	c->ev_timed_out = true;
	cm_event_raise(cm, c, ROCE_CM_EV_SIDR_REPLY);
	cm_conn_dead(cm, c);
}

/* ---- requests of peers ---- */

struct roce_cm_listener *
roce_cm_sidr_listen(struct roce_cm *cm, const struct roce_cm_addr *addr, uint32_t nic,
	uint32_t backlog, void *owner, const char **why)
{
	return cm_listen_at(cm, CM_SERVICE_PS_UDP | addr->port, addr, nic, backlog, owner, why);
}

/* The peer did not hear the reply, or the host has not decided yet. */
static void
sidr_request_again(struct roce_cm *cm, const struct cm_in *in, struct roce_cm_conn *c)
{
	cm->counters.rx_duplicate++;
	if (c->state == CM_SIDR_ANSWERED) {
		cm_send(cm, c, CM_TX_SIDR);
		cm_timer_set(cm, c, in->now_ns + REPLY_HOLD_NS);
	} else {
		cm_timer_set(cm, c, in->now_ns + REQUEST_HOLD_NS);
	}
}

static bool
sidr_req_is_sound(const struct cm_in *in, struct cm_ip_hdr *ip)
{
	const struct cm_mad *m = &in->mad;

	return (m->pkey & 0x7fff) == 0x7fff && cm_ip_hdr_decode(ip, m->priv) &&
	       roce_gid_equal(&ip->dst, &in->local) && roce_gid_equal(&ip->src, &in->remote);
}

static void
sidr_request_offer(struct roce_cm *cm, const struct cm_in *in, struct roce_cm_listener *l,
	const struct cm_ip_hdr *ip)
{
	const struct cm_claim claim = cm_claim_passive(l, in->origin);
	const struct cm_mad *m = &in->mad;
	struct roce_cm_conn *c = NULL;

	if (sidr_has_room(cm, &claim))
		c = cm_conn_new(cm, CM_SIDR_RCVD, &claim);
	if (c == NULL) {
		cm_answer_sidr(cm, in, ROCE_CM_SIDR_NO_QP);
		return;
	}
	c->remote_id = m->local_id;
	c->tid = m->tid;
	c->local = (struct roce_cm_addr){in->local, (uint16_t)m->service_id};
	c->remote = (struct roce_cm_addr){in->remote, ip->src_port};
	c->port = in->port;
	c->tos = in->tos;
	c->hop_limit = ROCE_HOP_LIMIT;
	cm_set_in_priv(c, m->priv + CM_IP_HDR_BYTES, ROCE_CM_SIDR_QUERY_PRIV);
	cm_listener_add(l, c);
	cm->sidr_requests++;
	cm->users[claim.user].sidr_requests++;
	cm_table_unlink(c, CM_BY_LOCAL_ID);
	cm_table_link(cm, c, CM_BY_SIDR_ID);
	cm_timer_set(cm, c, in->now_ns + REQUEST_HOLD_NS);
	cm_event_request(cm, c, ROCE_CM_EV_SIDR_REQUEST);
}

/* The order of the checks is that of a REQ. One that contradicts itself is rejected (W-CM-08). */
void
cm_recv_sidr_req(struct roce_cm *cm, const struct cm_in *in)
{
	struct roce_cm_conn *c = cm_find_sidr_request(cm, in);
	struct roce_cm_listener *l;
	struct cm_ip_hdr ip;

	if (c != NULL) {
		sidr_request_again(cm, in, c);
		return;
	}
	l = (in->mad.service_id & ~UINT64_C(0xffff)) == CM_SERVICE_PS_UDP ? cm_find_listener(cm, in)
									  : NULL;
	if (l == NULL || l->paused) {
		cm->counters.rejected_no_listener++;
		cm_answer_sidr(cm, in, ROCE_CM_SIDR_UNSUPPORTED);
	} else if (!sidr_req_is_sound(in, &ip)) {
		cm->counters.rejected_invalid++;
		cm_answer_sidr(cm, in, ROCE_CM_SIDR_REJECT);
	} else if (cm_listener_is_full(l)) {
		cm->counters.rejected_backlog++;
		cm_answer_sidr(cm, in, ROCE_CM_SIDR_REJECT);
	} else {
		sidr_request_offer(cm, in, l, &ip);
	}
}

bool
roce_cm_sidr_reply(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c,
	const struct roce_cm_sidr_reply *a)
{
	if (c->state != CM_SIDR_RCVD ||
		!cm_set_out_priv(c, a->priv, a->priv_bytes, ROCE_CM_SIDR_REPLY_PRIV))
		return false;
	cm_event_forget(cm, c);
	c->host_holds = false;
	c->rej_reason = (uint16_t)a->status;
	if (a->status == ROCE_CM_SIDR_SUCCESS) {
		c->qp.qpn = a->qpn;
		c->q_key = a->q_key;
	}
	cm_conn_state(cm, c, CM_SIDR_ANSWERED);
	cm_send(cm, c, CM_TX_SIDR);
	if (sidr_is_full(cm, REPLIES_PART)) /* it is sent, and not kept */
		cm_conn_dead(cm, c);
	else
		cm_timer_set(cm, c, now_ns + REPLY_HOLD_NS);
	return true;
}

void
cm_sidr_request_reject(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	(void)roce_cm_sidr_reply(
		cm, now_ns, c, &(struct roce_cm_sidr_reply){.status = ROCE_CM_SIDR_REJECT});
}

void
cm_sidr_request_gone(struct roce_cm *cm, struct roce_cm_conn *c)
{
	cm_event_raise(cm, c, ROCE_CM_EV_SIDR_GONE);
	cm_conn_dead(cm, c);
}
