/* SPDX-License-Identifier: BSD-3-Clause */
/* The invariants of a shard, as check.h words them. */
#include "roce/check.h"

#include "base/list.h"
#include "roce/mem/moved.h"
#include "roce/mem/mr.h"
#include "roce/mem/mw.h"
#include "roce/qp/check.h"
#include "roce/qp/qp.h"
#include "roce/queue/check.h"
#include "roce/queue/cq.h"
#include "roce/queue/srq.h"
#include "roce/queue/wqe.h"
#include "roce/responder/response.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"
#include "roce/wakeups.h"

static bool
qp_is_used(const struct roce_qp *qp)
{
	return qp->qpn != 0;
}

/* Does anything lead to sending the response that qp owes? */
static bool
qp_will_respond(const struct roce_qp *qp)
{
	return base_linked(&qp->ack_link) || base_linked(&qp->tx_link) ||
	       (qp->moved != NULL && base_linked(&qp->moved->waiting));
}

const char *
roce_shard_check_qps(const struct roce_shard *s)
{
	for (uint32_t i = 0; i < s->cfg.max_qps; i++) {
		const struct roce_qp *qp = &s->qps[i];
		const char *wrong;

		if (!qp_is_used(qp))
			continue;
		wrong = roce_qp_check(s, qp);
		if (wrong != NULL)
			return wrong;
		if (qp->state >= ROCE_QPS_RTR && qp->state <= ROCE_QPS_ERR &&
			roce_resp_pending(qp) && !qp_will_respond(qp))
			return "a response is owed, and nothing leads to sending it";
	}
	return NULL;
}

/* ---- pools ----------------------------------------------------------------------------------- */

/* Requests that a queue pair has, and how many of them have an extension. */
static uint32_t
qp_count_wqes(const struct roce_shard *s, const struct roce_qp *qp, uint32_t *exts)
{
	uint32_t n = 0;

	for (const struct roce_wqe *w = qp->wq_head; w != NULL && n <= s->cfg.max_wqes;
		w = w->next, n++)
		*exts += w->ext != NULL;
	if (qp->rx_wqe != NULL) {
		*exts += qp->rx_wqe->ext != NULL;
		n++;
	}
	return n;
}

static uint32_t
dropped_count_wqes(const struct roce_shard *s, uint32_t *exts)
{
	uint32_t n = 0;

	for (const struct base_link *l = s->principals.next; l != &s->principals; l = l->next)
		for (const struct roce_wqe *w =
				base_container(l, struct roce_principal, link)->dropped;
			w != NULL && n <= s->cfg.max_wqes; w = w->next, n++)
			*exts += w->ext != NULL;
	return n;
}

static const char *
shard_check_wqes(const struct roce_shard *s)
{
	uint32_t free_wqes = 0, used = 0, exts_used = 0, exts_free = 0;

	for (const struct roce_wqe *w = s->wqe_free; w != NULL && free_wqes <= s->cfg.max_wqes;
		w = w->next)
		free_wqes++;
	for (const union roce_wqe_ext *e = s->ext_free; e != NULL && exts_free <= s->exts_left;
		e = e->next)
		exts_free++;
	for (uint32_t i = 0; i < s->cfg.max_qps; i++)
		if (qp_is_used(&s->qps[i]))
			used += qp_count_wqes(s, &s->qps[i], &exts_used);
	used += dropped_count_wqes(s, &exts_used);
	if (free_wqes + used != s->cfg.max_wqes)
		return "a roce_wqe is lost, or is in two places";
	if (exts_free != s->exts_left)
		return "exts_left is not the number of free extensions";
	if (exts_free + exts_used != roce_pool_exts(&s->cfg))
		return "an extension is lost, or is in two places";
	return NULL;
}

/* ---- shares ---------------------------------------------------------------------------------- */

struct held { /* by the queue pairs of a principal */
	uint32_t n[ROCE_POOLS][ROCE_SIDES];
};

static void
held_add(struct held *h, enum roce_side side, const struct roce_wqe *w)
{
	h->n[ROCE_POOL_WQES][side]++;
	h->n[ROCE_POOL_EXTS][side] += w->ext != NULL;
}

static struct held
principal_holds(const struct roce_shard *s, const struct roce_principal *p)
{
	struct held h = {0};

	for (const struct roce_wqe *w = p->dropped; w != NULL; w = w->next)
		held_add(&h, ROCE_SIDE_SEND, w);

	for (uint32_t i = 0; i < s->cfg.max_qps; i++) {
		const struct roce_qp *qp = &s->qps[i];

		if (!qp_is_used(qp) || roce_cq_principal(qp->send_cq) != p)
			continue;
		for (const struct roce_wqe *w = qp->wq_head; w != NULL; w = w->next)
			held_add(&h, ROCE_SIDE_SEND, w);
		if (qp->rx_wqe != NULL)
			held_add(&h, ROCE_SIDE_RECV, qp->rx_wqe);
	}
	return h;
}

/* What the principal takes of what is for all: what it holds beyond its reserve. */
static uint32_t
share_beyond(const struct roce_share *share)
{
	uint32_t n = 0;

	for (unsigned side = 0; side < ROCE_SIDES; side++)
		if (share->held[side] > share->reserve[side])
			n += share->held[side] - share->reserve[side];
	return n;
}

static const char *
shard_check_pool(const struct roce_shard *s, enum roce_pool_kind kind)
{
	const struct roce_pool *pool = &s->pool[kind];
	uint32_t reserved = 0, beyond = 0, total = 0;

	for (const struct base_link *l = s->principals.next; l != &s->principals; l = l->next) {
		const struct roce_principal *p = base_container(l, struct roce_principal, link);
		const struct roce_share *share = &p->share[kind];
		struct held held = principal_holds(s, p);

		for (unsigned side = 0; side < ROCE_SIDES; side++) {
			if (share->held[side] != held.n[kind][side] + share->spare[side])
				return "a principal's share is not what its queue pairs hold";
			reserved += share->reserve[side];
			total += share->held[side];
		}
		beyond += share_beyond(share);
	}
	if (total != pool->held || total > pool->total)
		return "what is held of a pool is not the sum of the shares";
	if (reserved != pool->reserved || reserved > pool->total)
		return "what is reserved of a pool is not the sum of the reserves";
	if (pool->shared != (int32_t)(pool->total - reserved - beyond))
		return "what is left of a pool for all is not what nobody reserved or holds";
	return NULL;
}

static const char *
shard_check_shares(const struct roce_shard *s)
{
	const char *wrong = shard_check_pool(s, ROCE_POOL_WQES);

	return wrong != NULL ? wrong : shard_check_pool(s, ROCE_POOL_EXTS);
}

/* ---- turns ----------------------------------------------------------------------------------- */

static bool
client_has_its_turn(const struct roce_client *c)
{
	bool waits = !base_list_empty(&c->senders) || !roce_doorbells_empty(&c->doorbells);

	return !waits || (base_linked(&c->turn.link) && base_linked(&c->principal->turn.link));
}

static bool
client_stands_in_lines(const struct roce_client *c)
{
	for (unsigned i = 0; i < ROCE_LINES; i++)
		if (!base_list_empty(&c->line[i].items) &&
			!(base_linked(&c->line[i].link) &&
				base_linked(&c->principal->line[i].link)))
			return false;
	return true;
}

static const char *
shard_check_turns(const struct roce_shard *s)
{
	for (uint32_t i = 0; i < s->cfg.max_cqs; i++) {
		const struct roce_client *c = s->cqs[i].client;

		if (!s->cqs[i].used)
			continue;
		if (!client_has_its_turn(c))
			return "a client has something to send, and has no turn";
		if (!client_stands_in_lines(c))
			return "work of a client waits, and the client stands in no line";
		if (!base_list_empty(&c->rings) && !base_linked(&c->polled))
			return "send rings of a client are to be polled, and nobody knows";
	}
	return NULL;
}

/* ---- what is under way ----------------------------------------------------------------------- */

static const char *
principal_check_flight(const struct roce_shard *s, const struct roce_principal *p)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < s->cfg.max_qps; i++)
		if (qp_is_used(&s->qps[i]) && roce_cq_principal(s->qps[i].send_cq) == p)
			sum += s->qps[i].flight;
	if (sum != p->flight)
		return "what a principal has under way is not the sum of its queue pairs";
	if (!base_list_empty(&p->held) && !base_linked(&p->holding))
		return "queue pairs are held back, and nobody knows";
	return NULL;
}

static const char *
shard_check_flight(const struct roce_shard *s)
{
	uint32_t busy = 0;

	for (const struct base_link *l = s->principals.next; l != &s->principals; l = l->next) {
		const struct roce_principal *p = base_container(l, struct roce_principal, link);
		const char *wrong = principal_check_flight(s, p);

		if (wrong != NULL)
			return wrong;
		busy += base_linked(&p->busy);
	}
	if (busy != s->busy_count)
		return "busy_count is not the number of busy principals";
	if (!s->is_shared && (busy > 1 || !base_list_empty(&s->holding)))
		return "several principals are busy, and nothing is shared";
	return NULL;
}

/* A principal without a wake-up left rests; one of the others may. */
static const char *
shard_check_wakeups(const struct roce_shard *s)
{
	const struct base_link *all = &s->line[ROCE_LINE_FIRED];

	for (const struct base_link *l = all->next; l != all; l = l->next)
		if (!roce_wakeups_left(
			    &base_container(l, struct roce_principal, line[ROCE_LINE_FIRED].link)
				     ->wakeups,
			    s->now_ns))
			return "a principal has no wake-up left, and does not rest";
	return NULL;
}

/* ---- tables ---------------------------------------------------------------------------------- */

struct tally {
	uint32_t qps, timers, waiting, mrs, mws, cqs, srqs, pds, pd_users;
	uint32_t bound, counted; /* windows: by themselves, by their regions */
};

static struct tally
shard_tally(const struct roce_shard *s)
{
	struct tally t = {0};

	for (uint32_t i = 0; i < s->cfg.max_qps; i++) {
		t.qps += qp_is_used(&s->qps[i]);
		t.timers += qp_is_used(&s->qps[i]) && base_linked(&s->qps[i].timer_link);
		t.waiting += qp_is_used(&s->qps[i]) && s->qps[i].deadline_ns != 0;
	}
	for (uint32_t i = 0; i < s->cfg.max_mrs; i++) {
		t.mrs += s->mrs[i].kind != ROCE_MR_FREE;
		t.mws += s->mrs[i].kind == ROCE_MR_WINDOW;
		t.bound += s->mrs[i].kind == ROCE_MR_WINDOW && roce_mw_is_bound(&s->mrs[i]);
		t.counted += s->mrs[i].kind == ROCE_MR_REGION ? s->mrs[i].windows : 0;
	}
	for (uint32_t i = 0; i < s->cfg.max_cqs; i++)
		t.cqs += s->cqs[i].used;
	for (uint32_t i = 0; i < s->cfg.max_srqs; i++)
		t.srqs += s->srqs[i].used;
	for (uint32_t i = 0; i < s->cfg.max_pds; i++) {
		t.pds += s->pd_refs[i] != 0;
		t.pd_users += s->pd_refs[i] != 0 ? s->pd_refs[i] - 1 : 0;
	}
	return t;
}

static const char *
shard_check_usage(const struct roce_shard *s)
{
	const struct roce_usage *u = &s->usage;
	struct tally t = shard_tally(s);

	if (t.qps != u->qps)
		return "usage.qps is not the number of queue pairs";
	if (t.timers != u->timers)
		return "usage.timers is not the number of entries in the timer wheel";
	if (t.waiting != s->waiting)
		return "waiting is not the number of queue pairs with a deadline";
	if (t.mrs != u->mrs || t.mws != u->mws)
		return "usage.mrs or usage.mws is not the number of regions or windows";
	if (t.bound != t.counted)
		return "regions count other windows than are bound";
	if (t.cqs != u->cqs || t.srqs != u->srqs)
		return "usage.cqs or usage.srqs is not the number of queues";
	if (t.pds != u->pds || t.pds + s->pd_free_count != s->cfg.max_pds)
		return "usage.pds is not the number of protection domains";
	if (t.pd_users != t.qps + t.mrs + t.srqs)
		return "references to protection domains and the objects in them disagree";
	return NULL;
}

/* No more than there are. */
static const char *
shard_check_free(const struct roce_shard *s)
{
	uint32_t qps = 0, mrs = 0, i;

	for (i = s->qp_free_head; i < s->cfg.max_qps && qps <= s->cfg.max_qps;
		i = s->qps[i].next_free)
		qps += !qp_is_used(&s->qps[i]);
	if (qps + s->usage.qps != s->cfg.max_qps)
		return "a queue pair is neither in use nor free";
	for (i = 0; i < s->mr_free_count && i < s->cfg.max_mrs; i++)
		mrs += s->mrs[s->mr_free[i]].kind == ROCE_MR_FREE;
	if (mrs + s->usage.mrs != s->cfg.max_mrs)
		return "a slot of the table of regions is neither in use nor free";
	return NULL;
}

static const char *
shard_check_wheels(const struct roce_shard *s)
{
	for (uint32_t i = 0; i < ROCE_WHEEL_SLOTS; i++)
		if (!base_list_empty(&s->wheel[i]) && !(s->wheel_map[i / 64] >> i % 64 & 1))
			return "a slot of the timer wheel has entries, and no bit";
	for (uint32_t i = 0; i < ROCE_PACE_SLOTS; i++)
		if (!base_list_empty(&s->pace.slot[i]) && !(s->pace.map >> i & 1))
			return "a slot of the pacing wheel has queue pairs, and no bit";
	return NULL;
}

static const char *
shard_check_queues(const struct roce_shard *s)
{
	const char *wrong = NULL;

	for (uint32_t i = 0; i < s->cfg.max_cqs && wrong == NULL; i++)
		if (s->cqs[i].used)
			wrong = roce_cq_check(s, &s->cqs[i]);
	for (uint32_t i = 0; i < s->cfg.max_srqs && wrong == NULL; i++)
		if (s->srqs[i].used)
			wrong = roce_srq_check(s, &s->srqs[i]);
	return wrong;
}

const char *
roce_shard_check(const struct roce_shard *s)
{
	static const char *(*const checks[])(const struct roce_shard *) = {roce_shard_check_qps,
		shard_check_wqes, shard_check_shares, shard_check_turns, shard_check_flight,
		shard_check_wakeups, shard_check_usage, shard_check_free, shard_check_wheels,
		shard_check_queues};
	const char *wrong = NULL;

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]) && wrong == NULL; i++)
		wrong = checks[i](s);
	return wrong;
}
