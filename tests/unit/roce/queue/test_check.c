/* SPDX-License-Identifier: BSD-3-Clause */
/* The checks of completion queues and shared receive queues find what is broken, and say what. */
#include <criterion/criterion.h>

#include "rigs/engine_pair.h"
#include "roce/qp/qp.h"
#include "roce/queue/check.h"
#include "roce/queue/cq.h"
#include "roce/queue/srq.h"
#include "roce/shard/shard.h"

#define EXPECT(what, check, broken, complaint)                                                     \
	do {                                                                                       \
		const typeof(*(what)) saved = *(what);                                             \
		const char *wrong;                                                                 \
		cr_assert_null(check);                                                             \
		broken;                                                                            \
		wrong = check;                                                                     \
		cr_expect_not_null(wrong, "%s: no complaint", #broken);                            \
		if (wrong != NULL)                                                                 \
			cr_expect_str_eq(wrong, complaint, "%s: %s", #broken, wrong);              \
		*(what) = saved;                                                                   \
	} while (0)

Test(queue_check, completion_queue)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	struct roce_cq *cq = p->side[0].cq, other;
	struct roce_qp *qp = p->side[0].q[0].qp;

	EXPECT(cq, roce_cq_check(s, cq), cq->used = false, "a completion queue that is not in use");
	EXPECT(cq, roce_cq_check(s, cq), cq->dead = true,
		"dead without a fault, or a fault in a live one");
	EXPECT(cq, roce_cq_check(s, cq), cq->ring.fault = NDSH_CQ_OVERRUN,
		"dead without a fault, or a fault in a live one");
	EXPECT(cq, roce_cq_check(s, cq), cq->event.next = &cq->event,
		"a live one that reports its end");
	EXPECT(cq, roce_cq_check(s, cq), cq->flushing++,
		"flushing is not the number of its queue pairs to flush");
	EXPECT(qp, roce_cq_check(s, cq), qp->send_cq = &other,
		"a queue pair in its list completes to another queue");
	EXPECT(qp, roce_cq_check(s, cq), qp->recv_cq = &other,
		"a queue pair in its list completes to another queue");
	EXPECT(qp, roce_cq_check(s, cq), qp->send_cq_link.prev = &qp->send_cq_link,
		"the list of its queue pairs is broken");
	EXPECT(qp, roce_cq_check(s, cq), qp->flush_link.next = &qp->flush_link,
		"flushing is not the number of its queue pairs to flush");
	pair_free(p);
}

Test(queue_check, shared_receive_queue)
{
	struct pair *p = pair_new(&(struct pair_opts){.srq_depth = 64});
	struct roce_shard *s = p->side[1].shard;
	struct roce_srq *srq = p->side[1].srq;
	struct roce_qp *qp = p->side[1].q[0].qp;

	EXPECT(srq, roce_srq_check(s, srq), srq->used = false,
		"a shared receive queue that is not in use");
	EXPECT(srq, roce_srq_check(s, srq), srq->pd = 0, "no protection domain");
	EXPECT(srq, roce_srq_check(s, srq), srq->users--,
		"users is not the number of its queue pairs");
	EXPECT(qp, roce_srq_check(s, srq), qp->pd++, "a queue pair of another protection domain");
	EXPECT(qp, roce_srq_check(s, srq), qp->srq = NULL,
		"users is not the number of its queue pairs");
	pair_free(p);
}
