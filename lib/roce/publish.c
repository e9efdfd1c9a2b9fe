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
#include "roce/shard/line.h"
#include "roce/shard/shard.h"
#include "roce/wakeups.h"

#define FAIL_AT_ONCE 64u /* queue pairs that a turn fails: some 50 us if none is in the cache */
#define FAIL_PART    16u /* ... of one queue, before it is another principal's turn */

/* The next one of cq that is to fail, which from now on is an ordinary user of it; NULL: none. */
static struct roce_qp *
cq_next_failing(struct roce_cq *cq)
{
	struct base_link *l = base_list_first(&cq->send_failing);

	if (l != NULL) {
		base_list_remove(l);
		base_list_append(&cq->send_qps, l);
		return base_container(l, struct roce_qp, send_cq_link);
	}
	l = base_list_first(&cq->recv_failing);
	if (l == NULL)
		return NULL;
	base_list_remove(l);
	base_list_append(&cq->recv_qps, l);
	return base_container(l, struct roce_qp, recv_cq_link);
}

/* Returns how many; fewer than most: all have failed. */
static uint32_t
cq_fail_users(struct roce_shard *s, struct base_link *broken, uint32_t most)
{
	struct roce_cq *cq = base_container(broken, struct roce_cq, broken);
	struct roce_qp *qp;
	uint32_t n;

	for (n = 0; n < most && (qp = cq_next_failing(cq)) != NULL; n++)
		roce_qp_error(s, qp, roce_cq_reason(cq), 0);
	base_list_remove(broken);
	if (n == most)
		roce_line_join(s, cq->client, ROCE_LINE_BROKEN, broken);
	return n;
}

/*
 * W-EVT-03. At the end of the turn: the code that pushed an entry still works on its queue pair. Of
 * thousands that use one queue some fail in each turn; until then they lose their completions,
 * which is what the failure of the queue means.
 *
 * A function of its own, so that a turn without completions costs two comparisons.
 */
__attribute__((noinline)) static void
cqs_fail_users(struct roce_shard *s)
{
	(void)roce_line_serve(s, ROCE_LINE_BROKEN, FAIL_AT_ONCE, FAIL_PART, cq_fail_users);
}

void
roce_shard_publish(struct roce_shard *s)
{
	struct base_link *l, *next;

	if (base_unlikely(roce_line_may_wait(s, ROCE_LINE_BROKEN)))
		cqs_fail_users(s);
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
			roce_wakeups_join(s, cq);
	}
}
