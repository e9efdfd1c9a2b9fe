/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion queues that get another ring (R-RSZ-01), in three steps with the life of the world in
 * between: the application shows it to its reader, the daemon moves, the application carries over.
 */
#include <string.h>

#include "sim.h"

#define RESIZES_MAX 8u /* of one queue: its rings stay until the world ends */
#define SCRIBBLE    0xa5

/* As many entries can lie in the queue from now on: requests that have not completed, those not yet
 * posted and a breach included, and a receive of each slot. */
static uint32_t
entries_to_come(const struct sim_client *c)
{
	uint32_t n = SIM_SLOTS; /* shared ones */

	for (unsigned i = 0; i < c->w->n_uds; i++) {
		const struct sim_ud *u = &c->w->uds[i];

		if (u->client == c)
			n += u->quota + 1 - u->head + SIM_SLOTS;
	}
	for (unsigned i = 0; i < c->w->n_conns; i++)
		for (unsigned side = 0; side < 2; side++) {
			const struct sim_ep *ep = &c->w->conns[i].ep[side];

			if (ep->client == c)
				n += ep->quota + 1 - ep->head + SIM_SLOTS;
		}
	return n;
}

static void
begin(struct sim_client *c, struct sim_cq *cq)
{
	struct sim_resize *z = &cq->resize;

	z->count++;
	for (z->depth = 1; z->depth < entries_to_come(c); z->depth *= 2)
		;
	z->depth <<= sim_below(c->w, 2);
	z->ring = sim_alloc(c->w, ndsh_cq_ring_bytes(z->depth));
	z->before = (void *)(uintptr_t)cq->reader.ring;
	z->bytes_before = ndsh_cq_ring_bytes(cq->reader.depth);
	ndsh_cq_expect(&cq->reader, z->ring, z->depth);
	z->step = SIM_RESIZE_ASKED;
}

/* Sometimes to less than is in the queue: that is refused and changes nothing. */
static void
move(struct sim_client *c, struct sim_cq *cq)
{
	struct sim_resize *z = &cq->resize;
	uint64_t produced = cq->reader.page->produced, taken = cq->reader.taken;
	/* At least: what a turn makes may be taken before it is published. */
	uint32_t queued = produced > taken ? (uint32_t)(produced - taken) : 0;
	bool small = queued > 0 && sim_chance(c->w, 2500);
	uint32_t entries = small ? (uint32_t)sim_below(c->w, queued) : z->depth;
	bool moved = roce_cq_resize(cq->cq, z->ring, z->depth, entries);

	sim_check(c->w, moved != small, "resizing to %u with %u in the queue: %s", entries, queued,
		moved ? "done" : "refused");
	z->step = moved ? SIM_RESIZE_MOVED : SIM_RESIZE_REFUSED;
}

static void
settle(struct sim_client *c, struct sim_cq *cq)
{
	struct sim_resize *z = &cq->resize;
	enum ndsh_settle state = ndsh_cq_settle(&cq->reader, (uint32_t)sim_below(c->w, 20));

	sim_check(c->w, (state == NDSH_SETTLE_NOT) == (z->step == SIM_RESIZE_REFUSED),
		"the page of a queue tells another story than the answer");
	if (state == NDSH_SETTLING)
		return;
	/* A reader that goes on in the ring that is no longer valid reads nonsense. */
	if (state == NDSH_SETTLED)
		memset(z->before, SCRIBBLE, z->bytes_before);
	else
		memset(z->ring, SCRIBBLE, ndsh_cq_ring_bytes(z->depth));
	z->step = SIM_RESIZE_NONE;
}

static void
step(struct sim_client *c, struct sim_cq *cq)
{
	switch (cq->resize.step) {
	case SIM_RESIZE_NONE:
		begin(c, cq);
		break;
	case SIM_RESIZE_ASKED:
		move(c, cq);
		break;
	case SIM_RESIZE_MOVED:
	case SIM_RESIZE_REFUSED:
		settle(c, cq);
		break;
	}
}

/* Sometimes there is no poll between two steps: that leaves entries to carry over. */
void
sim_resize_step(struct sim_client *c, struct sim_cq *cq)
{
	if (cq->resize.step == SIM_RESIZE_NONE &&
		(cq->resize.count == RESIZES_MAX || !sim_chance(c->w, 333)))
		return;
	while (sim_chance(c->w, 5000)) {
		step(c, cq);
		if (cq->resize.step == SIM_RESIZE_NONE)
			break;
	}
}
