/* SPDX-License-Identifier: BSD-3-Clause */
/* The invariants of completion queues and shared receive queues, as check.h words them. */
#include "roce/queue/check.h"

#include "base/list.h"
#include "roce/qp/qp.h"
#include "roce/queue/cq.h"
#include "roce/queue/srq.h"
#include "roce/shard/shard.h"

/* A list of one side of a completion queue; *flushing counts its queue pairs to be flushed. */
static const char *
cq_check_list(const struct roce_shard *s, const struct roce_cq *cq, const struct base_link *head,
	bool send, uint32_t *flushing)
{
	const struct base_link *l, *before = head;
	uint32_t n = 0;

	for (l = head->next; l != head; before = l, l = l->next) {
		const struct roce_qp *qp = send ? base_container(l, struct roce_qp, send_cq_link)
						: base_container(l, struct roce_qp, recv_cq_link);

		if (l->prev != before || ++n > s->cfg.max_qps)
			return "the list of its queue pairs is broken";
		if ((send ? qp->send_cq : qp->recv_cq) != cq)
			return "a queue pair in its list completes to another queue";
		*flushing += base_linked(&qp->flush_link);
	}
	return NULL;
}

static const char *
cq_check_users(const struct roce_shard *s, const struct roce_cq *cq, uint32_t *flushing)
{
	const char *wrong = cq_check_list(s, cq, &cq->send_qps, true, flushing);

	if (wrong == NULL)
		wrong = cq_check_list(s, cq, &cq->recv_qps, false, flushing);
	if (wrong == NULL)
		wrong = cq_check_list(s, cq, &cq->send_failing, true, flushing);
	if (wrong == NULL)
		wrong = cq_check_list(s, cq, &cq->recv_failing, false, flushing);
	return wrong;
}

const char *
roce_cq_check(const struct roce_shard *s, const struct roce_cq *cq)
{
	uint32_t flushing = 0;
	const char *wrong;

	if (!cq->used)
		return "a completion queue that is not in use";
	if (cq->dead != (cq->ring.fault != 0))
		return "dead without a fault, or a fault in a live one";
	if (!cq->dead && (base_linked(&cq->event) || base_linked(&cq->broken)))
		return "a live one that reports its end";
	if (!base_linked(&cq->broken) &&
		(!base_list_empty(&cq->send_failing) || !base_list_empty(&cq->recv_failing)))
		return "queue pairs are to fail, and nothing does it";
	wrong = cq_check_users(s, cq, &flushing);
	if (wrong != NULL)
		return wrong;
	return flushing != cq->flushing ? "flushing is not the number of its queue pairs to flush"
					: NULL;
}

const char *
roce_srq_check(const struct roce_shard *s, const struct roce_srq *srq)
{
	uint32_t users = 0;

	if (!srq->used || srq->page == NULL)
		return "a shared receive queue that is not in use";
	if (srq->pd == 0 || srq->pd > s->cfg.max_pds || s->pd_refs[srq->pd - 1] < 2)
		return "no protection domain";
	for (uint32_t i = 0; i < s->cfg.max_qps; i++) {
		if (s->qps[i].qpn == 0 || s->qps[i].srq != srq)
			continue;
		users++;
		if (s->qps[i].pd != srq->pd)
			return "a queue pair of another protection domain";
	}
	return users != srq->users ? "users is not the number of its queue pairs" : NULL;
}
