/* SPDX-License-Identifier: BSD-3-Clause */
#include "object/qp_work.h"

#include "control/daemon.h"
#include "object/qp.h"
#include "platform/clock.h"
#include "session/send.h"
#include "session/session.h"

#define PARTS_AT_ONCE 4u  /* before the request is one of later turns */
#define PER_CALL      64u /* queue pairs that a turn looks at */

enum ndsh_status
ndd_qp_work_begin(struct ndd_session *s, struct ndd_qp *qp, const struct ndd_qp_task *task,
	const struct ndsh_msg_hdr *request, struct ndd_reply *r)
{
	struct ndd_qp_work *w = &qp->work;

	for (unsigned i = 0; i < PARTS_AT_ONCE; i++) {
		if (task->part(s, qp)) {
			enum ndsh_status status = w->status;

			if (task->done != NULL)
				task->done(s, qp);
			return status;
		}
	}
	w->task = task;
	w->session = s;
	w->next_ns = ndd_now_ns() + task->pause_ns;
	if (w->next_ns < s->daemon->work_look_ns)
		s->daemon->work_look_ns = w->next_ns;
	w->reply = (struct ndsh_msg_hdr){
		.type = (uint16_t)(request->type | NDSH_REPLY), .cookie = request->cookie};
	TAILQ_INSERT_TAIL(&s->daemon->working_qps, qp, work.next);
	r->later = true;
	return NDSH_OK;
}

void
ndd_qp_work_forget(struct ndd_qp *qp)
{
	if (qp->work.task == NULL)
		return;
	qp->work.task = NULL;
	TAILQ_REMOVE(&qp->work.session->daemon->working_qps, qp, work.next);
}

static void
work_reply(const struct ndd_qp *qp, enum ndsh_status status)
{
	struct ndsh_id_msg m = {.h = qp->work.reply, .id = qp->owner.handle};

	m.h.status = status;
	ndd_session_send(qp->work.session, &m, sizeof(m), -1);
}

void
ndd_qp_work_abandon(struct ndd_qp *qp, enum ndsh_status status)
{
	if (qp->work.task == NULL)
		return;
	work_reply(qp, status);
	ndd_qp_work_forget(qp);
}

static void
work_end(struct ndd_qp *qp)
{
	const struct ndd_qp_task *task = qp->work.task;
	struct ndd_session *s = qp->work.session;

	ndd_qp_work_forget(qp);
	work_reply(qp, qp->work.status);
	if (task->done != NULL)
		task->done(s, qp);
}

/* Returns when it is to be looked at again. */
static uint64_t
work_go_on(struct ndd_qp *qp, uint64_t now_ns)
{
	const struct ndd_qp_task *task = qp->work.task;
	struct ndd_session *s = qp->work.session;
	struct ndd_principal *p = s->account.principal;
	uint64_t began_ns = ndd_now_ns();

	if (s->ended)
		return UINT64_MAX;
	while (now_ns >= qp->work.next_ns && ndd_principal_has_time(p)) {
		bool last = task->part(s, qp);

		qp->work.next_ns = now_ns + task->pause_ns;
		if (last)
			work_end(qp);
		began_ns = ndd_principal_charge(p, began_ns);
		if (last)
			return UINT64_MAX;
	}
	return qp->work.next_ns;
}

/* Each that is looked at goes to the end first, so that all have their turn. */
void
ndd_qp_work_tick(struct ndd *d, uint64_t now_ns)
{
	struct ndd_qp *qp, *last = TAILQ_LAST(&d->working_qps, ndd_qp_list);
	uint64_t look_ns = UINT64_MAX, next_ns;
	bool more = last != NULL;

	for (unsigned i = 0; i < PER_CALL && more; i++) {
		qp = TAILQ_FIRST(&d->working_qps);
		more = qp != last;
		TAILQ_REMOVE(&d->working_qps, qp, work.next);
		TAILQ_INSERT_TAIL(&d->working_qps, qp, work.next);
		next_ns = work_go_on(qp, now_ns);
		look_ns = next_ns < look_ns ? next_ns : look_ns;
	}
	if (more && look_ns > now_ns) /* of those that were not looked at one may be due */
		look_ns = now_ns + NDD_MS < look_ns ? now_ns + NDD_MS : look_ns;
	d->work_look_ns = look_ns;
}
