/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs: created in INIT, so that receives may be posted; connections bring them further. */
#include <stdlib.h>
#include <string.h>

#include "control/daemon.h"
#include "hostnet/address.h"
#include "lcore/call.h"
#include "object/cq.h"
#include "object/pd.h"
#include "object/qp.h"
#include "object/qp_path.h"
#include "object/segment.h"
#include "object/srq.h"
#include "session/class.h"
#include "session/leave.h"
#include "session/session.h"
#include "ud/group.h"

#define QPN_TRIES 8 /* numbers that the CM still keeps out of use are passed over */

struct qp_making {
	struct ndd_qp *qp;
	struct roce_qp_cfg cfg;
	struct roce_ud_cfg ud; /* of datagrams */
	struct roce_qp *rejected;
};

/* Two steps in one call: make a queue pair (while an unwanted one still holds its number), then let
 * the unwanted one go. */
static void
on_shard_qp_create(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	const struct roce_qp_attr none = {0};
	struct qp_making *c = arg;

	c->qp->engine = roce_qp_create(shard->engine, &c->cfg);
	if (c->rejected != NULL)
		(void)roce_qp_destroy(shard->engine, c->rejected);
	if (c->qp->engine == NULL)
		return;
	c->qp->qpn = roce_qp_num(c->qp->engine);
	if (c->qp->datagrams) {
		(void)roce_ud_start(shard->engine, c->qp->engine, now_ns, &c->ud);
		return;
	}
	c->qp->psn = roce_random_psn(shard->engine);
	(void)roce_qp_modify(
		shard->engine, c->qp->engine, now_ns, ROCE_QPS_INIT, ROCE_QPA_ACCESS, &none);
}

struct qp_publish {
	struct ndd_session *session;
	struct ndd_qp *qp;
};

/* From here on doorbells reach it. */
static void
on_shard_qp_publish(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct qp_publish *p = arg;

	(void)shard;
	(void)now_ns;
	p->session->lcore->qp[p->qp->owner.handle] = p->qp->engine;
}

static enum ndsh_status
qp_find_parts(struct ndd_session *s, const struct ndsh_qp_create *m, struct ndd_qp *qp,
	struct roce_qp_cfg *cfg)
{
	struct ndsh_qp_layout layout;

	qp->pd = ndd_slots_get(&s->pds, m->pd);
	qp->send_cq = ndd_slots_get(&s->cqs, m->send_cq);
	qp->recv_cq = ndd_slots_get(&s->cqs, m->recv_cq);
	if (qp->pd == NULL || qp->send_cq == NULL || qp->recv_cq == NULL)
		return NDSH_ERR_INVALID_ID;
	if (m->has_srq != 0) {
		qp->srq = ndd_slots_get(&s->srqs, m->srq);
		if (qp->srq == NULL)
			return NDSH_ERR_INVALID_ID;
		if (qp->srq->pd != qp->pd)
			return NDSH_ERR_INVALID_PARAMETER;
		cfg->srq = qp->srq->engine;
	}
	cfg->dims = (struct ndsh_qp_dims){
		.sq_depth = m->sq_depth,
		.rq_depth = m->rq_depth,
		.sq_sge = m->sq_sge,
		.rq_sge = m->rq_sge,
		.inline_bytes = m->inline_bytes,
	};
	if (!ndsh_qp_layout(&cfg->dims, &layout))
		return NDSH_ERR_INVALID_PARAMETER;
	qp->slots = m->sq_depth + m->rq_depth;
	cfg->shared = ndd_segment_block(s, m->segment, m->offset, layout.total_bytes, &qp->segment);
	if (cfg->shared == NULL)
		return NDSH_ERR_INVALID_PARAMETER;
	memset(cfg->shared, 0, sizeof(struct ndsh_qp_page));
	cfg->pd = qp->pd->engine;
	cfg->send_cq = qp->send_cq->engine;
	cfg->recv_cq = qp->recv_cq->engine;
	cfg->handle = m->handle;
	cfg->owner = &qp->owner;
	return NDSH_OK;
}

/* A number in time-wait could be taken for the old connection's by its peer (W-CM-52). */
static bool
qp_make_engine(struct ndd_session *s, struct qp_making *c)
{
	for (int i = 0; i < QPN_TRIES; i++) {
		ndd_shard_call(s->shard, on_shard_qp_create, c);
		if (c->qp->engine == NULL)
			return false;
		if (!roce_cm_qpn_resting(s->daemon->cm, c->qp->qpn))
			return true;
		c->rejected = c->qp->engine;
	}
	return true; /* unlikely beyond measure, and harmless: the peer rejects it as stale */
}

/* datagrams: of what kind, or NULL. */
static enum ndsh_status
qp_create_kind(struct ndd_session *s, const struct ndsh_qp_create *m, bool unreliable,
	const struct roce_ud_cfg *datagrams, struct ndd_reply *r)
{
	struct ndd_qp *qp = calloc(1, sizeof(*qp));
	struct qp_making c = {.qp = qp, .cfg.unreliable = unreliable};
	struct qp_publish p = {.session = s, .qp = qp};
	enum ndsh_status status;

	if (qp == NULL)
		return NDSH_ERR_NO_RESOURCES;
	qp->owner = (struct ndd_owner){.session = s->serial, .object = ++s->daemon->serial};
	qp->unreliable = unreliable;
	if (datagrams != NULL) {
		qp->datagrams = true;
		qp->q_key = datagrams->q_key;
		c.ud = *datagrams;
	}
	status = qp_find_parts(s, m, qp, &c.cfg);
	if (status == NDSH_OK) {
		qp->owner.handle = ndd_slots_add(&s->qps, qp);
		if (qp->owner.handle == NDD_SLOT_NONE)
			status = NDSH_ERR_NO_RESOURCES;
	}
	if (status == NDSH_OK && !qp_make_engine(s, &c)) {
		ndd_slots_remove(&s->qps, qp->owner.handle);
		status = NDSH_ERR_NO_RESOURCES;
	}
	if (status != NDSH_OK) {
		free(qp);
		return status;
	}
	ndd_shard_call(s->shard, on_shard_qp_publish, &p);
	qp->pd->users++;
	qp->send_cq->users++;
	qp->recv_cq->users++;
	qp->segment->users++;
	if (qp->srq != NULL)
		qp->srq->users++;
	r->qp.qp = qp->owner.handle;
	r->qp.qpn = qp->qpn;
	return NDSH_OK;
}

static enum ndsh_status
qp_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	return qp_create_kind(s, msg, false, NULL, r);
}

enum ndsh_status
ndd_uc_qp_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	return qp_create_kind(s, msg, true, NULL, r);
}

enum ndsh_status
ndd_ud_qp_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_ud_qp_create *m = msg;
	struct roce_ud_cfg cfg = {.q_key = m->q_key, .ahs = &s->lcore->ahs};
	struct net_ip own;

	if (m->q_key & ROCE_QKEY_PRIVILEGED)
		return NDSH_ERR_ACCESS;
	memcpy(cfg.gid.raw, s->ip, 16);
	own = ndd_ip(s->ip);
	if (net_local_port(s->daemon->net, &own) < 0) /* taken away meanwhile */
		return NDSH_ERR_ADDRESS_NOT_LOCAL;
	cfg.vlan = net_local_vlan(s->daemon->net, &own);
	return qp_create_kind(s, &m->q, false, &cfg, r);
}

enum ndsh_status
ndd_qp_flush(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	struct ndd_qp *qp = ndd_qp_get(s, ((const struct ndsh_id_msg *)msg)->id);

	(void)r;
	if (qp == NULL)
		return NDSH_ERR_INVALID_ID;
	ndd_qp_to_error(s, qp);
	if (qp->conn != NULL)
		qp->user->failed(qp->conn);
	return NDSH_OK;
}

static bool
qp_leave(struct ndd_shard *shard, struct ndd_session *s, void *object)
{
	struct ndd_qp *qp = object;

	s->lcore->qp[qp->owner.handle] = NULL;
	return roce_qp_destroy(shard->engine, qp->engine);
}

static void
qp_free(struct ndd_session *s, void *object)
{
	struct ndd_qp *qp = object;

	ndd_qp_work_forget(qp);
	ndd_qp_path_free(qp);
	ndd_peer_give(qp);
	ndd_group_leave_all(s, qp);
	qp->pd->users--;
	qp->send_cq->users--;
	qp->recv_cq->users--;
	qp->segment->users--;
	if (qp->srq != NULL)
		qp->srq->users--;
	ndd_slots_remove(&s->qps, qp->owner.handle);
	free(qp);
}

/* The handle is the session-local number, of which the doorbell comes. */
static uint32_t
qps_most(const struct config *cfg)
{
	return cfg->max_qps;
}

const struct ndd_class ndd_qp_class = {
	.name = "queue pairs",
	.table = offsetof(struct ndd_session, qps),
	.share = CONFIG_SHARE_queue_pairs,
	.most = qps_most,
	.plain_handles = true,
	.create = qp_create,
	.leave = qp_leave,
	.free = qp_free,
};
