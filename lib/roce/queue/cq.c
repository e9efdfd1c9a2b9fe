/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion queues: their creation and their end. Entries are pushed by roce_cq_push() (cq.h), and
 * published once per turn (publish.c).
 */
#include "roce/queue/cq.h"

#include "base/list.h"
#include "roce/assert.h"
#include "roce/shard/line.h"
#include "roce/shard/shard.h"

struct roce_cq *
roce_cq_create(
	struct roce_shard *s, struct roce_client *client, void *base, uint32_t depth, void *owner)
{
	struct roce_cq *cq = s->cq_free;

	if (cq == NULL || ndsh_cq_bytes(depth) == 0)
		return NULL;
	s->cq_free = cq->next_free;
	*cq = (struct roce_cq){.owner = owner, .used = true};
	cq->client = roce_client_use(s, client);
	cq->principal = cq->client->principal;
	ndsh_cq_view(&cq->ring, base, depth);
	base_list_init(&cq->send_qps);
	base_list_init(&cq->recv_qps);
	base_list_init(&cq->send_failing);
	base_list_init(&cq->recv_failing);
	s->usage.cqs++;
	return cq;
}

void *
roce_cq_owner(const struct roce_cq *cq)
{
	return cq->owner;
}

static bool
cq_has_users(const struct roce_cq *cq)
{
	return !base_list_empty(&cq->send_qps) || !base_list_empty(&cq->recv_qps) ||
	       !base_list_empty(&cq->send_failing) || !base_list_empty(&cq->recv_failing);
}

bool
roce_cq_destroy(struct roce_shard *s, struct roce_cq *cq)
{
	roce_assert(cq->used);
	if (cq_has_users(cq))
		return false;
	base_list_remove(&cq->touched);
	base_list_remove(&cq->fired);
	base_list_remove(&cq->event);
	base_list_remove(&cq->broken);
	cq->client->objects--;
	cq->used = false;
	cq->next_free = s->cq_free;
	s->cq_free = cq;
	s->usage.cqs--;
	return true;
}

static void
cq_end(struct roce_shard *s, struct roce_cq *cq)
{
	cq->dead = true;
	base_list_splice(&cq->send_failing, &cq->send_qps);
	base_list_splice(&cq->recv_failing, &cq->recv_qps);
	roce_line_join(s, cq->client, ROCE_LINE_CQ_EVENTS, &cq->event);
	roce_line_join(s, cq->client, ROCE_LINE_BROKEN, &cq->broken);
}

bool
roce_cq_resize(struct roce_cq *cq, void *ring, uint32_t depth, uint32_t entries)
{
	roce_assert(cq->used);
	return ndsh_cq_move(&cq->ring, ring, depth, entries);
}

void
roce_cq_overran(struct roce_shard *s, struct roce_cq *cq)
{
	if (cq->dead)
		return;
	s->count.cq_overruns++;
	cq_end(s, cq);
}

/* R-CQ-32. A waiting client is notified at the end of the turn, as it is of entries. */
void
roce_cq_fail(struct roce_shard *s, struct roce_cq *cq)
{
	if (cq->dead) /* an overrun stays one */
		return;
	cq->ring.fault = NDSH_CQ_FATAL;
	base_list_join(&s->touched_cqs, &cq->touched);
	cq_end(s, cq);
}

bool
roce_cq_keeps_entries_at(const struct roce_cq *cq, uintptr_t low, uintptr_t high)
{
	const struct ndsh_cqe *ring = cq->ring.ring;

	return low >= (uintptr_t)ring && high <= (uintptr_t)(ring + cq->ring.depth);
}
