/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs: how they are created and destroyed, and what the host may ask of them. */
#include "roce/qp/qp.h"

#include <string.h>

#include "base/list.h"
#include "roce/assert.h"
#include "roce/mem/mw.h"
#include "roce/qp/error.h"
#include "roce/queue/cq.h"
#include "roce/queue/srq.h"
#include "roce/responder/farewell.h"
#include "roce/shard/qpn.h"
#include "roce/shard/shard.h"

/* The oldest free index, with a generation that gives a QPN that means nothing special. */
static struct roce_qp *
qp_take(struct roce_shard *s)
{
	uint32_t index = s->qp_free_head;
	struct roce_qp *qp;

	if (index == ROCE_NONE)
		return NULL;
	qp = &s->qps[index];
	s->qp_free_head = qp->next_free;
	if (qp->binder == 0)
		qp->binder = roce_mw_next_binder(index, 0);
	do {
		qp->generation++;
		qp->qpn = roce_qpn_make(&s->qpn_key, s->cfg.shard_id, qp->generation, index);
	} while (qp->qpn <= ROCE_QPN_GSI || qp->qpn == ROCE_QPN_MASK);
	return qp;
}

static void
qp_give(struct roce_shard *s, struct roce_qp *qp)
{
	uint32_t index = (uint32_t)(qp - s->qps);

	*qp = (struct roce_qp){
		.generation = qp->generation, .binder = qp->binder, .next_free = ROCE_NONE};
	if (s->qp_free_head == ROCE_NONE)
		s->qp_free_head = index;
	else
		s->qps[s->qp_free_tail].next_free = index;
	s->qp_free_tail = index;
}

void
roce_qp_clear(struct roce_qp *qp)
{
	base_list_remove(&qp->send_cq_link);
	base_list_remove(&qp->recv_cq_link);
	*qp = (struct roce_qp){
		.state = ROCE_QPS_RESET,
		.qpn = qp->qpn,
		.generation = qp->generation,
		.pd = qp->pd,
		.handle = qp->handle,
		.owner = qp->owner,
		.page = qp->page,
		.send_cq = qp->send_cq,
		.recv_cq = qp->recv_cq,
		.sq = qp->sq,
		.rq = qp->rq,
		.srq = qp->srq,
		.binder = qp->binder,
		.unreliable = qp->unreliable,
	};
	base_list_append(&qp->send_cq->send_qps, &qp->send_cq_link);
	base_list_append(&qp->recv_cq->recv_qps, &qp->recv_cq_link);
}

static void
qp_setup(struct roce_qp *qp, const struct roce_qp_cfg *cfg)
{
	qp->pd = cfg->pd;
	qp->handle = cfg->handle;
	qp->owner = cfg->owner;
	qp->page = cfg->shared;
	qp->send_cq = cfg->send_cq;
	qp->recv_cq = cfg->recv_cq;
	qp->srq = cfg->srq;
	qp->unreliable = cfg->unreliable;
	if (qp->srq != NULL)
		qp->srq->users++;
	ndsh_sq_view(&qp->sq, cfg->shared, &cfg->dims);
	ndsh_rq_view(&qp->rq, cfg->shared, &cfg->dims);
	roce_qp_clear(qp);
}

static bool
queues_belong_together(const struct roce_qp_cfg *cfg)
{
	const struct roce_client *client = cfg->send_cq->client;

	return cfg->recv_cq->client == client &&
	       (cfg->srq == NULL || (cfg->srq->pd == cfg->pd && cfg->srq->client == client));
}

struct roce_qp *
roce_qp_create(struct roce_shard *s, const struct roce_qp_cfg *cfg)
{
	struct ndsh_qp_layout layout;
	struct roce_qp *qp;

	if (!ndsh_qp_layout(&cfg->dims, &layout) || !queues_belong_together(cfg) ||
		!roce_pd_get(s, cfg->pd))
		return NULL;
	qp = qp_take(s);
	if (qp == NULL) {
		roce_pd_put(s, cfg->pd);
		return NULL;
	}
	qp_setup(qp, cfg);
	s->usage.qps++;
	return qp;
}

/* Nothing reaches it before all windows are unbound. */
bool
roce_qp_destroy(struct roce_shard *s, struct roce_qp *qp)
{
	roce_assert(qp->qpn != 0);
	roce_farewell(s, qp);
	roce_qp_stop(s, qp);
	base_list_remove(&qp->ring_link);
	base_list_remove(&qp->event_link);
	qp->state = ROCE_QPS_RESET;
	if (!roce_mw_unbind(s, qp))
		return false;
	base_list_remove(&qp->send_cq_link);
	base_list_remove(&qp->recv_cq_link);
	if (qp->srq != NULL)
		qp->srq->users--;
	roce_pd_put(s, qp->pd);
	qp_give(s, qp);
	s->usage.qps--;
	return true;
}

uint32_t
roce_qp_num(const struct roce_qp *qp)
{
	return qp->qpn;
}

void *
roce_qp_owner(const struct roce_qp *qp)
{
	return qp->owner;
}

enum roce_qp_state
roce_qp_state_get(const struct roce_qp *qp)
{
	return (enum roce_qp_state)qp->state;
}

enum roce_reason
roce_qp_reason(const struct roce_qp *qp)
{
	return (enum roce_reason)qp->reason;
}

size_t
roce_qp_bytes(void)
{
	return sizeof(struct roce_qp);
}

/* The destination and source MAC are the first 12 bytes of every frame. */
void
roce_qp_set_macs(struct roce_qp *qp, const uint8_t smac[6], const uint8_t dmac[6])
{
	memcpy(qp->tmpl.bytes, dmac, 6);
	memcpy(qp->tmpl.bytes + 6, smac, 6);
}
