/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared receive queues: a receive ring that several queue pairs take from. The client alone knows
 * how many receives are posted; whether there are fewer than a limit is read from the phase bit of
 * one slot.
 */
#include "roce/queue/srq.h"

#include "base/list.h"
#include "roce/assert.h"
#include "roce/shard/line.h"
#include "roce/shard/shard.h"

struct roce_srq *
roce_srq_create(struct roce_shard *s, struct roce_client *client, uint32_t pd, void *shared,
	uint32_t depth, uint32_t sge, void *owner)
{
	struct roce_srq *srq = s->srq_free;

	if (srq == NULL || ndsh_srq_bytes(depth, sge) == 0 || !roce_pd_get(s, pd))
		return NULL;
	s->srq_free = srq->next_free;
	*srq = (struct roce_srq){.page = shared, .pd = pd, .owner = owner, .used = true};
	srq->client = roce_client_use(s, client);
	ndsh_srq_view(&srq->rq, shared, depth, sge);
	s->usage.srqs++;
	return srq;
}

/* W-EVT-01: the event comes once, and is to be armed again. */
static void
srq_check_limit(struct roce_shard *s, struct roce_srq *srq)
{
	if (srq->limit == 0 || ndsh_rq_holds(&srq->rq, srq->limit))
		return;
	srq->limit = 0;
	roce_line_join(s, srq->client, ROCE_LINE_SRQ_EVENTS, &srq->event);
}

void
roce_srq_arm(struct roce_shard *s, struct roce_srq *srq, uint32_t limit)
{
	srq->limit = limit;
	srq_check_limit(s, srq);
}

/* Release: a client that sees the slot free may write to it. */
void
roce_srq_taken(struct roce_shard *s, struct roce_srq *srq)
{
	__atomic_store_n(&srq->page->taken, srq->rq.next, __ATOMIC_RELEASE);
	srq_check_limit(s, srq);
}

/* Between two messages, so none of what was taken goes back to its ring. */
void
roce_srq_resize(struct roce_srq *srq, void *shared, uint32_t depth)
{
	roce_assert(srq->used);
	ndsh_rq_exchange(&srq->rq, shared, depth);
	srq->page = shared;
	__atomic_store_n(&srq->page->taken, srq->rq.next, __ATOMIC_RELEASE);
}

bool
roce_srq_destroy(struct roce_shard *s, struct roce_srq *srq)
{
	roce_assert(srq->used);
	if (srq->users != 0)
		return false;
	base_list_remove(&srq->event);
	roce_pd_put(s, srq->pd);
	srq->client->objects--;
	srq->used = false;
	srq->next_free = s->srq_free;
	s->srq_free = srq;
	s->usage.srqs--;
	return true;
}
