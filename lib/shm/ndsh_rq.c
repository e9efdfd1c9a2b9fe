/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive ring. The client writes slots, the daemon reads them when a message
 * comes: no doorbell. Order as in the send ring (ndsh_sq.c): ctrl last with
 * release, first with acquire; slots return through ndsh_qp_page.rq_done.
 */
#include <string.h>

#include "ndsh_ring.h"
#include "ndsh_shared.h"
#include "ndsh_slots.h"

void
ndsh_rq_push(struct ndsh_rq *rq, uint64_t context, const struct ndsh_sge *sge, uint32_t num_sge)
{
	uint32_t slot = rq->next & (rq->depth - 1);
	struct ndsh_rwr *d = &rq->ring[slot];

	d->context = context;
	if (num_sge == 1)
		memcpy(&d->sge0, sge, sizeof(*sge));
	else if (num_sge > 1)
		memcpy(&rq->sge[(size_t)slot * rq->sge_max], sge, num_sge * sizeof(*sge));
	ndsh_store32_release(&d->ctrl, NDSH_CTRL(0, num_sge, 0, ndsh_phase(rq->next, rq->depth)));
	rq->next++;
}

bool
ndsh_rq_ready(const struct ndsh_rq *rq)
{
	uint32_t ctrl = ndsh_load32(&rq->ring[rq->next & (rq->depth - 1)].ctrl);

	return ctrl >> 31 == ndsh_phase(rq->next, rq->depth);
}

static struct ndsh_slots
rq_slots(const struct ndsh_rq *rq)
{
	return (struct ndsh_slots){&rq->ring->ctrl, sizeof(*rq->ring), rq->next, rq->depth};
}

bool
ndsh_rq_holds(const struct ndsh_rq *rq, uint32_t n)
{
	return ndsh_slots_hold(rq_slots(rq), n);
}

void
ndsh_rq_skip(struct ndsh_rq *rq)
{
	rq->next += ndsh_slots_count(rq_slots(rq));
}

enum ndsh_fetch
ndsh_rq_look(const struct ndsh_rq *rq, uint32_t *num_sge)
{
	uint32_t ctrl = ndsh_load32_acquire(&rq->ring[rq->next & (rq->depth - 1)].ctrl);

	if (ctrl >> 31 != ndsh_phase(rq->next, rq->depth))
		return NDSH_FETCH_EMPTY;
	*num_sge = NDSH_CTRL_NSGE(ctrl);
	if (NDSH_CTRL_OP(ctrl) != 0 || NDSH_CTRL_FLAGS(ctrl) != 0 || *num_sge > rq->sge_max)
		return NDSH_FETCH_BROKEN;
	return NDSH_FETCH_OK;
}

uint32_t
ndsh_rq_take(struct ndsh_rq *rq, uint32_t num_sge, struct ndsh_sge *sge, uint64_t *context)
{
	uint32_t slot = rq->next & (rq->depth - 1);
	const struct ndsh_rwr *shared = &rq->ring[slot];
	const struct ndsh_sge *list = &shared->sge0;
	uint64_t sum = 0;

	if (num_sge > 1)
		list = &rq->sge[(size_t)slot * rq->sge_max];
	for (uint32_t i = 0; i < num_sge; i++)
		sum += ndsh_sge_in(&sge[i], &list[i]);
	*context = ndsh_load64(&shared->context);
	rq->next++;
	/* No message is longer than 2^31: more room than 32 bits can say is as good as that. */
	return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

enum ndsh_fetch
ndsh_rq_fetch(struct ndsh_rq *rq, struct ndsh_recv *out)
{
	uint32_t num_sge;
	enum ndsh_fetch got = ndsh_rq_look(rq, &num_sge);

	if (got != NDSH_FETCH_OK)
		return got;
	out->bytes = ndsh_rq_take(rq, num_sge, out->sge, &out->context);
	out->num_sge = (uint8_t)num_sge;
	return NDSH_FETCH_OK;
}

static void
rwr_copy(struct ndsh_rq *to, const struct ndsh_rq *from, uint32_t number)
{
	uint32_t slot = number & (to->depth - 1);
	uint32_t there = number & (from->depth - 1);
	struct ndsh_rwr d = from->ring[there];
	uint32_t num_sge = NDSH_CTRL_NSGE(d.ctrl);

	if (num_sge > 1)
		memcpy(&to->sge[(size_t)slot * to->sge_max],
			&from->sge[(size_t)there * from->sge_max], num_sge * sizeof(*to->sge));
	d.ctrl = NDSH_CTRL(0, num_sge, 0, ndsh_phase(number, to->depth));
	to->ring[slot] = d;
}

/* The client alone reads and writes either ring here, but for the daemon's reads of from. */
void
ndsh_rq_carry(struct ndsh_rq *to, const struct ndsh_rq *from, uint32_t taken)
{
	uint32_t number = taken;

	for (; number != from->next; number++)
		rwr_copy(to, from, number);
	for (; number - taken < to->depth; number++)
		to->ring[number & (to->depth - 1)].ctrl =
			NDSH_CTRL(0, 0, 0, !ndsh_phase(number, to->depth));
	to->next = from->next;
}

void
ndsh_rq_exchange(struct ndsh_rq *rq, void *base, uint32_t depth)
{
	uint32_t next = rq->next;

	ndsh_srq_view(rq, base, depth, rq->sge_max);
	rq->next = next;
}
