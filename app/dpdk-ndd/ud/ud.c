/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagram queue pairs' keys, and services: who asks for one, and what the client answers. */
#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "conn/conn.h"
#include "ud/ud.h"

struct ud_modify {
	struct roce_qp *engine;
	uint32_t q_key;
	bool ok;
};

static void
on_shard_ud_modify(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct ud_modify *m = arg;

	m->ok = roce_ud_modify(shard->engine, m->engine, now_ns, m->q_key);
}

enum ndsh_status
ndd_ud_qp_modify(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_ud_qp_modify *m = msg;
	struct ndd_qp *qp = ndd_slots_get(&s->qps, m->qp);
	struct ud_modify u = {.q_key = m->q_key};

	if (qp == NULL)
		return NDSH_ERR_INVALID_ID;
	if (!qp->datagrams)
		return NDSH_ERR_INVALID_REQUEST;
	if (m->q_key & ROCE_QKEY_PRIVILEGED)
		return NDSH_ERR_ACCESS;
	u.engine = qp->engine;
	ndd_shard_call(s->shard, on_shard_ud_modify, &u);
	if (!u.ok)
		return NDSH_ERR_INVALID_STATE;
	qp->q_key = m->q_key;
	r->id.id = m->qp;
	return NDSH_OK;
}

/* ---- questions ------------------------------------------------------------------------------- */

void
ndd_question_free(struct ndd_session *s, struct ndd_question *q)
{
	if (q->cm != NULL)
		roce_cm_destroy(s->daemon->cm, ndd_now_ns(), q->cm);
	ndd_slots_remove(&s->questions, q->id);
	free(q);
}

static void
request_notify(
	const struct ndd_question *q, const struct ndd_listener *l, const struct roce_cm_event *ev)
{
	struct ndsh_ev_ud_question m = {
		.h.type = NDSH_EV_UD_QUESTION,
		.listener = l->id,
		.question = q->id,
		.local.port = ev->local.port,
		.remote.port = ev->remote.port,
		.priv_bytes = ev->priv_bytes,
	};

	memcpy(m.local.ip, ev->local.gid.raw, 16);
	memcpy(m.remote.ip, ev->remote.gid.raw, 16);
	memcpy(m.priv, ev->priv, sizeof(m.priv));
	ndd_session_send(q->session, &m, sizeof(m), -1);
}

void
ndd_ud_asked(struct ndd *d, const struct roce_cm_event *ev)
{
	struct ndd_listener *l = ev->owner;
	struct ndd_session *s = l->session;
	struct ndd_question *q = s->ended ? NULL : calloc(1, sizeof(*q));

	if (q != NULL) {
		q->id = ndd_slots_add(&s->questions, q);
		if (q->id == NDD_SLOT_NONE) {
			free(q);
			q = NULL;
		}
	}
	if (q == NULL) {
		(void)roce_cm_sidr_reply(d->cm, ndd_now_ns(), ev->conn,
			&(struct roce_cm_sidr_reply){.status = ROCE_CM_SIDR_NO_QP});
		return;
	}
	q->session = s;
	q->cm = ev->conn;
	roce_cm_set_owner(ev->conn, q);
	request_notify(q, l, ev);
}

void
ndd_ud_gone(struct ndd_question *q)
{
	ndd_question_free(q->session, q);
}

enum ndsh_status
ndd_ud_answer(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_ud_answer *m = msg;
	struct ndd_question *q = ndd_slots_get(&s->questions, m->question);
	struct roce_cm_sidr_reply a = {
		.status = ROCE_CM_SIDR_REJECT, .priv = m->priv, .priv_bytes = m->priv_bytes};
	bool answered;

	if (m->priv_bytes > NDSH_ANSWER_DATA_MAX)
		return NDSH_ERR_PRIVATE_DATA_SIZE;
	if (m->accept != 0) {
		const struct ndd_qp *qp = ndd_slots_get(&s->qps, m->qp);

		if (qp == NULL)
			return NDSH_ERR_INVALID_ID;
		if (!qp->datagrams)
			return NDSH_ERR_INVALID_REQUEST;
		if (qp->failed)
			return NDSH_ERR_INVALID_STATE;
		a.status = ROCE_CM_SIDR_SUCCESS;
		a.qpn = qp->qpn;
		a.q_key = qp->q_key;
	}
	if (q == NULL)
		return NDSH_ERR_ABORTED;
	answered = roce_cm_sidr_reply(s->daemon->cm, ndd_now_ns(), q->cm, &a);
	if (answered)
		q->cm = NULL;
	ndd_question_free(s, q);
	r->id.id = m->question;
	return answered ? NDSH_OK : NDSH_ERR_ABORTED;
}
