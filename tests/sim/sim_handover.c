/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings that carry frames between the shards of a host, its control thread and its port. */
#include <stdlib.h>

#include "sim.h"

void
sim_ring_init(struct sim_ring *r, unsigned room)
{
	*r = (struct sim_ring){.last = &r->first, .room = room};
}

bool
sim_ring_put(struct sim_ring *r, struct sim_frame *f)
{
	if (r->count == r->room)
		return false;
	f->next = NULL;
	*r->last = f;
	r->last = &f->next;
	r->count++;
	return true;
}

struct sim_frame *
sim_ring_take(struct sim_ring *r)
{
	struct sim_frame *f = r->first;

	if (f == NULL)
		return NULL;
	r->first = f->next;
	if (r->first == NULL)
		r->last = &r->first;
	r->count--;
	return f;
}

void
sim_ring_free(struct sim_ring *r)
{
	struct sim_frame *f;

	while ((f = sim_ring_take(r)) != NULL)
		free(f);
}
