/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Daemon: one untrusted descriptor of a send ring into one checked private copy, in two steps. The
 * first gives kind and size, so that the caller can find room; the second puts the data right
 * there. They are functions of a header, so that their results need not be stored in memory in
 * between.
 */
#ifndef NDSH_FETCH_H
#define NDSH_FETCH_H

#include "ndsh_op.h"
#include "ndsh_ring.h"

#define NDSH_MESSAGE_MAX (1ull << 31) /* IBTA: longest message */

#define NDSH_OPS (NDSH_OP_FAST_REGISTER + 1)
/* Flags (NDSH_CTRL_FLAGS()) that a descriptor of each operation must not have. */
extern const uint16_t ndsh_op_forbidden[NDSH_OPS];

/* May an operation that has arguments have these, and that many SGEs for so many bytes? */
bool ndsh_op_arguments_ok(uint32_t op, uint32_t num_sge, uint32_t bytes, uint64_t raddr,
	uint64_t arg0, uint64_t arg1);

/* Where an inline payload stands. In the inline area it is padded to the stride: of both, whole
 * words may be read. */
static inline const void *
ndsh_sq_payload(const struct ndsh_sq *sq, uint32_t slot, uint32_t flags)
{
	if (flags & NDSH_WRF_SHORT)
		return sq->ring[slot].data;
	return sq->inl + (size_t)slot * NDSH_INLINE_STRIDE(sq->inline_max);
}

/* How many bytes that may be; a payload that is SHORT is INLINE as well. */
static inline bool
ndsh_sq_payload_fits(const struct ndsh_sq *sq, uint32_t bytes, uint32_t flags)
{
	uint32_t most = (flags & NDSH_WRF_SHORT) ? NDSH_SHORT_MAX : NDSH_INLINE_MAX;

	return (flags & NDSH_WRF_INLINE) && bytes <= sq->inline_max && bytes <= most;
}

/* OK: *out has op, flags and num_sge, and if INLINE its bytes; nothing is taken yet. */
static inline enum ndsh_fetch
ndsh_sq_look(const struct ndsh_sq *sq, struct ndsh_send *out)
{
	const struct ndsh_swr *shared = &sq->ring[sq->next & (sq->depth - 1)];
	uint32_t ctrl = ndsh_load32_acquire(&shared->ctrl);
	uint32_t op = NDSH_CTRL_OP(ctrl), flags = NDSH_CTRL_FLAGS(ctrl);
	uint32_t nsge = NDSH_CTRL_NSGE(ctrl);

	if (ctrl >> 31 != ndsh_phase(sq->next, sq->depth))
		return NDSH_FETCH_EMPTY;
	if (op == 0 || op >= NDSH_OPS || (flags & ndsh_op_forbidden[op]) != 0)
		return NDSH_FETCH_BROKEN;
	if (nsge > sq->sge_max)
		return NDSH_FETCH_BROKEN;
	out->op = (uint8_t)op;
	out->flags = (uint8_t)flags;
	out->num_sge = (uint8_t)nsge;
	out->bytes = 0;
	if (flags & (NDSH_WRF_INLINE | NDSH_WRF_SHORT)) {
		out->num_sge = 0;
		out->bytes = ndsh_load32(&shared->inline_bytes);
		if (!ndsh_sq_payload_fits(sq, out->bytes, flags))
			return NDSH_FETCH_BROKEN;
	}
	return NDSH_FETCH_OK;
}

/*
 * After ndsh_sq_look(): the rest of *out, but for sge[] and inl[]; these go to data, where num_sge
 * SGEs have room, or as many whole words as bytes need. False: it breaks the contract, and the
 * index stays where it is.
 */
static inline bool
ndsh_sq_take(struct ndsh_sq *sq, struct ndsh_send *out, void *data)
{
	uint32_t slot = sq->next & (sq->depth - 1);
	const struct ndsh_swr *shared = &sq->ring[slot];
	uint64_t sum = out->bytes;

	if (out->flags & NDSH_WRF_INLINE) {
		ndsh_copy_in(data, ndsh_sq_payload(sq, slot, out->flags), (out->bytes + 7) / 8);
	} else if (out->num_sge == 1) {
		sum = ndsh_sge_in(data, &shared->sge0);
	} else {
		for (uint32_t i = 0; i < out->num_sge; i++)
			sum += ndsh_sge_in((struct ndsh_sge *)data + i,
				&sq->sge[(size_t)slot * sq->sge_max + i]);
	}
	if (sum > NDSH_MESSAGE_MAX)
		return false;
	out->bytes = (uint32_t)sum;
	out->context = ndsh_load64(&shared->context);
	out->raddr = ndsh_load64(&shared->raddr);
	out->rkey = ndsh_load32(&shared->rkey);
	out->imm = ndsh_load32(&shared->imm);
	if (ndsh_op_has_arguments(out->op)) {
		out->arg[0] = ndsh_load64(&shared->arg[0]);
		out->arg[1] = ndsh_load64(&shared->arg[1]);
		if (!ndsh_op_arguments_ok(out->op, out->num_sge, out->bytes, out->raddr,
			    out->arg[0], out->arg[1]))
			return false;
	}
	sq->next++;
	return true;
}

#endif
