/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send ring. The client writes slots, the daemon reads them.
 *
 * Order: the client writes SGEs, inline bytes and the descriptor, then ctrl with
 * release; the daemon loads ctrl with acquire and then the rest, each byte once.
 * x86 needs no instruction for either; arm64 has stlr and ldar. A slot returns to
 * the client through ndsh_qp_page.sq_done (release by the daemon, after it copied
 * the slot; acquire by the client). No full barrier here: that one is the doorbell's.
 */
#include <string.h>

#include "ndsh_fetch.h"
#include "ndsh_op.h"
#include "ndsh_ring.h"
#include "ndsh_shared.h"
#include "ndsh_slots.h"

void
ndsh_sq_push(
	struct ndsh_sq *sq, const struct ndsh_swr *wr, const struct ndsh_sge *sge, const void *data)
{
	uint32_t slot = sq->next & (sq->depth - 1);
	uint32_t nsge = NDSH_CTRL_NSGE(wr->ctrl);
	uint32_t flags = NDSH_CTRL_FLAGS(wr->ctrl);
	struct ndsh_swr *d = &sq->ring[slot];

	/* The descriptor last and at once: the daemon polls its cache line all the time, and each
	 * poll takes the line away from this CPU. */
	if ((flags & (NDSH_WRF_INLINE | NDSH_WRF_SHORT)) == NDSH_WRF_INLINE) {
		if (wr->inline_bytes > 0)
			memcpy(sq->inl + (size_t)slot * NDSH_INLINE_STRIDE(sq->inline_max), data,
				wr->inline_bytes);
	} else if (nsge > 1) {
		memcpy(&sq->sge[(size_t)slot * sq->sge_max], sge, nsge * sizeof(*sge));
	}
	d->context = wr->context;
	d->raddr = wr->raddr;
	d->rkey = wr->rkey;
	d->imm = wr->imm;
	if (flags & NDSH_WRF_SHORT) {
		d->data[0] = wr->data[0];
		d->data[1] = wr->data[1];
	} else if (nsge == 1) {
		memcpy(&d->sge0, sge, sizeof(*sge));
	}
	d->data[2] = wr->data[2]; /* or arg */
	d->data[3] = wr->data[3];
	d->inline_bytes = wr->inline_bytes;
	ndsh_store32_release(&d->ctrl, wr->ctrl ^ ndsh_phase(sq->next, sq->depth) << 31);
	sq->next++;
}

void
ndsh_sq_show(struct ndsh_sq *sq, uint32_t n)
{
	for (uint32_t i = sq->next - n; i != sq->next; i++) {
		uint32_t *ctrl = &sq->ring[i & (sq->depth - 1)].ctrl;

		ndsh_store32_release(ctrl, ndsh_load32(ctrl) ^ NDSH_CTRL_PHASE);
	}
}

bool
ndsh_sq_ready(const struct ndsh_sq *sq)
{
	uint32_t slot = sq->next & (sq->depth - 1);
	uint32_t ctrl = ndsh_load32(&sq->ring[slot].ctrl);

	if (ctrl >> 31 != ndsh_phase(sq->next, sq->depth))
		return false;
	/* It was written before, by another CPU: let it come while the descriptor waits. */
	if ((NDSH_CTRL_FLAGS(ctrl) & (NDSH_WRF_INLINE | NDSH_WRF_SHORT)) == NDSH_WRF_INLINE)
		__builtin_prefetch(sq->inl + (size_t)slot * NDSH_INLINE_STRIDE(sq->inline_max));
	return true;
}

uint32_t
ndsh_sq_posted(const struct ndsh_sq *sq)
{
	return ndsh_slots_count(
		(struct ndsh_slots){&sq->ring->ctrl, sizeof(*sq->ring), sq->next, sq->depth});
}

void
ndsh_sq_skip(struct ndsh_sq *sq)
{
	sq->next += ndsh_sq_posted(sq);
}

#define BUT(flags) (NDSH_CTRL_FLAGS(~0u) & ~(flags))
#define ALWAYS	   (NDSH_WRF_SILENT | NDSH_WRF_FENCE)
#define DATA	   BUT(ALWAYS | NDSH_WRF_SOLICIT | NDSH_WRF_INLINE | NDSH_WRF_SHORT)

const uint16_t ndsh_op_forbidden[NDSH_OPS] = {
	[NDSH_OP_SEND] = DATA,
	[NDSH_OP_SEND_INV] = DATA,
	[NDSH_OP_SEND_IMM] = DATA,
	[NDSH_OP_WRITE] = DATA,
	[NDSH_OP_WRITE_IMM] = DATA,
	[NDSH_OP_READ] = BUT(ALWAYS | NDSH_WRF_SOLICIT | NDSH_WRF_LOCAL_INV),
	[NDSH_OP_CMP_SWAP] = BUT(ALWAYS),
	[NDSH_OP_FETCH_ADD] = BUT(ALWAYS),
	[NDSH_OP_BIND] = BUT(ALWAYS),
	[NDSH_OP_INVALIDATE] = BUT(ALWAYS),
	[NDSH_OP_FAST_REGISTER] = BUT(ALWAYS),
};

/* A window grants a peer what it says, and nothing else. */
static bool
window_access_ok(uint64_t arg)
{
	const uint32_t rights =
		NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC;

	return ((uint32_t)arg & ~rights) == 0;
}

/* R-FR-03. The library refuses the rest. */
static bool
fast_register_ok(uint64_t va, uint64_t bytes, uint64_t arg)
{
	const uint32_t rights =
		NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE;
	uint32_t access = NDSH_FRMR_ACCESS(arg), pages = NDSH_FRMR_PAGES(arg);

	if (arg >> 32 != 0 || NDSH_FRMR_LIST(arg) >= NDSH_FRMR_LISTS || pages == 0 ||
		pages > NDSH_FRMR_PAGES_MAX)
		return false;
	if ((access & ~rights) != 0 || !ndsh_access_ok(access))
		return false;
	return va + bytes > va && bytes <= pages * NDSH_PAGE_BYTES - va % NDSH_PAGE_BYTES;
}

bool
ndsh_op_arguments_ok(
	uint32_t op, uint32_t num_sge, uint32_t bytes, uint64_t raddr, uint64_t arg0, uint64_t arg1)
{
	switch (op) {
	case NDSH_OP_CMP_SWAP:
	case NDSH_OP_FETCH_ADD:
		return num_sge == 1 && bytes == sizeof(uint64_t);
	case NDSH_OP_BIND:
		return num_sge == 0 && window_access_ok(arg1);
	case NDSH_OP_FAST_REGISTER:
		return num_sge == 0 && fast_register_ok(raddr, arg0, arg1);
	default:
		return num_sge == 0;
	}
}

enum ndsh_fetch
ndsh_sq_fetch(struct ndsh_sq *sq, struct ndsh_send *out)
{
	enum ndsh_fetch got = ndsh_sq_look(sq, out);

	if (got != NDSH_FETCH_OK)
		return got;
	if (!ndsh_sq_take(
		    sq, out, (out->flags & NDSH_WRF_INLINE) ? (void *)out->inl : (void *)out->sge))
		return NDSH_FETCH_BROKEN;
	return NDSH_FETCH_OK;
}
