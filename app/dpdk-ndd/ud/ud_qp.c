/* SPDX-License-Identifier: BSD-3-Clause */
/* The Q_Key of a datagram queue pair, and its RESET. */
#include <stdio.h>

#include "control/daemon.h"
#include "hostnet/address.h"
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

/* ---- RESET ----------------------------------------------------------------------------------- */

struct ud_reset {
	struct roce_qp *engine;
	bool done;
};

static void
on_shard_ud_reset(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct ud_reset *r = arg;

	r->done = roce_ud_reset(shard->engine, r->engine, now_ns);
}

/* It is live again at once, as after its creation. Until its client posts receives it takes
 * nothing, and the library for verbs posts none before RTR. */
enum ndsh_status
ndd_ud_qp_reset(struct ndd_session *s, struct ndd_qp *qp, const struct ndsh_qp_modify *m, char *why,
	size_t room)
{
	struct ud_reset r = {.engine = qp->engine};
	struct net_ip own = ndd_ip(s->ip);

	if (m->state != NDSH_QPS_RESET || m->attr.mask != 0) {
		snprintf(why, room, "it is for datagrams, and has no such states but RESET");
		return NDSH_ERR_INVALID_REQUEST;
	}
	if (qp->work.task != NULL) {
		snprintf(why, room, "another change of it is under way");
		return NDSH_ERR_BUSY;
	}
	if (net_local_port(s->daemon->net, &own) < 0) {
		snprintf(why, room, "its address is not the daemon's any more");
		return NDSH_ERR_ADDRESS_NOT_LOCAL;
	}
	ndd_shard_call(s->shard, on_shard_ud_reset, &r);
	qp->failed = false;
	return r.done ? NDSH_OK : NDSH_ERR_INVALID_STATE;
}
