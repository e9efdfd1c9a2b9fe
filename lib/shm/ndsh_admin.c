/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Admin ring. Order as in the send ring (ndsh_sq.c): the client writes ctrl last with release, the
 * daemon loads it first with acquire. A slot is free again when its answer was taken.
 */
#include "ndsh_ring.h"
#include "ndsh_shared.h"

void
ndsh_admin_view(struct ndsh_admin *a, void *base, uint32_t depth)
{
	*a = (struct ndsh_admin){.ring = base, .depth = depth};
}

void
ndsh_admin_push(struct ndsh_admin *a, const struct ndsh_admin_request *r)
{
	struct ndsh_admin_request *d = &a->ring[a->next & (a->depth - 1)];

	d->context = r->context;
	d->va = r->va;
	d->bytes = r->bytes;
	d->pd = r->pd;
	d->access = r->access;
	d->token = r->token;
	d->iova_offset = r->iova_offset;
	ndsh_store32_release(
		&d->ctrl, (r->ctrl & ~NDSH_CTRL_PHASE) | ndsh_phase(a->next, a->depth) << 31);
	a->next++;
}

bool
ndsh_admin_fetch(struct ndsh_admin *a, struct ndsh_admin_request *out)
{
	const struct ndsh_admin_request *shared = &a->ring[a->next & (a->depth - 1)];
	uint32_t ctrl = ndsh_load32_acquire(&shared->ctrl);

	if (ctrl >> 31 != ndsh_phase(a->next, a->depth))
		return false;
	ndsh_copy_in(out, shared, offsetof(struct ndsh_admin_request, token) / 8);
	out->token = ndsh_load32(&shared->token);
	out->iova_offset = ndsh_load64(&shared->iova_offset);
	out->ctrl = ctrl;
	a->next++;
	return true;
}
