/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a queue pair of datagrams: beginning, changes of key, a send side that stops and goes
 * on, an end of each kind. Part of the seeds have some beside their connections.
 */
#include "sim.h"

#define SLOT_BYTES (NDSH_GRH_BYTES + SIM_MTU_MAX + 256u)
#define LIFE_NS	   (20 * SIM_MS)

static const uint8_t keys[] = {1, 2, 3}; /* few: a wrong one may be that of another queue */

static uint32_t
new_key(struct sim_world *w)
{
	return sim_chance(w, 5000) ? keys[sim_below(w, sizeof(keys))]
				   : (uint32_t)sim_rand(w) & ~ROCE_QKEY_PRIVILEGED;
}

static void
plan(struct sim_world *w, struct sim_ud *u)
{
	const struct sim_profile *p = w->profile;
	struct sim_host *h;

	u->w = w;
	u->number = (unsigned)(u - w->uds);
	sim_actor_set(w, SIM_ACTOR_UD(u->number));
	h = &w->hosts[sim_below(w, w->n_hosts)];
	u->client = &h->shard[sim_below(w, h->n_shards)].client;
	u->v6 = sim_chance(w, 4000);
	u->shares = sim_chance(w, w->sharing / 2);
	u->quota = (unsigned)sim_below(w, SIM_UD_SENDS + 1);
	u->q_key = new_key(w);
	u->start_ns = sim_below(w, p->deaths > 0 && sim_chance(w, 5000) ? SIM_S : 2 * SIM_MS);
	u->end_ns = u->start_ns + sim_below(w, LIFE_NS);
	u->dims = (struct ndsh_qp_dims){.sq_depth = 1u << sim_below(w, 6),
		.rq_depth = 1u << sim_below(w, 6),
		.sq_sge = 1 + (uint32_t)sim_below(w, 8),
		.rq_sge = 1 + (uint32_t)sim_below(w, 8),
		.inline_bytes = sim_chance(w, 5000) ? (uint32_t)sim_below(w, 257) : 0};
	u->abrupt_at = sim_chance(w, p->abrupt) ? (unsigned)sim_below(w, u->quota + 1) : u->quota;
	u->breach = u->quota > 0 && sim_chance(w, p->poison / 20);
}

void
sim_ud_plan(struct sim_world *w)
{
	if (!sim_chance(w, 5000))
		return;
	w->n_uds = 2 + (unsigned)sim_below(w, SIM_UDS_MAX - 1);
	w->uds = sim_alloc(w, w->n_uds * sizeof(*w->uds));
	w->dgrams = sim_alloc(w, SIM_DGRAMS * sizeof(*w->dgrams));
	w->strangers = (unsigned)sim_below(w, SIM_STRANGERS + 1);
	for (unsigned i = 0; i < w->n_uds; i++)
		plan(w, &w->uds[i]);
	sim_actor_set(w, SIM_ACTOR_WORLD);
}

bool
sim_ud_breach_planned(const struct sim_world *w)
{
	for (unsigned i = 0; i < w->n_uds; i++)
		if (w->uds[i].breach)
			return true;
	return false;
}

struct sim_ud *
sim_ud_of(struct sim_world *w, const void *owner)
{
	const struct sim_ud *u = owner;

	if (w->n_uds == 0) /* then there is no array */
		return NULL;
	return u >= w->uds && u < w->uds + w->n_uds ? &w->uds[u - w->uds] : NULL;
}

/* ---- beginning ----------------------------------------------------------------------------- */

static void
make_memory(struct sim_ud *u)
{
	struct sim_client *cl = u->client;

	u->sends = sim_alloc(u->w, SIM_UD_SENDS * sizeof(*u->sends));
	u->arrivals = sim_alloc(u->w, SIM_UD_RECVS * sizeof(*u->arrivals));
	sim_arena_init(cl, &u->source, SLOT_BYTES, 0, "ud %u: source", u->number);
	if (u->srq != NULL)
		return;
	u->recvs = sim_alloc(u->w, SIM_UD_RECVS * sizeof(*u->recvs));
	sim_arena_init(
		cl, &u->inbox, SLOT_BYTES, NDSH_ACCESS_LOCAL_WRITE, "ud %u: inbox", u->number);
}

static void
make_qp(struct sim_ud *u)
{
	struct sim_client *cl = u->client;
	struct roce_qp_cfg cfg = {.pd = cl->pd, .dims = u->dims, .owner = u};
	struct ndsh_qp_layout layout;

	sim_check(u->w, ndsh_qp_layout(&u->dims, &layout), "ndsh_qp_layout()");
	u->send_cq = &cl->cqs[sim_below(u->w, SIM_CQS)];
	u->recv_cq = &cl->cqs[sim_below(u->w, SIM_CQS)];
	u->srq = u->shares ? &cl->srq : NULL;
	u->index = cfg.handle = SIM_UD_HANDLES + cl->n_uds;
	cl->uds[cl->n_uds++] = u;
	cfg.shared = u->page = sim_alloc(u->w, layout.total_bytes);
	cfg.send_cq = u->send_cq->cq;
	cfg.recv_cq = u->recv_cq->cq;
	cfg.srq = u->srq != NULL ? u->srq->srq : NULL;
	u->qp = roce_qp_create(cl->shard->s, &cfg);
	sim_check(u->w, u->qp != NULL, "roce_qp_create()");
	u->qpn = roce_qp_num(u->qp);
	u->psn = UINT32_MAX;
	ndsh_sq_view(&u->sq, u->page, &u->dims);
	ndsh_rq_view(&u->rq, u->page, &u->dims);
}

/* checks W-PKT-13[5]: no client gets a privileged key. */
static void
start(struct sim_ud *u)
{
	struct sim_client *cl = u->client;
	struct sim_world *w = u->w;
	struct roce_ud_cfg cfg = {.q_key = u->q_key | ROCE_QKEY_PRIVILEGED,
		.gid = *sim_gid(cl->shard->host, u->v6),
		.ahs = &cl->ahs.table};

	make_qp(u);
	make_memory(u);
	sim_check(w, !roce_ud_start(cl->shard->s, u->qp, w->now_ns, &cfg),
		"ud %u has a privileged key", u->number);
	cfg.q_key = u->q_key;
	sim_check(w, roce_ud_start(cl->shard->s, u->qp, w->now_ns, &cfg), "roce_ud_start()");
	sim_note(w, "ud %u: host %u.%u, %s, qpn %06x, key %x, %u to send", u->number,
		cl->shard->host->number, cl->shard->number, u->v6 ? "IPv6" : "IPv4", u->qpn,
		u->q_key, u->quota);
	u->state = SIM_UD_UP;
	sim_shard_wake(cl->shard, w->now_ns);
	if (cl->next_ns > w->now_ns + SIM_US)
		cl->next_ns = w->now_ns + SIM_US;
}

/* ---- end ----------------------------------------------------------------------------------- */

static void
destroy(struct sim_ud *u)
{
	sim_note(u->w, "ud %u: destroyed", u->number);
	roce_qp_destroy(u->client->shard->s, u->qp);
	sim_arena_check(u->w, &u->source);
	sim_arena_check(u->w, &u->inbox);
	sim_arena_deregister(u->client, &u->source);
	sim_arena_deregister(u->client, &u->inbox);
	u->state = SIM_UD_OVER;
	sim_progress(u->w);
}

/* With all that was posted, and without a word. */
static void
vanish(struct sim_ud *u)
{
	sim_ud_vanish(u);
	destroy(u);
}

/* To ERR, and nowhere from there. checks W-QP-02[1] */
static void
to_error(struct sim_ud *u)
{
	struct roce_shard *s = u->client->shard->s;

	sim_note(u->w, "ud %u: to ERR", u->number);
	u->flushing = true;
	u->state = SIM_UD_ENDING;
	sim_check(u->w,
		roce_qp_modify(s, u->qp, u->w->now_ns, ROCE_QPS_ERR, 0, NULL) == ROCE_MODIFY_OK,
		"ud %u: modify to ERR", u->number);
	sim_shard_wake(u->client->shard, u->w->now_ns);
}

static void
finish(struct sim_ud *u)
{
	sim_client_drain(u->client);
	if (u->breached) {
		vanish(u);
	} else if (sim_ud_idle(u) && sim_ud_recvs_done(u)) {
		sim_ud_end(u);
		destroy(u);
	}
}

void
sim_ud_host_died(struct sim_host *h)
{
	struct sim_world *w = h->w;

	for (unsigned i = 0; i < w->n_uds; i++)
		if (w->uds[i].client->shard->host == h && w->uds[i].state != SIM_UD_WAIT)
			w->uds[i].state = SIM_UD_OVER;
}

/* ---- in between ---------------------------------------------------------------------------- */

void
sim_ud_event(struct sim_ud *u, const struct roce_event *ev)
{
	sim_note(u->w, "ud %u: event %u, %s", u->number, ev->type,
		roce_reason_name((enum roce_reason)ev->reason));
	switch (ev->type) {
	case ROCE_EV_LAST_WQE:
		sim_check(u->w, u->srq != NULL, "ud %u: last receive of its own", u->number);
		sim_srq_last_wqe(u->w, &u->taker, u->page);
		break;
	case ROCE_EV_CLIENT_BREACH:
		sim_check(u->w, u->breach && u->posted == u->quota, "ud %u: breach", u->number);
		u->breached = true;
		u->state = SIM_UD_ENDING;
		break;
	case ROCE_EV_QP_ERROR:
		sim_check(u->w, u->flushing || (u->breach && u->posted == u->quota),
			"ud %u: error without a reason", u->number);
		u->errored = u->flushing = true;
		u->state = SIM_UD_ENDING;
		break;
	default:
		sim_fail(u->w, "ud %u: event %u", u->number, ev->type);
	}
}

/* checks W-ERR-02[1,3]: all that was posted is flushed, then it goes on. */
static void
modify(struct sim_ud *u)
{
	bool stopped = roce_qp_state_get(u->qp) == ROCE_QPS_UD_SQE;

	u->q_key = new_key(u->w);
	sim_note(u->w, "ud %u: key %x%s", u->number, u->q_key, stopped ? ", goes on" : "");
	sim_check(u->w,
		roce_ud_modify(u->client->shard->s, u->qp, u->w->now_ns, u->q_key) ==
			ROCE_UD_MODIFIED,
		"roce_ud_modify()");
	if (stopped)
		sim_ud_restarted(u);
	sim_shard_wake(u->client->shard, u->w->now_ns);
}

/* Packets for connections, or for no queue pair, are refused and change nothing. */
static void
try_refused(struct sim_ud *u)
{
	struct roce_shard *s = u->client->shard->s;
	enum roce_qp_state to = (enum roce_qp_state)sim_below(u->w, ROCE_QPS_ERR);
	const struct roce_qp_attr attr = {0};

	sim_check(u->w,
		roce_qp_modify(s, u->qp, u->w->now_ns, to, 0, &attr) == ROCE_MODIFY_BAD_TRANSITION,
		"ud %u: modify to %u", u->number, to);
	sim_check(u->w,
		roce_ud_modify(s, u->qp, u->w->now_ns, ROCE_QKEY_PRIVILEGED | u->q_key) ==
			ROCE_UD_REFUSED,
		"ud %u gets a privileged key", u->number);
}

static void
live(struct sim_ud *u)
{
	struct sim_world *w = u->w;
	bool done = u->posted == u->quota && sim_ud_idle(u) && w->now_ns >= u->end_ns;

	sim_ah_step(u->client);
	sim_group_step(u);
	if (sim_chance(w, u->failed ? 2000 : 30))
		modify(u);
	if (sim_chance(w, 50))
		try_refused(u);
	if (!done && !(u->abrupt_at < u->quota && u->posted >= u->abrupt_at))
		return;
	if (sim_chance(w, 8000)) /* not always at once */
		return;
	if (sim_chance(w, 5000))
		vanish(u);
	else
		to_error(u);
}

static uint64_t
step(struct sim_ud *u)
{
	struct sim_world *w = u->w;

	if (u->state == SIM_UD_WAIT) {
		if (w->now_ns < u->start_ns)
			return u->start_ns;
		if (!sim_death_host_is_up(&u->client))
			return w->now_ns + SIM_MS;
		start(u);
	}
	if (u->state == SIM_UD_UP)
		live(u);
	if (u->state == SIM_UD_ENDING)
		finish(u);
	if (u->state == SIM_UD_OVER)
		return SIM_NEVER;
	return w->now_ns + 5 * SIM_US + (w->now_ns - w->progress_ns) / 16;
}

uint64_t
sim_ud_step(struct sim_ud *u)
{
	uint32_t was = sim_actor_set(u->w, SIM_ACTOR_UD(u->number));
	uint64_t next = step(u);

	sim_actor_set(u->w, was);
	return next;
}
