/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Applications that look up a queue pair's number and key by SIDR before they send to it. Each
 * query ends with a reply that was given, or without one; an application that uses the reply for
 * too long does so at its own risk. What happens to the messages is planned in sim_cm.c.
 */
#include <string.h>

#include "sim.h"

#define PRIV	   UINT32_C(0x5eed0000) /* | the query's number; its complement is the reply's */
#define THINK_NS   (300 * SIM_MS)
#define LOCAL_PORT 50000u
#define KEPT_NS	   (9 * SIM_S) /* for at least so long a reply is kept for a repeated request */

static void
plan(struct sim_world *w, struct sim_ask *a)
{
	a->number = (unsigned)(a - w->asks);
	sim_actor_set(w, SIM_ACTOR_ASK(a->number));
	a->by = &w->uds[sim_below(w, w->n_uds)];
	a->about = &w->uds[sim_below(w, w->n_uds)];
	a->nobody = sim_chance(w, 500);
	a->never = sim_chance(w, 300);
	a->start_ns = a->by->start_ns + sim_below(w, 2 * SIM_MS);
	a->give_up_ns = SIM_NEVER;
	if (sim_chance(w, 1000))
		a->give_up_ns = a->start_ns + sim_below(w, THINK_NS);
}

void
sim_sidr_plan(struct sim_world *w)
{
	if (w->n_uds == 0 || w->profile->narrow > 0) /* they count in the CM's table */
		return;
	w->n_asks = (unsigned)sim_below(w, SIM_ASKS_MAX + 1);
	w->asks = sim_alloc(w, SIM_ASKS_MAX * sizeof(*w->asks));
	for (unsigned i = 0; i < w->n_asks; i++)
		plan(w, &w->asks[i]);
	sim_actor_set(w, SIM_ACTOR_WORLD);
}

/* A request that the application never answers is left to the CM. */
static bool
is_over(const struct sim_ask *a)
{
	return a->over && a->cm == NULL && (a->question == NULL || a->never);
}

bool
sim_sidr_all_over(const struct sim_world *w)
{
	for (unsigned i = 0; i < w->n_asks; i++)
		if (!is_over(&w->asks[i]))
			return false;
	return true;
}

bool
sim_sidr_heard(const struct sim_ud *u, struct sim_target *t)
{
	struct sim_world *w = u->w;
	const struct sim_ask *a;

	if (w->n_asks == 0 || !sim_chance(w, 5000))
		return false;
	a = &w->asks[sim_below(w, w->n_asks)];
	if (a->by != u || !a->heard)
		return false;
	*t = (struct sim_target){
		.qpn = a->qpn, .q_key = a->q_key, .address = a->address, .v6 = a->v6};
	return true;
}

/* ---- active side --------------------------------------------------------------------------- */

static void
ask(struct sim_world *w, struct sim_ask *a)
{
	struct sim_host *h = a->by->client->shard->host;
	const struct sim_host *to = a->about->client->shard->host;
	const uint32_t priv = PRIV | a->number;
	const struct roce_cm_sidr_query l = {
		.local = {*sim_gid(h, a->about->v6), (uint16_t)(LOCAL_PORT + a->number)},
		.remote = {*sim_gid(to, a->about->v6), SIM_UD_PORT + a->nobody},
		.port = h->number,
		.priv = &priv,
		.priv_bytes = sizeof(priv),
		.owner = a,
	};

	a->start_ns = SIM_NEVER;
	if (h->dead) {
		a->over = true;
		return;
	}
	sim_note(w, "ask %u: host %u asks for ud %u", a->number, h->number, a->about->number);
	a->host = h;
	a->address = to->address;
	a->v6 = a->about->v6;
	a->cm = roce_cm_sidr_query(h->cm, w->now_ns, &l);
	sim_check(w, a->cm != NULL, "roce_cm_sidr_query()");
	sim_host_wake(h, w->now_ns);
}

/* The handle of a request that is over, or that is not waited for any more. */
static void
forget(struct sim_world *w, struct sim_ask *a)
{
	roce_cm_destroy(a->host->cm, w->now_ns, a->cm);
	sim_host_wake(a->host, w->now_ns);
	a->cm = NULL;
	a->over = true;
}

static bool
was_given(const struct sim_ask *a, const struct roce_cm_event *ev)
{
	for (unsigned i = 0; i < a->n_given; i++) {
		const struct roce_cm_sidr_reply *g = &a->given[i];

		if (ev->reason == g->status &&
			(g->status != ROCE_CM_SIDR_SUCCESS ||
				(ev->peer.qpn == g->qpn && ev->q_key == g->q_key)))
			return true;
	}
	return false;
}

static void
on_answer(struct sim_host *h, struct sim_ask *a, const struct roce_cm_event *ev)
{
	struct sim_world *w = h->w;
	uint32_t priv;

	sim_check(w, !a->over && a->host == h && a->cm == ev->conn, "ask %u: answered twice",
		a->number);
	a->over = true;
	if (ev->timed_out) {
		sim_check(w, a->never || w->dying > 0 || w->profile->cm > 0,
			"ask %u: no answer came", a->number);
		return;
	}
	sim_check(w, was_given(a, ev) || (a->nobody && ev->reason == ROCE_CM_SIDR_UNSUPPORTED),
		"ask %u: answer %u, qpn %06x, key %x, which nobody gave", a->number, ev->reason,
		ev->peer.qpn, ev->q_key);
	if (ev->reason != ROCE_CM_SIDR_SUCCESS)
		return;
	memcpy(&priv, ev->priv, sizeof(priv));
	sim_check(w, priv == ~(PRIV | a->number), "ask %u: another one's answer", a->number);
	a->heard = true;
	a->qpn = ev->peer.qpn;
	a->q_key = ev->q_key;
}

/* ---- passive side -------------------------------------------------------------------------- */

static void
answer(struct sim_world *w, struct sim_ask *a)
{
	const uint32_t priv = ~(PRIV | a->number);
	const struct sim_ud *u = a->about;
	struct roce_cm_sidr_reply g = {
		.status = ROCE_CM_SIDR_REJECT, .priv = &priv, .priv_bytes = sizeof(priv)};

	if (u->state == SIM_UD_UP && u->client->shard->host == a->asked && !sim_chance(w, 500)) {
		g.status = ROCE_CM_SIDR_SUCCESS;
		g.qpn = u->qpn;
		g.q_key = u->q_key;
	} else if (sim_chance(w, 5000)) {
		g.status = ROCE_CM_SIDR_NO_QP;
	}
	sim_check(w, a->n_given < SIM_GIVEN_MAX, "ask %u: asked too often", a->number);
	a->given[a->n_given++] = g;
	a->given_ns = w->now_ns;
	if (g.status == ROCE_CM_SIDR_REJECT && sim_chance(w, 5000))
		roce_cm_destroy(a->asked->cm, w->now_ns, a->question); /* rejects it */
	else
		sim_check(w, roce_cm_sidr_reply(a->asked->cm, w->now_ns, a->question, &g),
			"roce_cm_sidr_reply()");
	sim_host_wake(a->asked, w->now_ns);
	a->question = NULL;
	a->answer_ns = SIM_NEVER;
}

static void
on_question(struct sim_host *h, const struct roce_cm_event *ev)
{
	struct sim_world *w = h->w;
	struct sim_ask *a;
	uint32_t priv;

	memcpy(&priv, ev->priv, sizeof(priv));
	sim_check(w, ev->owner == h && priv - PRIV < w->n_asks, "question of nobody");
	a = &w->asks[priv - PRIV];
	sim_check(w,
		a->question == NULL &&
			(a->asked != h || a->n_given == 0 || w->now_ns - a->given_ns > KEPT_NS),
		"ask %u: asked again, though it waits or was answered", a->number);
	a->asked = h;
	a->question = ev->conn;
	roce_cm_set_owner(ev->conn, a);
	a->answer_ns = a->never ? SIM_NEVER : w->now_ns;
	if (sim_chance(w, 3000) && !a->never && !a->over)
		a->answer_ns += sim_below(w, THINK_NS);
	else if (!a->never)
		answer(w, a);
}

/* The peer has not repeated its request for so long that it must have given up. */
static void
on_gone(struct sim_host *h, struct sim_ask *a, const struct roce_cm_event *ev)
{
	sim_check(h->w, a->question == ev->conn && a->asked == h && a->never,
		"ask %u: gone, while its answer is awaited", a->number);
	roce_cm_destroy(h->cm, h->w->now_ns, ev->conn);
	a->question = NULL;
}

void
sim_sidr_event(struct sim_host *h, const struct roce_cm_event *ev)
{
	sim_progress(h->w);
	if (ev->type == ROCE_CM_EV_SIDR_REQUEST)
		on_question(h, ev);
	else if (ev->type == ROCE_CM_EV_SIDR_REPLY)
		on_answer(h, ev->owner, ev);
	else
		on_gone(h, ev->owner, ev);
}

void
sim_sidr_host_died(struct sim_host *h)
{
	for (unsigned i = 0; i < h->w->n_asks; i++) {
		struct sim_ask *a = &h->w->asks[i];

		if (a->asked == h) {
			a->question = NULL;
			a->answer_ns = SIM_NEVER;
		}
		if (a->host == h) {
			a->cm = NULL;
			a->over = true;
		}
	}
}

static uint64_t
step(struct sim_world *w, struct sim_ask *a)
{
	if (w->now_ns >= a->start_ns)
		ask(w, a);
	if (a->cm != NULL && (a->over || w->now_ns >= a->give_up_ns))
		forget(w, a);
	if (a->question != NULL && w->now_ns >= a->answer_ns)
		answer(w, a);
	if (a->start_ns != SIM_NEVER)
		return a->start_ns;
	/* The longer nothing happened, the less often: retries may take a minute. */
	return is_over(a) ? SIM_NEVER : w->now_ns + SIM_MS + (w->now_ns - w->progress_ns) / 16;
}

uint64_t
sim_sidr_step(struct sim_world *w)
{
	uint64_t next = SIM_NEVER;

	for (unsigned i = 0; i < w->n_asks; i++) {
		sim_actor_set(w, SIM_ACTOR_ASK(i));
		next = sim_earlier(next, step(w, &w->asks[i]));
	}
	sim_actor_set(w, SIM_ACTOR_WORLD);
	return next;
}
