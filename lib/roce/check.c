/* SPDX-License-Identifier: BSD-3-Clause */
/* The invariants of a shard, as check.h words them. */
#include "roce/check.h"

#include "base/list.h"
#include "roce/mem/moved.h"
#include "roce/mem/mr.h"
#include "roce/qp/check.h"
#include "roce/qp/qp.h"
#include "roce/queue/check.h"
#include "roce/queue/cq.h"
#include "roce/queue/srq.h"
#include "roce/queue/wqe.h"
#include "roce/responder/response.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"

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
	if (used != s->usage.wqes)
		return "usage.wqes is not the number of requests in flight";
	if (free_wqes + used != s->cfg.max_wqes)
		return "a roce_wqe is lost, or is in two places";
	if (exts_free != s->exts_left)
		return "exts_left is not the number of free extensions";
	if (exts_free + exts_used != roce_pool_exts(&s->cfg))
		return "an extension is lost, or is in two places";
	return NULL;
}

/* ---- tables ---------------------------------------------------------------------------------- */

struct tally {
	uint32_t qps, timers, mrs, mws, cqs, srqs, pds, pd_users;
};

static struct tally
shard_tally(const struct roce_shard *s)
{
	struct tally t = {0};

	for (uint32_t i = 0; i < s->cfg.max_qps; i++) {
		t.qps += qp_is_used(&s->qps[i]);
		t.timers += qp_is_used(&s->qps[i]) && base_linked(&s->qps[i].timer_link);
	}
	for (uint32_t i = 0; i < s->cfg.max_mrs; i++) {
		t.mrs += s->mrs[i].kind != ROCE_MR_FREE;
		t.mws += s->mrs[i].kind == ROCE_MR_WINDOW;
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
	if (t.mrs != u->mrs || t.mws != u->mws)
		return "usage.mrs or usage.mws is not the number of regions or windows";
	if (t.cqs != u->cqs || t.srqs != u->srqs)
		return "usage.cqs or usage.srqs is not the number of queues";
	if (t.pds != u->pds || t.pds + s->pd_free_count != s->cfg.max_pds)
		return "usage.pds is not the number of protection domains";
	if (t.pd_users != t.qps + t.mrs + t.srqs)
		return "references to protection domains and the objects in them disagree";
	return NULL;
}

/* Indices from head to tail through next_free, and no more than there are. */
static const char *
shard_check_free(const struct roce_shard *s)
{
	uint32_t qps = 0, mrs = 0, i;

	for (i = s->qp_free_head; i < s->cfg.max_qps && qps <= s->cfg.max_qps;
		i = s->qps[i].next_free)
		qps += !qp_is_used(&s->qps[i]);
	if (qps + s->usage.qps != s->cfg.max_qps)
		return "a queue pair is neither in use nor free";
	for (i = s->mr_free_head; i < s->cfg.max_mrs && mrs <= s->cfg.max_mrs;
		i = s->mrs[i].next_free)
		mrs += s->mrs[i].kind == ROCE_MR_FREE;
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
		shard_check_wqes, shard_check_usage, shard_check_free, shard_check_wheels,
		shard_check_queues};
	const char *wrong = NULL;

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]) && wrong == NULL; i++)
		wrong = checks[i](s);
	return wrong;
}
