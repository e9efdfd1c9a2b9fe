/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion queues: entries are made at once and published once per turn. One full barrier for all
 * queues stands between publishing and reading the arm words: a client that arms meanwhile sees the
 * entries, or the shard sees that it is armed.
 */
#include "roce/queue/cq.h"

#include "base/compiler.h"
#include "base/list.h"
#include "roce/assert.h"
#include "roce/qp/error.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"

struct roce_cq *
roce_cq_create(struct roce_shard *s, void *base, uint32_t depth, void *owner)
{
	struct roce_cq *cq = s->cq_free;

	if (cq == NULL || ndsh_cq_bytes(depth) == 0)
		return NULL;
	s->cq_free = cq->next_free;
	*cq = (struct roce_cq){.owner = owner, .used = true};
	ndsh_cq_view(&cq->ring, base, depth);
	base_list_init(&cq->send_qps);
	base_list_init(&cq->recv_qps);
	s->usage.cqs++;
	return cq;
}

void *
roce_cq_owner(const struct roce_cq *cq)
{
	return cq->owner;
}

bool
roce_cq_destroy(struct roce_shard *s, struct roce_cq *cq)
{
	roce_assert(cq->used);
	if (!base_list_empty(&cq->send_qps) || !base_list_empty(&cq->recv_qps))
		return false;
	base_list_remove(&cq->touched);
	base_list_remove(&cq->fired);
	base_list_remove(&cq->event);
	base_list_remove(&cq->broken);
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
	base_list_join(&s->event_cqs, &cq->event);
	base_list_join(&s->broken_cqs, &cq->broken);
}

enum roce_reason
roce_cq_reason(const struct roce_cq *cq)
{
	return cq->ring.fault == NDSH_CQ_OVERRUN ? ROCE_REASON_CQ_OVERRUN : ROCE_REASON_CQ_FATAL;
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
