/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a turn: what it completed is published. One full barrier for all completion queues
 * stands between publishing and reading the arm words: a client that arms meanwhile sees the
 * entries, or the shard sees that it is armed.
 */
#include "base/compiler.h"
#include "base/list.h"
#include "roce/qp/error.h"
#include "roce/qp/qp.h"
#include "roce/queue/cq.h"
#include "roce/roce.h"
#include "roce/shard/shard.h"

/* W-EVT-03. At the end of the turn: the code that pushed an entry still works on its queue pair. */
static void
cq_fail_users(struct roce_shard *s, struct roce_cq *cq)
{
	enum roce_reason why = roce_cq_reason(cq);
	struct base_link *l;

	for (l = cq->send_qps.next; l != &cq->send_qps; l = l->next)
		roce_qp_error(s, base_container(l, struct roce_qp, send_cq_link), why, 0);
	for (l = cq->recv_qps.next; l != &cq->recv_qps; l = l->next)
		roce_qp_error(s, base_container(l, struct roce_qp, recv_cq_link), why, 0);
}

/* A function of its own, so that a turn without completions costs two comparisons. */
__attribute__((noinline)) static void
cqs_fail_broken(struct roce_shard *s)
{
	struct base_link *l;

	while ((l = base_list_first(&s->broken_cqs)) != NULL) {
		base_list_remove(l);
		cq_fail_users(s, base_container(l, struct roce_cq, broken));
	}
}

void
roce_shard_publish(struct roce_shard *s)
{
	struct base_link *l, *next;

	if (base_unlikely(!base_list_empty(&s->broken_cqs)))
		cqs_fail_broken(s);
	if (base_list_empty(&s->touched_cqs))
		return;
	for (l = s->touched_cqs.next; l != &s->touched_cqs; l = l->next)
		ndsh_cq_publish(&base_container(l, struct roce_cq, touched)->ring);
	ndsh_full_barrier();
	for (l = s->touched_cqs.next; l != &s->touched_cqs; l = next) {
		struct roce_cq *cq = base_container(l, struct roce_cq, touched);

		next = l->next;
		/* The client is notified when all flushed entries are there (R-CQ-17). A dead
		 * queue gets no further ones. */
		if (base_unlikely(cq->flushing > 0) && !cq->dead)
			continue;
		base_list_remove(l);
		if (ndsh_cq_fire(&cq->ring))
			base_list_join(&s->fired_cqs, &cq->fired);
	}
}

struct roce_cq *
roce_shard_fired_cq(struct roce_shard *s)
{
	struct base_link *l = base_list_first(&s->fired_cqs);

	if (l == NULL)
		return NULL;
	base_list_remove(l);
	return base_container(l, struct roce_cq, fired);
}
