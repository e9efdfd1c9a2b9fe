/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections, from the REQ to the last time-wait, as the daemon's control thread
 * handles them; and the plan of each: when it ends, and what goes wrong before.
 */
#include <string.h>

#include "sim.h"
#include "sim_change.h"
#include "sim_kind.h"

#define REJECT_NO_LISTENER 8u
#define REJECT_STALE	   10u

static const char *const poison_names[SIM_POISON_COUNT] = {
	"none",
	"write-key",
	"read-key",
	"write-range",
	"read-range",
	"no-right",
	"dead-window",
	"foreign-window",
	"send-inv",
	"bind",
	"invalidate",
	"local-key",
	"qp-right",
	"recv-small",
	"deregister",
	"cut",
	"rnr",
	"flush",
	"vanish",
	"overrun",
	"cq-fail",
	"breach",
};

/* ---- the plan ---- */

static void
plan_ep(struct sim_world *w, struct sim_conn *c, struct sim_ep *ep, const char *name)
{
	struct sim_host *h;

	ep->w = w;
	ep->conn = c;
	ep->name = name;
	ep->peer = ep == &c->ep[0] ? &c->ep[1] : &c->ep[0];
	sim_actor_set(w, sim_ep_actor(ep));
	h = &w->hosts[sim_below(w, w->n_hosts)];
	ep->client = &h->shard[sim_below(w, h->n_shards)].client;
	ep->quota = (unsigned)sim_below(w, SIM_OPS_MAX);
	ep->shares = sim_chance(w, w->sharing);
	ep->max_rd = (uint8_t)sim_below(w, sim_chance(w, 2500) ? 17 : 5);
	ep->max_dest_rd = (uint8_t)sim_below(w, sim_chance(w, 2500) ? 17 : 5);
	ep->dims = (struct ndsh_qp_dims){.sq_depth = 1u << sim_below(w, 6),
		.rq_depth = 1u << sim_below(w, 5),
		.sq_sge = 1 + (uint32_t)sim_below(w, 8),
		.rq_sge = 1 + (uint32_t)sim_below(w, 8),
		.inline_bytes = sim_chance(w, 5000) ? (uint32_t)sim_below(w, 257) : 0};
	/* Near the wrap as often as not (W-PSN-05). */
	ep->psn = (uint32_t)(sim_chance(w, 5000) ? 0xffffff - sim_below(w, 40) : sim_rand(w)) &
		  ROCE_PSN_MASK;
	sim_actor_set(w, SIM_ACTOR_CONN(c->number));
}

/* Two hosts connect to each other at the same time. */
static void
begin_together(struct sim_conn *c, const struct sim_conn *other)
{
	c->start_ns = other->start_ns;
	c->ep[0].client = other->ep[1].client;
	c->ep[1].client = other->ep[0].client;
}

void
sim_conn_init(struct sim_world *w, unsigned number)
{
	struct sim_conn *c = &w->conns[number];
	const struct sim_profile *p = w->profile;

	sim_actor_set(w, SIM_ACTOR_CONN(number));
	c->number = number;
	c->start_ns = sim_below(w, 2 * SIM_MS);
	c->v6 = sim_chance(w, 4000);
	c->mtu_code = (uint8_t)(1 + sim_below(w, 5));
	sim_rare_plan(w, c);
	c->refuse = sim_chance(w, 500);
	c->nobody = !c->refuse && sim_chance(w, 300);
	plan_ep(w, c, &c->ep[0], "a");
	plan_ep(w, c, &c->ep[1], "p");
	sim_rare_length(w, c);
	if (sim_chance(w, p->poison)) {
		c->poison = (enum sim_poison)(1 + sim_below(w, SIM_POISON_COUNT - 1));
		c->villain = &c->ep[sim_below(w, 2)];
		c->villain->quota += c->villain->quota < SIM_OPS_MAX / 2 ? SIM_OPS_MAX / 4 : 0;
		c->poison_at = (unsigned)sim_below(w, c->villain->quota);
	}
	if (c->poison == SIM_POISON_RNR) { /* others live from the receives that it shares */
		c->rnr_retry = (uint8_t)sim_below(w, 3);
		c->villain->peer->shares = false;
	}
	if (c->poison == SIM_POISON_CQ_FAIL) /* before it runs out of what results would free */
		c->poison_at %= 8;
	if (c->poison == SIM_POISON_RECV_SMALL && c->villain->peer->shares)
		c->mtu_code = 5; /* shared receives have room for the messages of all */
	/* It is a write: a queue pair without the right to remote writes refuses it. */
	if (c->poison != SIM_POISON_QP_RIGHT && c->ack_timeout != 0 && sim_chance(w, 3000))
		c->keepalive_ms = 1 + (uint32_t)sim_below(w, 3);
	c->mtu = 128u << c->mtu_code;
	sim_cm_plan(w, c);
	sim_loss_plan(c);
	if (sim_chance(w, p->deaths / 4))
		c->death_at = 1 + (unsigned)sim_below(w, c->ep[0].quota + c->ep[1].quota + 1);
	if (p->deaths > 0 && sim_chance(w, 5000)) /* when hosts have come back */
		c->start_ns = sim_below(w, SIM_S);
	if (number > 0 && sim_chance(w, p->together))
		begin_together(c, &w->conns[number - 1]);
	if (sim_chance(w, p->abrupt))
		c->abrupt_at = 1 + (unsigned)sim_below(w, c->ep[0].quota + c->ep[1].quota + 1);
	sim_actor_set(w, SIM_ACTOR_WORLD);
}

/* ---- setting up ---- */

/* Once, also if it has to wait for room. */
static void
begin(struct sim_conn *c)
{
	struct sim_ep *ep = &c->ep[0];
	struct sim_host *local = ep->client->shard->host, *remote = ep->peer->client->shard->host;

	sim_insider_plan(c);
	sim_dialect_plan(c);
	c->copies |= ep->w->profile->narrow > 0;
	sim_note(ep->w, "conn %u: host %u to host %u, %s, MTU %u, poison %s%s, abrupt at %u%s",
		c->number, local->number, remote->number, c->v6 ? "IPv6" : "IPv4", c->mtu,
		c->villain == NULL ? "" : c->villain->name, poison_names[c->poison], c->abrupt_at,
		c->refuse   ? ", refused"
		: c->nobody ? ", nobody listens"
			    : "");
	sim_ep_make(ep);
}

void
sim_conn_start(struct sim_conn *c)
{
	struct sim_ep *ep = &c->ep[0];
	struct sim_host *local = ep->client->shard->host, *remote = ep->peer->client->shard->host;
	uint32_t number = c->number;
	struct roce_cm_connect req = {
		.local = {*sim_gid(local, c->v6), (uint16_t)(40000 + c->number)},
		.remote = {*sim_gid(remote, c->v6), SIM_PORT + c->nobody},
		.port = local->number,
		.mtu_code = c->mtu_code,
		.ack_timeout = c->ack_timeout,
		.tos = 2,
		.hop_limit = 64,
		.priv = &number,
		.priv_bytes = sizeof(number),
		.owner = ep,
	};

	if (ep->qp == NULL)
		begin(c);
	req.qp = sim_ep_params(ep);
	ep->cm = roce_cm_connect(local->cm, ep->w->now_ns, &req);
	if (ep->cm == NULL) {
		sim_full_wait(c);
		return;
	}
	c->state = SIM_CONN_SETUP;
	c->dying = c->poison == SIM_POISON_RNR || c->poison == SIM_POISON_OVERRUN ||
		   c->insider != NULL;
	sim_host_wake(local, ep->w->now_ns);
}

static void
up_when_both_are(struct sim_conn *c)
{
	if (c->state == SIM_CONN_SETUP && c->ep[0].up && c->ep[1].up)
		c->state = SIM_CONN_UP;
}

static uint8_t
min8(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

/* Passive: the application takes its time, sometimes longer than the peer's patience. */
static void
on_request(struct sim_host *h, const struct roce_cm_event *ev)
{
	struct sim_world *w = h->w;
	struct sim_ep *ep;
	uint32_t number;

	memcpy(&number, ev->priv, sizeof(number));
	sim_check(w, number < w->n_conns && ev->owner == h, "REQ of nobody");
	ep = &w->conns[number].ep[1];
	/* A REJ may be lost; after an MRA the peer asks again so late that it counts as new. */
	if (ep->conn->refuse && ep->cm_over && !ep->gone) {
		roce_cm_destroy(h->cm, w->now_ns, ep->cm);
		ep->cm = NULL;
		ep->cm_over = false;
	}
	if (ep->cm != NULL || ep->gone || ep->client->shard->host != h) {
		sim_check(w, ep->conn->copies || ep->vanished || ep->peer->vanished,
			"conn %u: REQ twice", number);
		roce_cm_destroy(h->cm, w->now_ns, ev->conn); /* rejects it */
		return;
	}
	ep->cm = ev->conn;
	roce_cm_set_owner(ev->conn, ep);
	ep->conn->request = *ev;
	ep->conn->accept_ns = w->now_ns;
	sim_actor_set(w, sim_ep_actor(ep));
	ep->conn->accept_ns += sim_dialect_delay(ep);
	if (sim_chance(w, 3000))
		ep->conn->accept_ns += sim_below(w, 300 * SIM_MS);
	sim_conn_answer(ep->conn);
	sim_actor_set(w, SIM_ACTOR_HOST(h->number));
}

/* Bring the queue pair up, then send the REP (W-CM-35); or send the REJ. */
void
sim_conn_answer(struct sim_conn *c)
{
	struct sim_ep *ep = &c->ep[1];
	struct sim_world *w = ep->w;
	struct sim_host *h = ep->client->shard->host;
	const struct roce_cm_event *ev = &c->request;
	struct roce_cm_qp_params qp;

	if (ep->cm == NULL || ep->cm_over || ep->gone || c->accept_ns == 0 ||
		w->now_ns < c->accept_ns)
		return;
	c->accept_ns = 0;
	sim_host_wake(h, w->now_ns);
	if (c->refuse) {
		sim_check(w,
			roce_cm_reject(
				h->cm, w->now_ns, ev->conn, ROCE_CM_REASON_CONSUMER, "no", 2),
			"roce_cm_reject()");
		ep->cm_over = true;
		return;
	}
	sim_ep_make(ep);
	ep->max_rd = min8(ep->max_rd, ev->peer.responder_resources);
	ep->max_dest_rd = min8(ep->max_dest_rd, ev->peer.initiator_depth);
	sim_ep_connect(ep, ev);
	if (!sim_chance(w, 5000)) /* else when the peer is known to be ready */
		sim_ep_ready(ep);
	qp = sim_ep_params(ep);
	if (!roce_cm_accept(h->cm, w->now_ns, ev->conn, &qp, NULL, 0, ep))
		sim_note(w, "conn %up: the peer gave up meanwhile", c->number);
}

/* Active: the application takes its time, too. */
static void
on_reply(struct sim_host *h, struct sim_ep *ep, const struct roce_cm_event *ev)
{
	struct sim_world *w = h->w;
	struct sim_conn *c = ep->conn;

	sim_check(w, !c->refuse && !c->nobody, "conn %u: accepted a refused one", c->number);
	if (ep->gone)
		return;
	ep->max_rd = ev->peer.responder_resources;
	ep->max_dest_rd = min8(ep->max_dest_rd, ev->peer.initiator_depth);
	sim_ep_connect(ep, ev);
	c->complete_ns = w->now_ns;
	if (sim_chance(w, 1500))
		c->complete_ns += sim_below(w, 300 * SIM_MS);
	sim_conn_complete(c);
}

void
sim_conn_complete(struct sim_conn *c)
{
	struct sim_ep *ep = &c->ep[0];
	struct sim_world *w = ep->w;

	if (ep->cm_over || ep->gone || c->complete_ns == 0 || w->now_ns < c->complete_ns)
		return;
	c->complete_ns = 0;
	sim_host_wake(ep->client->shard->host, w->now_ns);
	sim_ep_ready(ep);
	if (roce_cm_complete(ep->client->shard->host->cm, w->now_ns, ep->cm))
		ep->up = true;
	up_when_both_are(c);
}

/* checks W-CM-45[3] */
static void
on_end(struct sim_ep *ep, const struct roce_cm_event *ev)
{
	struct sim_world *w = ep->w;
	struct sim_conn *c = ep->conn;
	bool wished = c->state >= SIM_CONN_CLOSING || c->ep[0].disconnecting ||
		      c->ep[1].disconnecting || c->ep[0].vanished || c->ep[1].vanished;

	ep->cm_over = true;
	if (c->insider != NULL)
		sim_note(w, "conn %u%s: ended with an insider", c->number, ep->name);
	else if (ev->type == ROCE_CM_EV_REJECTED)
		sim_check(w,
			(c->refuse && ev->reason == ROCE_CM_REASON_CONSUMER) ||
				(c->nobody && ev->reason == REJECT_NO_LISTENER) || wished ||
				sim_full_refuses(ep->peer, ev->reason) ||
				(ev->reason == REJECT_STALE &&
					(sim_death_made_stale(ep) ||
						sim_death_made_stale(ep->peer))),
			"conn %u%s: rejected, reason %u", c->number, ep->name, ev->reason);
	else if (ev->type == ROCE_CM_EV_UNREACHABLE)
		sim_check(w, wished, "conn %u%s: unreachable", c->number, ep->name);
	else /* a live host answers a DREQ, also of a connection that it has forgotten */
		sim_check(w, wished && (!ev->timed_out || w->deaths > 0),
			"conn %u%s: disconnected %s", c->number, ep->name,
			wished ? "without an answer" : "by nobody");
	c->state = SIM_CONN_CLOSING;
	sim_ep_to_error(ep);
}

static void
on_established(struct sim_ep *ep)
{
	const struct roce_qp_attr attr = {.keepalive_ms = ep->conn->keepalive_ms};

	sim_ep_ready(ep);
	ep->up = !ep->flushing;
	if (!ep->gone && roce_qp_state_get(ep->qp) == ROCE_QPS_RTS)
		sim_ep_modify(ep, ROCE_QPS_RTS, ROCE_QPA_KEEPALIVE, &attr);
}

void
sim_conn_cm_event(struct sim_host *h, const struct roce_cm_event *ev)
{
	static const char *const names[] = {
		"REQUEST", "REPLY", "ESTABLISHED", "REJECTED", "UNREACHABLE", "DISCONNECTED"};
	struct sim_ep *ep = ev->owner;
	struct sim_conn *c;

	if (ev->type >= ROCE_CM_EV_SIDR_REQUEST) {
		sim_sidr_event(h, ev);
		return;
	}
	sim_progress(h->w);
	sim_note(h->w, "host %u: CM %s", h->number, names[ev->type]);
	if (ev->type == ROCE_CM_EV_REQUEST) {
		h->untold = 0; /* it hears of all before it decides */
		if (sim_flood_is_request(ev))
			sim_flood_on_request(h, ev);
		else
			on_request(h, ev);
		return;
	}
	c = ep->conn;
	sim_actor_set(h->w, sim_ep_actor(ep));
	sim_check(h->w, ep->cm == ev->conn && !ep->cm_over, "conn %u%s: CM event after the end",
		c->number, ep->name);
	if (ev->type == ROCE_CM_EV_REPLY)
		on_reply(h, ep, ev);
	else if (ev->type == ROCE_CM_EV_ESTABLISHED)
		on_established(ep);
	else
		on_end(ep, ev);
	sim_actor_set(h->w, SIM_ACTOR_HOST(h->number));
	up_when_both_are(c);
}

/* The peer has ended, and its DREQ is late: the keepalive was faster. */
static bool
missed(const struct sim_ep *ep, const struct roce_event *ev)
{
	const struct sim_ep *peer = ep->peer;

	return ep->conn->keepalive_ms != 0 && ev->reason == ROCE_REASON_RETRY_EXC &&
	       (peer->flushing || peer->errored || peer->gone);
}

/*
 * checks W-CM-51[1]: an end that flushes before its DREQ comes looks dead meanwhile, but is no
 * reason for the other one to fail.
 */
void
sim_conn_shard_event(struct sim_shard *sh, const struct roce_event *ev)
{
	struct sim_world *w = sh->host->w;
	struct sim_ep *ep = ev->owner;

	if (ev->type == ROCE_EV_CQ_ERROR) {
		const struct sim_cq *cq = ev->owner;

		sim_check(w, cq < sh->client.cqs || cq >= sh->client.cqs + SIM_CQS, "CQ error");
		return;
	}
	if (ev->type == ROCE_EV_SRQ_LIMIT) {
		sim_srq_limit(ev->owner);
		return;
	}
	if (sim_ud_of(w, ev->owner) != NULL) {
		sim_ud_event(sim_ud_of(w, ev->owner), ev);
		return;
	}
	if (ev->type == ROCE_EV_LAST_WQE) {
		sim_note(w, "conn %u%s: last receive", ep->conn->number, ep->name);
		sim_check(w, ep->srq != NULL, "conn %u%s: last receive of its own",
			ep->conn->number, ep->name);
		sim_srq_last_wqe(w, &ep->taker, ep->page);
		return;
	}
	if (ev->type == ROCE_EV_SQ_DRAINED) {
		sim_check(
			w, ep->draining, "conn %u%s: drained unasked", ep->conn->number, ep->name);
		ep->draining = false;
		return;
	}
	if (ev->type == ROCE_EV_CLIENT_BREACH) {
		sim_check(w, ep->conn->poison == SIM_POISON_BREACH && ep == ep->conn->villain,
			"conn %u%s: breach", ep->conn->number, ep->name);
		ep->breached = true;
		return;
	}
	sim_note(w, "conn %u%s: %s %s", ep->conn->number, ep->name,
		ev->type == ROCE_EV_COMM_EST ? "established" : "error:",
		ev->type == ROCE_EV_COMM_EST ? "" : roce_reason_name((enum roce_reason)ev->reason));
	if (ev->type == ROCE_EV_COMM_EST) {
		if (ep == &ep->conn->ep[1] && !ep->gone)
			roce_cm_established(sh->host->cm, w->now_ns, ep->cm);
		return;
	}
	ep->conn->dying |= missed(ep, ev) ||
			   (ev->reason == ROCE_REASON_RETRY_EXC && sim_may_give_up(ep->conn));
	sim_check(w, ep->conn->dying, "conn %u%s: error without a reason: %s", ep->conn->number,
		ep->name, roce_reason_name((enum roce_reason)ev->reason));
	ep->errored = true;
	ep->up = false;
	sim_actor_set(w, sim_ep_actor(ep));
	ep->close_ns = w->now_ns + sim_below(w, 2 * SIM_MS);
	sim_loss_event(ep, ev);
	sim_actor_set(w, SIM_ACTOR_SHARD(sh->host->number, sh->number));
}
