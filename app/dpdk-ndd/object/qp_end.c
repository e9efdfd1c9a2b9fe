/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a queue pair at its client's wish: the connection ends first, since the peer must get
 * its DREQ; then all that was posted is flushed, and is to be found in the completion queue before
 * the client is told (R-DISC-12).
 */
#include "lcore/call.h"
#include "object/qp.h"
#include "object/qp_path.h"
#include "platform/clock.h"
#include "session/class.h"
#include "session/leave.h"
#include "session/session.h"
#include "ud/group.h"

struct qp_flush {
	struct ndd_qp *qp;
	bool done;
};

static void
on_shard_qp_flush(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct qp_flush *f = arg;

	(void)now_ns;
	f->done = roce_qp_flush(shard->engine, f->qp->engine);
}

/* A client that goes on posting is not waited for: its rings are flushed once, and a bit. */
static bool
qp_flush_part(struct ndd_session *s, struct ndd_qp *qp)
{
	struct qp_flush f = {.qp = qp};

	ndd_shard_call(s->shard, on_shard_qp_flush, &f);
	qp->work.status = NDSH_OK;
	return f.done || --qp->work.parts_left == 0;
}

static void
qp_flushed(struct ndd_session *s, struct ndd_qp *qp)
{
	ndd_object_free(&ndd_qp_class, s, qp);
}

/* The lcore flushes by itself, all clients by turns: what is done here beside that takes from
 * others, so it is little. */
static const struct ndd_qp_task flush_task = {
	.part = qp_flush_part, .done = qp_flushed, .pause_ns = NDD_MS};

/* From here on no request finds it. */
enum ndsh_status
ndd_qp_destroy(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_id_msg *m = msg;
	struct ndd_qp *qp = ndd_qp_get(s, m->id);

	if (qp == NULL)
		return NDSH_ERR_INVALID_ID;
	ndd_qp_work_abandon(qp, NDSH_ERR_INVALID_STATE);
	if (qp->conn != NULL)
		qp->user->gone(qp->conn);
	ndd_qp_path_free(qp);
	ndd_group_leave_all(s, qp);
	ndd_qp_to_error(s, qp);
	qp->ending = true;
	qp->work.parts_left = qp->slots / ROCE_FLUSH_AT_ONCE + 2;
	return ndd_qp_work_begin(s, qp, &flush_task, &m->h, r);
}
