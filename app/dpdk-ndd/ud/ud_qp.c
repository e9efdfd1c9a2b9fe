/* SPDX-License-Identifier: BSD-3-Clause */
/* The Q_Key of a datagram queue pair. */
#include "lcore/call.h"
#include "lcore/shard.h"
#include "object/qp.h"
#include "session/session.h"

struct ud_modify {
	struct roce_qp *engine;
	uint32_t q_key;
	enum roce_ud_modify result;
};

static void
on_shard_ud_modify(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct ud_modify *m = arg;

	m->result = roce_ud_modify(shard->engine, m->engine, now_ns, m->q_key);
}

/* A part of the ring with each call. */
static bool
qp_restart_part(struct ndd_session *s, struct ndd_qp *qp)
{
	struct ud_modify u = {.engine = qp->engine, .q_key = qp->work.q_key};

	ndd_shard_call(s->shard, on_shard_ud_modify, &u);
	if (u.result == ROCE_UD_MODIFIED)
		qp->q_key = u.q_key;
	qp->work.status = u.result == ROCE_UD_REFUSED ? NDSH_ERR_INVALID_STATE : NDSH_OK;
	return u.result != ROCE_UD_FLUSHING;
}

static const struct ndd_qp_task restart_task = {.part = qp_restart_part};

enum ndsh_status
ndd_ud_qp_modify(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_ud_qp_modify *m = msg;
	struct ndd_qp *qp = ndd_qp_get(s, m->qp);

	if (qp == NULL)
		return NDSH_ERR_INVALID_ID;
	if (!qp->datagrams)
		return NDSH_ERR_INVALID_REQUEST;
	if (m->q_key & ROCE_QKEY_PRIVILEGED)
		return NDSH_ERR_ACCESS;
	if (qp->work.task != NULL)
		return NDSH_ERR_BUSY;
	qp->work.q_key = m->q_key;
	r->id.id = m->qp;
	return ndd_qp_work_begin(s, qp, &restart_task, &m->h, r);
}
