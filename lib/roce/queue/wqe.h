/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests in flight: what became of a descriptor.
 */
#ifndef ROCE_WQE_H
#define ROCE_WQE_H

#include <assert.h>

#include "shm/ndsh_ring.h"

#define ROCE_WQE_SGE	4u /* in the request itself; more are in an extension */
#define ROCE_WQE_INLINE 64u

union roce_wqe_ext { /* for the few requests that do not fit */
	struct ndsh_sge sge[NDSH_SGE_MAX];
	uint8_t inl[NDSH_INLINE_MAX];
	union roce_wqe_ext *next;
};

enum {				   /* roce_wqe.bits */
	ROCE_WQB_ISSUED = 1u << 0, /* its first packet was sent once; a local operation: done */
	ROCE_WQB_DUE = 1u << 1,	   /* completes, or fails, as soon as it is the oldest */
	ROCE_WQB_PROBE = 1u << 2,  /* by keepalive.c: no client posted it, none is told of it */
};

/* Arguments of a BIND. */
struct roce_bind {
	uint64_t bytes;
	uint32_t access, region; /* token */
	uint32_t generation;
};

/* Arguments of a FAST_REGISTER. */
struct roce_frmr_args {
	uint64_t bytes;
	uint32_t pages, generation;
	uint8_t access, list;
};

/* The SGE and the operands of an atomic. */
struct roce_atomic {
	struct ndsh_sge sge;
	uint64_t swap_add, compare;
};

/*
 * A checked private copy of a descriptor. It lives until the request is acknowledged, so that
 * go-back-N never reads the client's ring again. Receives use it too, while a message arrives.
 */
struct roce_wqe {
	struct roce_wqe *next;
	uint64_t context;
	uint64_t raddr;
	uint32_t rkey;
	uint32_t bytes;		  /* of the message; a receive: room */
	uint32_t first_psn, npsn; /* npsn 0: a local operation */
	uint32_t retry_psn;	  /* READ: from where it was last sent (W-COMP-09) */
	uint8_t op, flags, num_sge, bits;
	uint8_t fault; /* enum ndsh_wc_status: fails when its turn to complete comes */
	uint8_t fault_reason;
	uint8_t reserved[2];
	union {
		uint32_t imm;	    /* as it goes on the wire */
		uint32_t asked_psn; /* READ: behind the last response that was asked for */
	};
	union roce_wqe_ext *ext;
	union {
		struct ndsh_sge sge[ROCE_WQE_SGE];
		uint8_t inl[ROCE_WQE_INLINE];
		struct roce_bind bind;
		struct roce_frmr_args frmr;
		struct roce_atomic atomic;
	};
};
static_assert(sizeof(struct roce_wqe) == 128, "two cache lines");

static inline const struct ndsh_sge *
roce_wqe_sge(const struct roce_wqe *w)
{
	return w->ext != NULL ? w->ext->sge : w->sge;
}

static inline const uint8_t *
roce_wqe_inline(const struct roce_wqe *w)
{
	return w->ext != NULL ? w->ext->inl : w->inl;
}

/* Where in its scatter/gather list byte pos of a message lies, so that the next packet need not
 * walk the list. */
struct roce_sge_pos {
	const struct roce_wqe *wqe;
	uint32_t pos, off, idx;
};

#endif
