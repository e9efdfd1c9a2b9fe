/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue pair at one end of a connection, and its memory: made, brought up, destroyed. */
#include "sim.h"
#include "sim_change.h"
#include "sim_kind.h"

void
sim_ep_modify(
	struct sim_ep *ep, enum roce_qp_state to, uint32_t mask, const struct roce_qp_attr *attr)
{
	enum roce_modify r =
		roce_qp_modify(ep->client->shard->s, ep->qp, ep->w->now_ns, to, mask, attr);

	sim_shard_wake(ep->client->shard, ep->w->now_ns);
	sim_check(ep->w, r == ROCE_MODIFY_OK, "conn %u%s: modify to %d: %d", ep->conn->number,
		ep->name, to, r);
}

static void
make_arenas(struct sim_ep *ep)
{
	struct sim_client *cl = ep->client;
	unsigned number = ep->conn->number;
	uint32_t slot = (ep->conn->packets + 1) * ep->conn->mtu;

	sim_arena_init(cl, &ep->source, slot, 0, "conn %u%s: source", number, ep->name);
	sim_arena_init(cl, &ep->target, slot,
		sim_insider_access(ep, NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ |
					       NDSH_ACCESS_REMOTE_WRITE |
					       NDSH_ACCESS_REMOTE_ATOMIC),
		"conn %u%s: target", number, ep->name);
	sim_arena_init(cl, &ep->landing, slot, NDSH_ACCESS_LOCAL_WRITE, "conn %u%s: landing",
		number, ep->name);
	if (ep->srq == NULL)
		sim_arena_init(cl, &ep->inbox, slot, NDSH_ACCESS_LOCAL_WRITE, "conn %u%s: inbox",
			number, ep->name);
	sim_windows_init(ep);
	sim_sink_init(ep);
}

void
sim_ep_make(struct sim_ep *ep)
{
	struct sim_client *cl = ep->client;
	struct sim_world *w = ep->w;
	struct roce_qp_attr attr = {.access = NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE |
					      NDSH_ACCESS_REMOTE_ATOMIC};
	uint32_t was = sim_actor_set(w, sim_ep_actor(ep)), pd = sim_insider_pd_enter(ep);
	struct roce_qp_cfg cfg = {.pd = cl->pd, .dims = ep->dims, .owner = ep};
	struct ndsh_qp_layout layout;

	sim_check(w, ndsh_qp_layout(&ep->dims, &layout), "ndsh_qp_layout()");
	ep->send_cq = &cl->cqs[sim_below(w, SIM_CQS)];
	ep->recv_cq = &cl->cqs[sim_below(w, SIM_CQS)];
	if ((ep->conn->poison == SIM_POISON_OVERRUN || ep->conn->poison == SIM_POISON_CQ_FAIL) &&
		ep == ep->conn->villain) {
		ep->send_cq = &ep->own_cq;
		sim_cq_init(
			cl, ep->send_cq, ep->conn->poison == SIM_POISON_OVERRUN ? 4 : SIM_OPS_MAX);
	}
	ep->index = cfg.handle = cl->n_eps;
	cl->eps[cl->n_eps++] = ep;
	cfg.shared = ep->page = sim_alloc(w, layout.total_bytes);
	cfg.send_cq = ep->send_cq->cq;
	cfg.recv_cq = ep->recv_cq->cq;
	if (ep->shares) {
		ep->srq = &cl->srq;
		cfg.srq = ep->srq->srq;
	}
	ep->qp = roce_qp_create(cl->shard->s, &cfg);
	sim_check(w, ep->qp != NULL, "roce_qp_create()");
	ep->qpn = roce_qp_num(ep->qp);
	sim_check(w,
		roce_place_shard(roce_qpn_place(&cl->shard->host->qpn_key, ep->qpn)) ==
			(uint32_t)(cl->shard - cl->shard->host->shard),
		"QPN %06x is of another shard", ep->qpn);
	ndsh_sq_view(&ep->sq, ep->page, &ep->dims);
	ndsh_rq_view(&ep->rq, ep->page, &ep->dims);
	if (ep->srq == NULL)
		ep->recvs = sim_alloc(w, SIM_RECVS_MAX * sizeof(*ep->recvs));
	make_arenas(ep);
	if (ep->conn->poison == SIM_POISON_QP_RIGHT)
		attr.access = NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_ATOMIC;
	sim_ep_modify(ep, ROCE_QPS_INIT, ROCE_QPA_ACCESS, &attr);
	if (cl->next_ns == SIM_NEVER)
		cl->next_ns = w->now_ns + SIM_US;
	cl->pd = pd;
	sim_actor_set(w, was);
}

/*
 * checks W-CM-31[1,2], W-PSN-04[3]: each end sends with the first PSN that the other chose for
 * itself; with any other nothing arrives.
 */
void
sim_ep_connect(struct sim_ep *ep, const struct roce_cm_event *ev)
{
	struct sim_conn *c = ep->conn;
	struct sim_host *local = ep->client->shard->host, *remote = ep->peer->client->shard->host;
	struct roce_qp_attr *attr = &ep->attr;

	*attr = (struct roce_qp_attr){
		.path = sim_path(local, remote, c->v6),
		.port = local->number,
		.mtu_bytes = 128u << ev->mtu_code,
		.dest_qpn = ev->peer.qpn,
		.rq_psn = ep->psn,
		.sq_psn = ev->peer.psn,
		.max_rd = ep->max_rd,
		.max_dest_rd = ep->max_dest_rd,
		.min_rnr_code = c->rnr_code,
		/* What a REQ can't say is 0: the peer adds its own time. */
		.timeout_code = c->ack_timeout == 0 ? 0 : ev->ack_timeout,
		.retry = c->retry,
		.rnr_retry = c->rnr_retry,
		/* The passive end sends nothing before it knows that the other is ready. */
		.keepalive_ms = ep == &c->ep[0] ? c->keepalive_ms : 0,
	};
	sim_check(ep->w, attr->mtu_bytes == c->mtu && ev->ack_timeout != 0,
		"conn %u: MTU or timeout", c->number);
	attr->path.udp_sport = roce_flow_sport(ev->flow_label, ep->qpn, ev->peer.qpn);
	attr->path.tos = ev->tos;
	attr->path.tagged = c->vlan != 0;
	attr->path.vlan_tci = (uint16_t)(c->vlan | sim_below(ep->w, 8) << 13);
	ep->connected = true;
	if (c->vlan != 0)
		sim_kind(SIM_KIND_vlans);
	sim_timeout_codes[attr->timeout_code]++;
	sim_retries[c->retry]++;
	sim_ep_modify(ep, ROCE_QPS_RTR, SIM_QPA_RTR, attr);
}

void
sim_ep_ready(struct sim_ep *ep)
{
	if (!ep->gone && roce_qp_state_get(ep->qp) == ROCE_QPS_RTR)
		sim_ep_modify(ep, ROCE_QPS_RTS, SIM_QPA_RTS | ROCE_QPA_KEEPALIVE, &ep->attr);
}

struct roce_cm_qp_params
sim_ep_params(const struct sim_ep *ep)
{
	return (struct roce_cm_qp_params){.qpn = ep->qpn,
		.psn = ep->psn,
		.responder_resources = ep->max_dest_rd,
		.initiator_depth = ep->max_rd,
		.retry_count = ep->conn->retry,
		.rnr_retry = ep->conn->rnr_retry,
		.srq = ep->srq != NULL};
}

/* What was posted completes as flushed. */
void
sim_ep_to_error(struct sim_ep *ep)
{
	ep->conn->dying |= !sim_ep_idle(ep) || !sim_ep_idle(ep->peer) || ep->posted < ep->quota ||
			   ep->peer->posted < ep->peer->quota;
	if (ep->flushing || ep->gone || ep->qp == NULL)
		return;
	ep->flushing = true;
	ep->up = false;
	sim_note(ep->w, "conn %u%s: to ERR", ep->conn->number, ep->name);
	sim_ep_modify(ep, ROCE_QPS_ERR, 0, NULL);
}

void
sim_ep_destroy(struct sim_ep *ep)
{
	struct roce_shard *s = ep->client->shard->s;

	if (ep->gone)
		return;
	ep->gone = true;
	ep->up = false;
	if (ep->qp == NULL)
		return;
	sim_note(ep->w, "conn %u%s: destroyed", ep->conn->number, ep->name);
	sim_change_reset(ep);
	sim_check(ep->w, roce_qp_destroy(s, ep->qp), "few windows, and they are not unbound");
	if (ep->own_cq.cq != NULL)
		sim_check(ep->w, roce_cq_destroy(s, ep->own_cq.cq), "own queue is still in use");
	if (sim_chance(ep->w, 5000))
		sim_windows_destroy(ep);
	sim_sink_destroy(ep);
	sim_arena_deregister(ep->client, &ep->source);
	sim_arena_deregister(ep->client, &ep->target);
	sim_arena_deregister(ep->client, &ep->landing);
	sim_arena_deregister(ep->client, &ep->inbox);
	sim_windows_destroy(ep);
}
