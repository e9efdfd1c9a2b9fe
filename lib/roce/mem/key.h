/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What keys open: regions and windows of all kinds, and who may go through them.
 */
#ifndef ROCE_KEY_H
#define ROCE_KEY_H

#include <assert.h>

#include "roce/roce.h"
#include "roce/queue/wqe.h"

struct roce_mover;

enum roce_mr_kind { ROCE_MR_FREE, ROCE_MR_REGION, ROCE_MR_WINDOW, ROCE_MR_FRMR, ROCE_MR_ARENA };

/* A fast-register region's own part, in memory of the host. */
struct roce_frmr {
	const struct roce_arena *arena;
	const uint64_t *lists; /* shared with the client: each word is read once */
	uint32_t max_pages;
	uint32_t local_key;
	bool remote;
	uint64_t page[]; /* client's addresses: no pointer that could outlive its memory */
};

/*
 * What a key opens. A window that is not bound has no rights, so its last key opens nothing. Kinds
 * whose memory is not in one piece never have any here: roce_mr_access() refuses them, as it does
 * all that is wrong, and only then fast_register.c is asked. So they cost the others nothing.
 */
struct roce_mr {
	union {
		uint8_t *host;
		struct roce_frmr *fr;		/* FAST */
		const struct roce_arena *arena; /* ARENA */
		struct roce_mover *mover;	/* REGION and WINDOW with rights but no access */
	};
	uint64_t va, bytes;
	uint32_t key;
	uint32_t pd;
	uint32_t qpn;	/* windows: only the peer of this queue pair may come; 0: not bound */
	uint8_t access; /* NDSH_ACCESS_*, ROCE_ACCESS_LOCAL_READ; 0: nobody may do anything */
	uint8_t kind;	/* enum roce_mr_kind */
	/* As access, of memory that the host has no pointer to: then access is 0, and who asks for
	 * one is refused without a question more. FAST: 0 if it is not registered. */
	uint8_t rights;
	uint8_t reserved;
	union {
		uint32_t next_free;
		uint32_t windows; /* regions: how many are bound to it */
		uint32_t region;  /* bound windows: its index */
	};
	uint32_t next, prev; /* bound windows: others of the queue pair */
	uint32_t generation; /* WINDOW, FAST: of the last bind */
	uint64_t secret;     /* WINDOW, FAST: tokens follow from it */
};
static_assert(sizeof(struct roce_mr) == 64, "one cache line");

#define ROCE_ACCESS_LOCAL_READ 0x80u /* every region grants it, no window does */
static_assert(ROCE_ACCESS_LOCAL_READ > NDSH_ACCESS_MASK, "a right of its own");

/* mr.c: the one place where a key becomes a pointer, for qp or for its peer. NULL: refused. */
uint8_t *roce_mr_access(struct roce_shard *s, const struct roce_qp *qp, uint32_t key, uint64_t va,
	uint64_t bytes, uint32_t right);
struct roce_mr *roce_mr_take(struct roce_shard *s, uint32_t pd);
void roce_mr_give(struct roce_shard *s, struct roce_mr *mr);
/* What is in the slot that key names. */
struct roce_mr *roce_mr_slot(struct roce_shard *s, uint32_t key);
/* By either side of qp; false: there is nothing with this token that this side may invalidate. */
bool roce_mr_invalidate(struct roce_shard *s, struct roce_qp *qp, uint32_t token, bool by_peer);
uint32_t roce_mr_new_key(struct roce_shard *s, const struct roce_mr *mr);

/* mw.c */
enum roce_bind_result { ROCE_BIND_OK, ROCE_BIND_REFUSED, ROCE_BIND_BREACH };
enum roce_bind_result roce_mw_bind(
	struct roce_shard *s, struct roce_qp *qp, const struct roce_wqe *w);
/* False: it is not bound through qp. */
bool roce_mw_invalidate(struct roce_shard *s, struct roce_qp *qp, struct roce_mr *mw);
void roce_mw_unbind_all(struct roce_shard *s, struct roce_qp *qp);

/* fast_register.c */
enum roce_frmr_result { ROCE_FRMR_OK, ROCE_FRMR_REFUSED, ROCE_FRMR_BAD_PAGE, ROCE_FRMR_BREACH };
enum roce_frmr_result roce_frmr_register(
	struct roce_shard *s, const struct roce_qp *qp, const struct roce_wqe *w);
/* What roce_mr_access() refused may be memory in pieces. Is [va, va+bytes) inside it? */
bool roce_frmr_permits(struct roce_shard *s, const struct roce_qp *qp, uint32_t key, uint64_t va,
	uint64_t bytes, uint32_t right);
/* Its first piece, in the host's memory; *bytes is cut to that. NULL: refused. */
uint8_t *roce_frmr_piece(struct roce_shard *s, const struct roce_qp *qp, uint32_t key, uint64_t va,
	uint32_t *bytes, uint32_t right);
/* Is it one, registered, that this side calls key? */
struct roce_mr *roce_frmr_of_local(struct roce_shard *s, const struct roce_qp *qp, uint32_t key);
bool roce_frmr_is(struct roce_shard *s, uint32_t token);

/* The first piece of what key opens, pointer or pages; *bytes is cut to that. NULL: refused. */
uint8_t *roce_mr_piece(struct roce_shard *s, const struct roce_qp *qp, uint32_t key, uint64_t va,
	uint32_t *bytes, uint32_t right);
/* Does key open it, in whatever kind of memory? */
bool roce_mr_permits(struct roce_shard *s, const struct roce_qp *qp, uint32_t key, uint64_t va,
	uint64_t bytes, uint32_t right);
/* Whose mover moves it? NULL: nobody's, or refused. */
struct roce_mover *roce_mr_mover(struct roce_shard *s, const struct roce_qp *qp, uint32_t key,
	uint64_t va, uint64_t bytes, uint32_t right);

#endif
