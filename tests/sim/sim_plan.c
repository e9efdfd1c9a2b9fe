/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes due in the life of a connection: planned errors, its end, the cleaning up. */
#include "sim.h"
#include "sim_change.h"

static void
disconnect(struct sim_ep *ep)
{
	struct sim_host *h = ep->client->shard->host;

	if (ep->disconnecting || ep->cm_over || ep->gone || ep->cm == NULL)
		return;
	sim_note(ep->w, "conn %u%s: disconnect", ep->conn->number, ep->name);
	sim_ep_to_error(ep); /* first the flush, then the DREQ (W-CM-51) */
	ep->disconnecting = true;
	ep->conn->state = SIM_CONN_CLOSING;
	roce_cm_disconnect(h->cm, ep->w->now_ns, ep->cm);
	sim_host_wake(h, ep->w->now_ns);
	sim_progress(ep->w);
}

void
sim_ep_vanish(struct sim_ep *ep)
{
	struct sim_host *h = ep->client->shard->host;

	sim_model_ep_vanish(ep);
	ep->vanished = true;
	ep->conn->state = SIM_CONN_CLOSING;
	if (ep->cm != NULL)
		roce_cm_destroy(h->cm, ep->w->now_ns, ep->cm);
	ep->cm_over = true;
	sim_ep_destroy(ep);
	sim_host_wake(h, ep->w->now_ns);
}

/* checks R-CQ-32 */
static void
fail_queue(struct sim_ep *ep)
{
	roce_cq_fail(ep->client->shard->s, ep->own_cq.cq);
	sim_shard_wake(ep->client->shard, ep->w->now_ns);
}

static void
check_fate(const struct sim_ep *ep)
{
	uint32_t fault = ep->own_cq.reader.page->fault;

	if (ep->conn->poison == SIM_POISON_CQ_FAIL && ep->conn->poison_done)
		sim_check(ep->w, fault == NDSH_CQ_FATAL && ep->page->dead,
			"conn %u%s: its queue is lost, but its fault is %u", ep->conn->number,
			ep->name, fault);
}

/* Planned errors that are not requests (those are in sim_ops.c). */
static void
poison(struct sim_conn *c)
{
	struct sim_ep *v = c->villain;

	if (c->poison_done || c->poison < SIM_POISON_DEREGISTER ||
		c->poison == SIM_POISON_OVERRUN || !v->up || v->posted < c->poison_at ||
		c->state != SIM_CONN_UP)
		return;
	if (c->poison_ns == 0) { /* in the middle of things, not right behind a post */
		c->poison_ns = v->w->now_ns + sim_below(v->w, 20 * SIM_US);
		return;
	}
	if (v->w->now_ns < c->poison_ns)
		return;
	if (c->poison == SIM_POISON_BREACH && !sim_breach_post(v))
		return;
	if (c->poison == SIM_POISON_CUT && !sim_window_cut(v->peer))
		return;
	c->poison_done = true;
	c->dying = true;
	sim_note(v->w, "conn %u%s: poison", c->number, v->name);
	if (c->poison == SIM_POISON_DEREGISTER)
		sim_arena_deregister(v->peer->client, &v->peer->target);
	else if (c->poison == SIM_POISON_RNR)
		v->peer->recv_stopped = true;
	else if (c->poison == SIM_POISON_FLUSH)
		sim_ep_to_error(v);
	else if (c->poison == SIM_POISON_VANISH)
		sim_ep_vanish(v);
	else if (c->poison == SIM_POISON_CQ_FAIL)
		fail_queue(v);
	else if (c->poison == SIM_POISON_BREACH)
		v->up = false; /* nothing is posted behind a breach of the contract */
	if (c->poison == SIM_POISON_FLUSH)
		v->close_ns = v->w->now_ns + sim_below(v->w, 2 * SIM_MS);
}

/* A host dies in the middle of the work. */
static void
death(struct sim_conn *c)
{
	struct sim_world *w = c->ep[0].w;

	if (c->death_at == 0 || c->state != SIM_CONN_UP ||
		c->ep[0].posted + c->ep[1].posted < c->death_at)
		return;
	c->death_at = 0;
	sim_host_dies(
		c->ep[sim_below(w, 2)].client->shard->host, w->now_ns + sim_below(w, 100 * SIM_US));
}

/* Now and then a queue pair rests: it finishes what it began and starts nothing new (W-QP-03). */
static void
drain(struct sim_ep *ep)
{
	struct sim_world *w = ep->w;

	if (ep->gone || ep->qp == NULL)
		return;
	if (ep->up && roce_qp_state_get(ep->qp) == ROCE_QPS_RTS && sim_chance(w, 50)) {
		sim_note(w, "conn %u%s: to SQD", ep->conn->number, ep->name);
		ep->draining = true;
		ep->patient = sim_chance(w, 5000);
		sim_ep_modify(ep, ROCE_QPS_SQD, 0, NULL);
		ep->drained_until_ns = w->now_ns + sim_below(w, 200 * SIM_US);
	} else if (roce_qp_state_get(ep->qp) == ROCE_QPS_SQD && w->now_ns >= ep->drained_until_ns &&
		   !(ep->patient && ep->draining)) {
		if (sim_chance(w, w->profile->changes))
			sim_change_attributes(ep);
		sim_note(w, "conn %u%s: back to RTS", ep->conn->number, ep->name);
		sim_ep_modify(ep, ROCE_QPS_RTS, 0, NULL);
		sim_shard_wake(ep->client->shard, w->now_ns);
	}
}

static bool
work_done(const struct sim_ep *ep)
{
	return ep->posted == ep->quota && sim_ep_idle(ep);
}

/* Both ends have done all their requests, or the plan is to stop before. */
static void
orderly_end(struct sim_conn *c)
{
	struct sim_world *w = c->ep[0].w;
	unsigned posted = c->ep[0].posted + c->ep[1].posted;
	bool all = work_done(&c->ep[0]) && work_done(&c->ep[1]);

	if (c->state != SIM_CONN_UP || (!all && (c->abrupt_at == 0 || posted < c->abrupt_at)))
		return;
	if (c->insider != NULL && c->insider->patience > 0)
		return;
	if (!all && !sim_chance(w, 2000)) /* not always at once */
		return;
	disconnect(&c->ep[sim_below(w, 2)]);
	if (sim_chance(w, 1000 + w->profile->together)) { /* both at the same time */
		disconnect(&c->ep[0]);
		disconnect(&c->ep[1]);
	}
}

/* An error is answered by the end of the connection, as a control thread does it. */
static void
error_end(struct sim_ep *ep)
{
	if (ep->breached && !ep->gone) /* the session ends */
		sim_ep_vanish(ep);
	if (ep->close_ns != 0 && ep->w->now_ns >= ep->close_ns)
		disconnect(ep);
	/* A peer that vanished, with its DREQ lost: only own requests would show it. */
	if (ep->peer->vanished && ep->up && work_done(ep) && ep->close_ns == 0)
		ep->close_ns =
			ep->w->now_ns + 1 + (ep->w->deaths > 0 ? sim_below(ep->w, 2 * SIM_S) : 0);
}

/* Everything came back: the queue pair can go. */
static void
clear(struct sim_ep *ep)
{
	struct sim_host *h = ep->client->shard->host;

	if (ep->gone || !ep->cm_over || ep->conn->state != SIM_CONN_CLOSING)
		return;
	if (ep->qp != NULL) {
		sim_client_drain(ep->client);
		if (!sim_recvs_done(ep) || !sim_ep_idle(ep))
			return;
		if (ep->own_cq.cq != NULL) { /* the entries that fitted in are good */
			check_fate(ep);
			sim_cq_drain(ep->client, &ep->own_cq);
			sim_model_ep_vanish(ep);
		} else {
			sim_model_ep_end(ep);
		}
	}
	if (ep->cm != NULL)
		roce_cm_destroy(h->cm, ep->w->now_ns, ep->cm);
	sim_ep_destroy(ep);
	sim_progress(ep->w);
}

uint64_t
sim_conn_step(struct sim_conn *c)
{
	struct sim_world *w = c->ep[0].w;
	uint64_t insider_ns;

	if (c->state == SIM_CONN_OVER)
		return SIM_NEVER;
	if (c->state == SIM_CONN_WAIT) {
		if (w->now_ns < c->start_ns)
			return c->start_ns;
		if (!sim_death_host_is_up(&c->ep[0].client) ||
			!sim_death_host_is_up(&c->ep[1].client))
			return w->now_ns + SIM_MS;
		sim_conn_start(c);
	}
	sim_actor_set(w, SIM_ACTOR_CONN(c->number));
	sim_conn_answer(c);
	sim_conn_complete(c);
	poison(c);
	sim_loss_step(c);
	death(c);
	for (unsigned i = 0; i < 2; i++) {
		sim_actor_set(w, sim_ep_actor(&c->ep[i]));
		drain(&c->ep[i]);
	}
	sim_actor_set(w, SIM_ACTOR_CONN(c->number));
	insider_ns = sim_insider_step(c);
	orderly_end(c);
	for (unsigned i = 0; i < 2; i++) {
		sim_actor_set(w, sim_ep_actor(&c->ep[i]));
		error_end(&c->ep[i]);
	}
	/* A passive end that never heard of the connection has nothing to clear. */
	if (c->state == SIM_CONN_CLOSING && c->ep[1].cm == NULL)
		c->ep[1].gone = true;
	for (unsigned i = 0; i < 2; i++) {
		sim_actor_set(w, sim_ep_actor(&c->ep[i]));
		clear(&c->ep[i]);
	}
	sim_actor_set(w, SIM_ACTOR_WORLD);
	if (c->ep[0].gone && c->ep[1].gone) {
		sim_model_conn_end(c);
		sim_insider_over(c);
		c->state = SIM_CONN_OVER;
		return SIM_NEVER;
	}
	/* The longer nothing happened, the less often: an MRA may ask for a minute (W-CM-50). */
	return sim_earlier(insider_ns, w->now_ns + 5 * SIM_US + (w->now_ns - w->progress_ns) / 16);
}
