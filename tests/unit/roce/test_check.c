/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of a shard finds each pool and each counter that is broken, and says which. */
#include <criterion/criterion.h>

#include "rigs/engine_pair.h"
#include "roce/check.h"
#include "roce/mem/mr.h"
#include "roce/qp/qp.h"
#include "roce/queue/cq.h"
#include "roce/queue/srq.h"
#include "roce/queue/wqe.h"
#include "roce/shard/shard.h"
#include "roce/shard/turns.h"

/* Set field to value, ask, and put it back. */
#define EXPECT(s, field, value, complaint)                                                         \
	do {                                                                                       \
		const typeof(field) saved = field;                                                 \
		const char *wrong;                                                                 \
		cr_assert_null(roce_shard_check(s), "%s", roce_shard_check(s));                    \
		field = value;                                                                     \
		wrong = roce_shard_check(s);                                                       \
		cr_expect_not_null(wrong, "%s: no complaint", #field);                             \
		if (wrong != NULL)                                                                 \
			cr_expect_str_eq(wrong, complaint, "%s: %s", #field, wrong);               \
		field = saved;                                                                     \
	} while (0)

/* Side 1 has answered a READ; side 0 has a request in flight. */
static struct pair *
start(void)
{
	struct pair *p = pair_new(&(struct pair_opts){.srq_depth = 64});

	pair_read(p, 0, 0, 1, 0, 0, 64, 0);
	pair_run(p, 1000000000);
	pair_write(p, 0, 0, 2, 0, 0, 64, 0);
	pair_turn(p, 0);
	return p;
}

/* A client that stands in no line would wait for ever. */
Test(shard_check, turns)
{
	struct pair *p = start();
	struct roce_shard *s = p->side[0].shard;
	struct base_link link = {0};

	roce_turns_leave(s, &s->own_client);
	base_list_append(&s->own_client.senders, &link);
	cr_expect_str_eq(roce_shard_check(s), "a client has something to send, and has no turn");
	base_list_remove(&link);
	base_list_append(&s->own_client.line[ROCE_LINE_FIRED].items, &link);
	cr_expect_str_eq(
		roce_shard_check(s), "work of a client waits, and the client stands in no line");
	base_list_remove(&link);
	cr_assert_null(roce_shard_check(s));
	pair_run(p, 1000000000);
	pair_free(p);
}

/* A principal without a wake-up left, among those that have some. */
Test(shard_check, wakeups)
{
	struct pair *p = start();
	struct roce_shard *s = p->side[0].shard;

	base_list_join(&s->line[ROCE_LINE_FIRED], &s->own.line[ROCE_LINE_FIRED].link);
	EXPECT(s, s->own.wakeups.tokens.full_ns, s->now_ns + 1,
		"a principal has no wake-up left, and does not rest");
	base_list_remove(&s->own.line[ROCE_LINE_FIRED].link);
	pair_run(p, 1000000000);
	pair_free(p);
}

Test(shard_check, pools)
{
	struct pair *p = start();
	struct roce_shard *s = p->side[0].shard;

	EXPECT(s, s->own.share[ROCE_POOL_WQES].held[ROCE_SIDE_SEND], 0,
		"a principal's share is not what its queue pairs hold");
	EXPECT(s, s->own.share[ROCE_POOL_WQES].spare[ROCE_SIDE_SEND], 100,
		"a principal's share is not what its queue pairs hold");
	EXPECT(s, s->own.share[ROCE_POOL_EXTS].held[ROCE_SIDE_RECV], 1,
		"a principal's share is not what its queue pairs hold");
	EXPECT(s, s->pool[ROCE_POOL_WQES].held, 0,
		"what is held of a pool is not the sum of the shares");
	EXPECT(s, s->pool[ROCE_POOL_WQES].reserved, 1,
		"what is reserved of a pool is not the sum of the reserves");
	EXPECT(s, s->pool[ROCE_POOL_EXTS].shared, 1,
		"what is left of a pool for all is not what nobody reserved or holds");
	EXPECT(s, s->wqe_free, s->wqe_free->next, "a roce_wqe is lost, or is in two places");
	EXPECT(s, s->exts_left, s->exts_left - 1, "exts_left is not the number of free extensions");
	EXPECT(s, s->ext_free, s->ext_free->next, "exts_left is not the number of free extensions");
	s->ext_free = s->ext_free->next;
	EXPECT(p->side[1].shard, p->side[1].shard->exts_left, 0,
		"exts_left is not the number of free extensions");
	s->exts_left--;
	cr_expect_str_eq(roce_shard_check(s), "an extension is lost, or is in two places");
	s->exts_left++;
	s->ext_free--;
	cr_assert_null(roce_shard_check(s));
	pair_run(p, 1000000000);
	pair_free(p);
}

Test(shard_check, counters)
{
	struct pair *p = start();
	struct roce_shard *s = p->side[1].shard;

	EXPECT(s, s->usage.qps, 0, "usage.qps is not the number of queue pairs");
	EXPECT(s, s->usage.timers, s->usage.timers + 1,
		"usage.timers is not the number of entries in the timer wheel");
	EXPECT(s, s->waiting, s->waiting + 1,
		"waiting is not the number of queue pairs with a deadline");
	EXPECT(s, s->usage.mrs, 0,
		"usage.mrs or usage.mws is not the number of regions or windows");
	EXPECT(s, s->usage.mws, 1,
		"usage.mrs or usage.mws is not the number of regions or windows");
	EXPECT(s, p->side[1].mr->windows, 1, "regions count other windows than are bound");
	EXPECT(s, s->usage.cqs, 0, "usage.cqs or usage.srqs is not the number of queues");
	EXPECT(s, s->usage.srqs, 0, "usage.cqs or usage.srqs is not the number of queues");
	EXPECT(s, s->usage.pds, 0, "usage.pds is not the number of protection domains");
	EXPECT(s, s->pd_free_count, 0, "usage.pds is not the number of protection domains");
	EXPECT(s, s->pd_refs[p->side[1].pd - 1], 99,
		"references to protection domains and the objects in them disagree");
	pair_run(p, 1000000000);
	pair_free(p);
}

Test(shard_check, free_objects)
{
	struct pair *p = start();
	struct roce_shard *s = p->side[1].shard;

	EXPECT(s, s->qp_free_head, ROCE_NONE, "a queue pair is neither in use nor free");
	EXPECT(s, s->mr_free_count, 0, "a slot of the table of regions is neither in use nor free");
	pair_run(p, 1000000000);
	pair_free(p);
}

Test(shard_check, wheels)
{
	struct pair *p = start();
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;

	EXPECT(s, s->wheel_map[qp->timer_tick % ROCE_WHEEL_SLOTS / 64], 0,
		"a slot of the timer wheel has entries, and no bit");
	EXPECT(s, s->pace.slot[3].next, &qp->tx_link,
		"a slot of the pacing wheel has queue pairs, and no bit");
	pair_run(p, 1000000000);
	pair_free(p);
}

Test(shard_check, what_it_holds)
{
	struct pair *p = start();
	struct roce_shard *s = p->side[1].shard;
	struct roce_qp *qp = p->side[1].q[0].qp;

	EXPECT(s, qp->retry_left, 99, "more retries are left than there were");
	EXPECT(s, qp->ack_owed, ROCE_OWED_ACK,
		"a response is owed, and nothing leads to sending it");
	EXPECT(s, p->side[1].cq->flushing, 7,
		"flushing is not the number of its queue pairs to flush");
	EXPECT(s, p->side[1].srq->users, 0, "users is not the number of its queue pairs");
	pair_run(p, 1000000000);
	pair_free(p);
}
