/* SPDX-License-Identifier: BSD-3-Clause */
#include "places.h"

#include <sys/mman.h>

uint8_t *
place_memory(enum place_kind kind, uint8_t *stack, uint32_t *bytes)
{
	int flags = kind == PLACE_MAPPED ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED | MAP_ANONYMOUS;
	void *at;

	*bytes = kind == PLACE_MAPPED ? PLACE_LARGE : PLACE_SMALL - 3;
	if (kind == PLACE_STACK)
		return stack + 3;
	at = kind == PLACE_HEAP ? malloc(PLACE_SMALL)
				: mmap(NULL, *bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
	WANT(at != NULL && at != MAP_FAILED);
	return at;
}

void
place_memory_free(enum place_kind kind, const struct place *p)
{
	if (kind == PLACE_HEAP)
		free(p->at);
	else if (kind != PLACE_STACK)
		munmap(p->at, p->bytes);
}

void
place_register(struct rig *r, struct place *p, uint64_t iova, int access)
{
	p->iova = iova;
	p->mr = ibv_reg_mr_iova(r->pd, p->at, p->bytes, iova, access);
	WANT(p->mr != NULL && p->mr->addr == p->at && p->mr->length == p->bytes);
}

struct ibv_sge
place_sge(const struct place *p, uint32_t off, uint32_t bytes)
{
	return (struct ibv_sge){p->iova + off, bytes, p->mr->lkey};
}

struct ibv_send_wr
place_request(const struct place *there, enum ibv_wr_opcode op, struct ibv_sge *sge, uint32_t off)
{
	struct ibv_send_wr wr = rig_request_to(there->iova + off, there->mr->rkey, op, sge, 1);

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD)
		wr.wr.atomic.compare_add = 1;
	return wr;
}

void
place_fill(const struct place *p, uint32_t off, uint32_t bytes, unsigned seed)
{
	rig_fill(p->at + off, bytes, seed);
}

bool
place_holds(const struct place *p, uint32_t off, uint32_t bytes, unsigned seed)
{
	return rig_holds(p->at + off, bytes, seed);
}
