/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagram services: questions for one, and the answers. */
#include <stdlib.h>
#include <string.h>

#include "ndclient/conn/listening.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/address.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/object.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/session/private_data.h"
#include "ndclient/ud/listener.h"
#include "ndclient/ud/ud.h"

nd_status
nd_ud_listener_create(struct nd_adapter *a, struct nd_ud_listener **out)
{
	struct nd_ud_listener *l;
	nd_status st;

	if (a == NULL || out == NULL)
		return ND_INVALID_PARAMETER;
	*out = l = nd_ud_new(a, sizeof(*l), __func__, &st);
	if (l == NULL)
		return st;
	l->adapter = a;
	STAILQ_INIT(&l->questions);
	STAILQ_INIT(&l->waiting);
	nd_object_open(&l->obj, &nd_ud_listener_class, a);
	pthread_mutex_lock(&a->lock);
	TAILQ_INSERT_TAIL(&a->ud_listeners, l, link);
	pthread_mutex_unlock(&a->lock);
	return ND_SUCCESS;
}

nd_status
nd_ud_listener_listen(
	struct nd_ud_listener *l, const struct sockaddr *addr, socklen_t bytes, uint32_t backlog)
{
	return nd_listening_start(
		l->adapter, &l->at, NDSH_MSG_UD_LISTENER_CREATE, addr, bytes, backlog);
}

nd_status
nd_ud_listener_local_address(struct nd_ud_listener *l, struct sockaddr *addr, socklen_t *bytes)
{
	return nd_listening_address(l->adapter, &l->at, addr, bytes);
}

/* ---- questions ----------------------------------------------------------------------- */

/* A request meets a question; lock held. */
static void
give_question(
	struct nd_ud_question *q, struct nd_overlapped *ov, const struct ndsh_ev_ud_question *ev)
{
	static_assert(sizeof(q->private_data) == sizeof(ev->priv), "the public header's");
	memset(q, 0, sizeof(*q));
	q->peer_bytes = nd_address_to(&q->peer, &ev->remote);
	q->id = ev->question;
	q->private_bytes =
		ev->priv_bytes < sizeof(q->private_data) ? ev->priv_bytes : sizeof(q->private_data);
	memcpy(q->private_data, ev->priv, sizeof(q->private_data));
	nd_overlapped_end(ov, ND_SUCCESS);
}

/* Lock held. w: for it to wait with, or to be freed. */
static nd_status
get_question(struct nd_ud_listener *l, struct nd_ud_wait *w)
{
	struct nd_ud_wait *asked = STAILQ_FIRST(&l->questions);

	if (nd_gone(l->adapter) || !l->at.on) {
		free(w);
		return nd_gone(l->adapter) ? ND_DEVICE_REMOVED : ND_INVALID_DEVICE_STATE;
	}
	if (asked == NULL) {
		STAILQ_INSERT_TAIL(&l->waiting, w, next);
		return ND_PENDING;
	}
	STAILQ_REMOVE_HEAD(&l->questions, next);
	give_question(w->question, w->ov, &asked->ev);
	free(asked);
	free(w);
	return ND_PENDING;
}

nd_status
nd_ud_listener_get_question(
	struct nd_ud_listener *l, struct nd_ud_question *question, struct nd_overlapped *ov)
{
	struct nd_ud_wait *w;
	nd_status st;

	if (question == NULL)
		return ND_INVALID_PARAMETER_1;
	if (ov == NULL)
		return ND_INVALID_PARAMETER_2;
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return ND_NO_MEMORY;
	w->ov = ov;
	w->question = question;
	st = nd_overlapped_begin(l->adapter, ov, __func__);
	if (st != ND_SUCCESS) {
		free(w);
		return st;
	}
	pthread_mutex_lock(&l->adapter->lock);
	st = get_question(l, w);
	pthread_mutex_unlock(&l->adapter->lock);
	return nd_overlapped_issued(ov, st);
}

void
nd_ud_question_event(struct nd_adapter *a, const struct ndsh_ev_ud_question *ev)
{
	struct nd_ud_listener *l;
	struct nd_ud_wait *w;

	TAILQ_FOREACH (l, &a->ud_listeners, link)
		if (l->at.on && l->at.id == ev->listener)
			break;
	if (l == NULL)
		return;
	w = STAILQ_FIRST(&l->waiting);
	if (w != NULL) {
		STAILQ_REMOVE_HEAD(&l->waiting, next);
		give_question(w->question, w->ov, ev);
		free(w);
		return;
	}
	w = calloc(1, sizeof(*w));
	if (w == NULL) /* the asking side times out */
		return;
	w->ev = *ev;
	STAILQ_INSERT_TAIL(&l->questions, w, next);
}

static nd_status
ud_answer(struct nd_adapter *a, struct ndsh_ud_answer *m, const struct nd_ud_question *question,
	const void *priv, uint32_t priv_bytes)
{
	nd_status st;

	static_assert(NDSH_ANSWER_DATA_MAX == ND_UD_ANSWER_DATA, "the public header's");
	if (question == NULL)
		return ND_INVALID_PARAMETER;
	st = nd_private_data_put(priv, priv_bytes, ND_UD_ANSWER_DATA, m->priv, &m->priv_bytes);
	if (st != ND_SUCCESS)
		return st;
	m->h.type = NDSH_MSG_UD_ANSWER;
	m->question = question->id;
	return nd_control_call(a, &(struct nd_request){.h = &m->h});
}

nd_status
nd_ud_accept(struct nd_qp *qp, const struct nd_ud_question *question, const void *priv,
	uint32_t priv_bytes)
{
	struct ndsh_ud_answer m = {.accept = 1, .qp = qp->index};

	if (qp->state != ND_QP_DATAGRAM)
		return nd_fail(ND_INVALID_DEVICE_REQUEST, "not a queue pair of datagrams");
	return ud_answer(qp->adapter, &m, question, priv, priv_bytes);
}

nd_status
nd_ud_reject(struct nd_adapter *a, const struct nd_ud_question *question, const void *priv,
	uint32_t priv_bytes)
{
	struct ndsh_ud_answer m = {.accept = 0};

	nd_status st = nd_ud_supported(a, __func__);

	return st == ND_SUCCESS ? ud_answer(a, &m, question, priv, priv_bytes) : st;
}

/* ---- cancel, close ------------------------------------------------------------------- */

/* Lock held. */
static void
ud_listener_end_waiters(struct nd_ud_listener *l, nd_status st)
{
	struct nd_ud_wait *w;

	while ((w = STAILQ_FIRST(&l->waiting)) != NULL) {
		STAILQ_REMOVE_HEAD(&l->waiting, next);
		nd_overlapped_end(w->ov, st);
		free(w);
	}
}

void
nd_ud_listeners_end_waiters(struct nd_adapter *a, nd_status st)
{
	struct nd_ud_listener *l;

	TAILQ_FOREACH (l, &a->ud_listeners, link)
		ud_listener_end_waiters(l, st);
}

nd_status
nd_ud_listener_cancel(struct nd_ud_listener *l)
{
	pthread_mutex_lock(&l->adapter->lock);
	ud_listener_end_waiters(l, ND_CANCELED);
	pthread_mutex_unlock(&l->adapter->lock);
	return ND_SUCCESS;
}

/* Until the daemon has answered, questions may still come; then those that the application has not
 * taken are refused. */
static bool
ud_listener_stop(struct nd_object *o)
{
	struct nd_ud_listener *l = (struct nd_ud_listener *)o;
	struct nd_adapter *a = o->adapter;
	struct nd_ud_wait *w;

	(void)nd_ud_listener_cancel(l);
	nd_listening_stop(a, &l->at);
	pthread_mutex_lock(&a->lock);
	TAILQ_REMOVE(&a->ud_listeners, l, link);
	pthread_mutex_unlock(&a->lock);
	while ((w = STAILQ_FIRST(&l->questions)) != NULL) {
		const struct nd_ud_question q = {.id = w->ev.question};

		STAILQ_REMOVE_HEAD(&l->questions, next);
		if (!nd_gone(a))
			(void)nd_ud_reject(a, &q, NULL, 0);
		free(w);
	}
	return false;
}

static void
ud_listener_destroy(struct nd_object *o)
{
	free((struct nd_ud_listener *)o);
}

const struct nd_class nd_ud_listener_class = {
	.stop = ud_listener_stop, .destroy = ud_listener_destroy};

nd_status
nd_ud_listener_close(struct nd_ud_listener *l)
{
	return nd_close(l, NULL);
}
