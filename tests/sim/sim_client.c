/* SPDX-License-Identifier: BSD-3-Clause */
/* An application: it takes completions, by polling or by wake-ups, and posts requests. */
#include "sim.h"
#include "sim_kind.h"

#define STARVE_MAX (40 * SIM_S)
#define CQ_DEPTH   8192u /* no client of the simulator may overrun it */

void
sim_cq_init(struct sim_client *c, struct sim_cq *cq, uint32_t depth)
{
	void *base = sim_alloc(c->w, ndsh_cq_bytes(depth));

	cq->client = c;
	cq->cq = roce_cq_create(c->shard->s, &c->engine, base, depth, cq);
	sim_check(c->w, cq->cq != NULL, "roce_cq_create()");
	ndsh_cq_reader_view(&cq->reader, base, depth);
}

void
sim_client_init(struct sim_world *w, struct sim_shard *shard)
{
	struct sim_client *c = &shard->client;

	c->w = w;
	c->shard = shard;
	sim_client_principal_init(c);
	c->session = sim_alloc(w, sizeof(*c->session));
	c->pd = roce_pd_create(shard->s);
	sim_check(w, c->pd != 0, "roce_pd_create()");
	for (unsigned i = 0; i < SIM_CQS; i++) {
		sim_cq_init(c, &c->cqs[i], CQ_DEPTH);
		c->cqs[i].events = sim_chance(w, 5000);
	}
	sim_mover_init(c);
	sim_srq_init(c);
	sim_ahs_init(c);
	c->next_ns = SIM_NEVER;
}

void
sim_client_ring(struct sim_client *c, struct ndsh_qp_page *page, uint32_t index)
{
	if (ndsh_doorbell_ring(c->session, page, index))
		sim_shard_wake(c->shard, c->w->now_ns + 100);
}

/* The host says that this queue fired. */
void
sim_client_wake(struct sim_cq *cq)
{
	struct sim_client *c = cq->client;
	struct sim_world *w = c->w;

	sim_check(w, cq->armed != NDSH_ARM_NONE, "wake-up of a queue that was not armed");
	sim_note(w, "wake-up");
	cq->armed = NDSH_ARM_NONE;
	cq->waiting = false;
	if (c->next_ns > w->now_ns + 200)
		c->next_ns = w->now_ns + 200;
}

static unsigned
take(struct sim_client *c, struct sim_cq *cq, unsigned most)
{
	struct ndsh_cqe cqe[16];
	unsigned total = 0, n;

	do {
		n = ndsh_cq_poll(&cq->reader, cqe, 1 + (unsigned)sim_below(c->w, 16));
		if (n > 0) /* what they report is in its place then */
			sim_mover_finish(c);
		for (unsigned i = 0; i < n; i++) {
			sim_loss_correct(c, &cqe[i]);
			sim_model_completion(c, cq, &cqe[i]);
		}
		total += n;
	} while (n > 0 && total < most);
	return total;
}

void
sim_cq_drain(struct sim_client *c, struct sim_cq *cq)
{
	take(c, cq, UINT32_MAX);
}

void
sim_client_drain(struct sim_client *c)
{
	for (unsigned i = 0; i < SIM_CQS; i++)
		take(c, &c->cqs[i], UINT32_MAX);
}

/* Poll until empty, arm, and poll again if that was satisfied at once. */
static void
wait_for_events(struct sim_client *c, struct sim_cq *cq)
{
	enum ndsh_arm type = sim_chance(c->w, 2000) ? NDSH_ARM_SOLICITED : NDSH_ARM_ANY;
	enum ndsh_arm before;

	if (cq->waiting)
		return;
	do {
		take(c, cq, UINT32_MAX);
		if (sim_chance(c->w, 500) && ndsh_cq_disarm(&cq->reader))
			cq->armed = NDSH_ARM_NONE;
		switch (ndsh_cq_arm(&cq->reader, type, &before)) {
		case NDSH_ARM_FIRED:
			cq->armed = NDSH_ARM_NONE;
			break;
		case NDSH_ARMED:
			if (cq->armed < type)
				cq->armed = type;
			cq->waiting = true;
			break;
		case NDSH_ARM_FAULT:
			sim_fail(c->w, "queue is dead: fault %u", cq->reader.page->fault);
		}
	} while (!cq->waiting);
}

static unsigned
poll_cqs(struct sim_client *c)
{
	uint64_t before = c->w->completions;

	for (unsigned i = 0; i < SIM_CQS; i++) {
		struct sim_cq *cq = &c->cqs[i];

		sim_resize_step(c, cq);
		if (!cq->events)
			take(c, cq, 1 + (unsigned)sim_below(c->w, 64));
		else if (!cq->waiting)
			wait_for_events(c, cq);
		else if (cq->armed != NDSH_ARM_ANY) /* others complete without a wake-up */
			take(c, cq, 16);
	}
	return (unsigned)(c->w->completions - before);
}

static bool
wants_receives(struct sim_ep *ep)
{
	const struct sim_conn *c = ep->conn;

	return ep->srq == NULL && !ep->recv_stopped && !ep->recv_failed &&
	       c->state <= SIM_CONN_UP && ep->recv_posted < SIM_RECVS_MAX &&
	       ep->w->now_ns >= ep->starve_ns;
}

/* Once in its life the application forgets its receives, its own or the shared ones, for so long
 * that requests of the peer are refused hundreds of times (R-SR-06). */
static void
starve(struct sim_ep *ep)
{
	struct sim_world *w = ep->w;
	uint64_t *until = ep->srq != NULL ? &ep->srq->starve_ns : &ep->starve_ns;

	if (w->profile->starve == 0 || ep->starved || !ep->up || ep->peer->posted == 0)
		return;
	ep->starved = true;
	if (!sim_chance(w, w->profile->starve))
		return;
	*until = w->now_ns + sim_below(w, STARVE_MAX);
	sim_note(w, "conn %u%s: no receives for %lu ms", ep->conn->number, ep->name,
		(unsigned long)((*until - w->now_ns) / SIM_MS));
	if (*until - w->now_ns > 5 * SIM_S)
		sim_kind(SIM_KIND_long_starvation);
}

/* Post a random number of requests; returns whether this end may want to post more soon. */
static bool
act(struct sim_ep *ep, unsigned *done)
{
	struct sim_world *w = ep->w;
	unsigned sends = (1 + (unsigned)sim_below(w, 4)) % 4, posted = 0;
	bool rang = false;

	if (ep->gone)
		return false;
	starve(ep);
	if (wants_receives(ep) && !sim_chance(w, w->profile->lazy_recv))
		while (sim_recv_post(ep))
			posted++;
	if (!ep->up || ep->flushing || ep->errored)
		sends = 0;
	for (; sends > 0 && ep->posted < ep->quota && sim_op_post(ep); sends--)
		rang = true;
	*done += posted + rang;
	/* As roce_qp_doorbell() asks for: what is posted to a dead queue pair needs a doorbell. */
	ndsh_full_barrier();
	if (rang || (posted > 0 && __atomic_load_n(&ep->page->dead, __ATOMIC_ACQUIRE)))
		sim_client_ring(ep->client, ep->page, ep->index);
	return true;
}

/* The longer nothing happens, the less often it polls: waits may be long. */
void
sim_client_run(struct sim_client *c)
{
	struct sim_world *w = c->w;
	unsigned done = poll_cqs(c) + sim_srq_run(&c->srq);
	uint32_t was = w->draws.actor;
	bool more = false;

	sim_exhaust(c);

	for (unsigned i = 0; i < c->n_eps; i++) {
		sim_actor_set(w, sim_ep_actor(c->eps[i]));
		more |= act(c->eps[i], &done);
	}
	for (unsigned i = 0; i < c->n_uds; i++) {
		sim_actor_set(w, SIM_ACTOR_UD(c->uds[i]->number));
		more |= sim_ud_act(c->uds[i], &done);
	}
	sim_actor_set(w, was);
	c->patience = done > 0 ? 0 : c->patience < 8 ? c->patience + 1 : 8;
	c->next_ns = SIM_NEVER;
	if (more)
		c->next_ns = w->now_ns + SIM_US + (sim_below(w, 20 * SIM_US) << c->patience);
}
