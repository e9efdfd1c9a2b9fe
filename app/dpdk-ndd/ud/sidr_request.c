/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of peers for a datagram service: offered to the client, which responds or rejects. */
#include <stdlib.h>
#include <string.h>

#include "cm/sidr.h"
#include "conn/listener.h"
#include "conn/services.h"
#include "control/daemon.h"
#include "object/qp.h"
#include "platform/clock.h"
#include "session/class.h"
#include "session/send.h"
#include "session/session.h"
#include "ud/sidr_request.h"

static void
sidr_request_free(struct ndd_session *s, void *object)
{
	struct ndd_sidr_request *q = object;

	if (q->cm != NULL)
		roce_cm_destroy(s->daemon->cm, ndd_now_ns(), q->cm);
	ndd_slots_remove(&s->sidr_requests, q->id);
	free(q);
}

static void
sidr_request_notify(const struct ndd_sidr_request *q, const struct ndd_listener *l,
	const struct roce_cm_event *ev)
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

static void
sidr_request_on_gone(struct ndd *d, const struct roce_cm_event *ev)
{
	struct ndd_sidr_request *q = ev->owner;

	(void)d;
	sidr_request_free(q->session, q);
}

static void
sidr_request_offer(struct ndd *d, const struct roce_cm_event *ev)
{
	struct ndd_listener *l = ev->owner;
	struct ndd_session *s = l->session;
	struct ndd_sidr_request *q = s->ended ? NULL : calloc(1, sizeof(*q));

	if (q != NULL) {
		q->id = ndd_slots_add(&s->sidr_requests, q);
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
	q->sidr.on_end = sidr_request_on_gone;
	q->session = s;
	q->cm = ev->conn;
	roce_cm_set_owner(ev->conn, q);
	sidr_request_notify(q, l, ev);
}

void
ndd_sidr_on_request(struct ndd *d, const struct roce_cm_event *ev)
{
	const struct ndd_listener *l = ev->owner;

	(l->by_numbers ? ndd_service_on_request : sidr_request_offer)(d, ev);
}

enum ndsh_status
ndd_sidr_respond(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_ud_answer *m = msg;
	struct ndd_sidr_request *q = ndd_slots_get(&s->sidr_requests, m->question);
	struct roce_cm_sidr_reply a = {
		.status = ROCE_CM_SIDR_REJECT, .priv = m->priv, .priv_bytes = m->priv_bytes};
	bool sent;

	if (m->priv_bytes > NDSH_ANSWER_DATA_MAX)
		return NDSH_ERR_PRIVATE_DATA_SIZE;
	if (m->accept != 0) {
		const struct ndd_qp *qp = ndd_qp_get(s, m->qp);

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
	sent = roce_cm_sidr_reply(s->daemon->cm, ndd_now_ns(), q->cm, &a);
	if (sent)
		q->cm = NULL;
	sidr_request_free(s, q);
	r->id.id = m->question;
	return sent ? NDSH_OK : NDSH_ERR_ABORTED;
}

static uint32_t
sidr_requests_most(const struct config *cfg)
{
	return 2 * cfg->max_qps;
}

/* They are made by the peers' requests. */
const struct ndd_class ndd_sidr_request_class = {
	.name = "SIDR requests",
	.table = offsetof(struct ndd_session, sidr_requests),
	.share = CONFIG_SHARE_connections,
	.most = sidr_requests_most,
	.free = sidr_request_free,
};
