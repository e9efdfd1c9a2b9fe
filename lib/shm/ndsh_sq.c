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

#include "ndsh_op.h"
#include "ndsh_ring.h"
#include "ndsh_shared.h"

#define MESSAGE_MAX (1ull << 31) /* IBTA: longest message */

void
ndsh_sq_push(
	struct ndsh_sq *sq, const struct ndsh_swr *wr, const struct ndsh_sge *sge, const void *data)
{
	uint32_t slot = sq->next & (sq->depth - 1);
	uint32_t nsge = NDSH_CTRL_NSGE(wr->ctrl);
	uint32_t flags = NDSH_CTRL_FLAGS(wr->ctrl);
	struct ndsh_swr *d = &sq->ring[slot];

	/* The descriptor last and at once: the daemon looks at its line all the time, and each look
	 * takes it away from who writes there. */
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
	ndsh_store32_release(
		&d->ctrl, (wr->ctrl & ~NDSH_CTRL_PHASE) | ndsh_phase(sq->next, sq->depth) << 31);
	sq->next++;
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

static bool
op_takes_inline(uint32_t op)
{
	return op == NDSH_OP_SEND || op == NDSH_OP_SEND_INV || op == NDSH_OP_SEND_IMM ||
	       op == NDSH_OP_WRITE || op == NDSH_OP_WRITE_IMM;
}

static bool
ctrl_ok(uint32_t ctrl, uint32_t sge_max)
{
	uint32_t op = NDSH_CTRL_OP(ctrl), flags = NDSH_CTRL_FLAGS(ctrl),
		 nsge = NDSH_CTRL_NSGE(ctrl);

	if (op < NDSH_OP_SEND || op > NDSH_OP_FAST_REGISTER || (flags & ~NDSH_WRF_MASK) != 0)
		return false;
	if (nsge > sge_max || nsge > NDSH_SGE_MAX)
		return false;
	if (ndsh_op_is_local(op))
		return nsge == 0 && (flags & ~(NDSH_WRF_SILENT | NDSH_WRF_FENCE)) == 0;
	if (ndsh_op_is_atomic(op))
		return nsge == 1 && (flags & ~(NDSH_WRF_SILENT | NDSH_WRF_FENCE)) == 0;
	if ((flags & NDSH_WRF_LOCAL_INV) && op != NDSH_OP_READ)
		return false;
	if ((flags & NDSH_WRF_SHORT) && !(flags & NDSH_WRF_INLINE))
		return false;
	return !(flags & NDSH_WRF_INLINE) || op_takes_inline(op);
}

/* A window grants a peer what it says, and nothing else. */
static bool
window_access_ok(uint64_t arg)
{
	return ((uint32_t)arg & ~(uint32_t)(NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE)) ==
	       0;
}

/* R-FR-03. The library refuses the rest. */
static bool
fast_register_ok(const struct ndsh_send *d)
{
	const uint32_t rights =
		NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE;
	uint32_t access = NDSH_FR_ACCESS(d->arg[1]), pages = NDSH_FR_PAGES(d->arg[1]);

	if (d->arg[1] >> 32 != 0 || NDSH_FR_LIST(d->arg[1]) >= NDSH_FR_LISTS || pages == 0 ||
		pages > NDSH_FR_PAGES_MAX)
		return false;
	if ((access & ~rights) != 0 || !ndsh_access_ok(access))
		return false;
	return d->arg[0] > 0 && d->raddr + d->arg[0] > d->raddr &&
	       d->arg[0] <= pages * NDSH_PAGE_BYTES - d->raddr % NDSH_PAGE_BYTES;
}

static bool
arguments_ok(uint32_t op, const struct ndsh_send *d)
{
	if (ndsh_op_is_atomic(op))
		return d->bytes == sizeof(uint64_t);
	if (op == NDSH_OP_BIND)
		return window_access_ok(d->arg[1]);
	return op != NDSH_OP_FAST_REGISTER || fast_register_ok(d);
}

/* The inline area of a slot is padded to the stride, so whole words may be read. */
static bool
fetch_inline(const struct ndsh_sq *sq, uint32_t slot, uint32_t flags, struct ndsh_send *out)
{
	const struct ndsh_swr *shared = &sq->ring[slot];
	bool is_short = flags & NDSH_WRF_SHORT;
	const void *from = is_short ? (const uint8_t *)shared->data :
				      sq->inl + (size_t)slot * NDSH_INLINE_STRIDE(sq->inline_max);
	uint32_t bytes = ndsh_load32(&shared->inline_bytes);

	if (bytes > sq->inline_max || bytes > (is_short ? NDSH_SHORT_MAX : NDSH_INLINE_MAX))
		return false;
	ndsh_copy_in(out->inl, from, (bytes + 7) & ~7u);
	out->num_sge = 0;
	out->bytes = bytes;
	return true;
}

static bool
fetch_sges(const struct ndsh_sge *from, struct ndsh_send *out, uint32_t nsge)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < nsge; i++)
		sum += ndsh_sge_in(&out->sge[i], &from[i]);
	out->num_sge = (uint8_t)nsge;
	out->bytes = (uint32_t)sum;
	return sum <= MESSAGE_MAX;
}

static bool
fetch_data(const struct ndsh_sq *sq, uint32_t slot, uint32_t ctrl, struct ndsh_send *out)
{
	const struct ndsh_swr *shared = &sq->ring[slot];
	uint32_t nsge = NDSH_CTRL_NSGE(ctrl);

	if (NDSH_CTRL_FLAGS(ctrl) & NDSH_WRF_INLINE)
		return fetch_inline(sq, slot, NDSH_CTRL_FLAGS(ctrl), out);
	return fetch_sges(
		nsge == 1 ? &shared->sge0 : &sq->sge[(size_t)slot * sq->sge_max], out, nsge);
}

enum ndsh_fetch
ndsh_sq_fetch(struct ndsh_sq *sq, struct ndsh_send *out)
{
	uint32_t slot = sq->next & (sq->depth - 1);
	const struct ndsh_swr *shared = &sq->ring[slot];
	uint32_t ctrl = ndsh_load32_acquire(&shared->ctrl), op = NDSH_CTRL_OP(ctrl);

	if (ctrl >> 31 != ndsh_phase(sq->next, sq->depth))
		return NDSH_FETCH_EMPTY;
	if (!ctrl_ok(ctrl, sq->sge_max) || !fetch_data(sq, slot, ctrl, out))
		return NDSH_FETCH_BROKEN;
	out->context = ndsh_load64(&shared->context);
	out->raddr = ndsh_load64(&shared->raddr);
	out->rkey = ndsh_load32(&shared->rkey);
	out->imm = ndsh_load32(&shared->imm);
	if (!(NDSH_CTRL_FLAGS(ctrl) & NDSH_WRF_INLINE)) { /* else they may be payload */
		out->arg[0] = ndsh_load64(&shared->arg[0]);
		out->arg[1] = ndsh_load64(&shared->arg[1]);
	}
	if (!arguments_ok(op, out))
		return NDSH_FETCH_BROKEN;
	out->op = (uint8_t)op;
	out->flags = (uint8_t)NDSH_CTRL_FLAGS(ctrl);
	sq->next++;
	return NDSH_FETCH_OK;
}
