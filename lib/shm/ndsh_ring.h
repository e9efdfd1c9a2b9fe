/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ABI, part 2: what both sides do with the shared structures. No system call, no allocation, no
 * global: every function works on the memory that is given to it.
 */
#ifndef NDSH_RING_H
#define NDSH_RING_H

#include <stdbool.h>
#include <stddef.h>

#include "ndsh_abi.h"
#include "ndsh_shared.h"

/* ---- layouts: where the parts of a queue pair or CQ block lie ------------------------ */

struct ndsh_qp_layout {
	uint32_t sq_off, rq_off, sq_sge_off, rq_sge_off, inline_off;
	uint32_t total_bytes;
};
struct ndsh_qp_dims {
	uint32_t sq_depth, rq_depth; /* powers of two, 1..NDSH_DEPTH_MAX */
	uint32_t sq_sge, rq_sge;     /* 1..NDSH_SGE_MAX */
	uint32_t inline_bytes;	     /* 0..NDSH_INLINE_MAX */
};
/* False if a dimension is out of range; else *l is filled. Offsets are from the block's start,
 * which must be 64-byte aligned. */
bool ndsh_qp_layout(const struct ndsh_qp_dims *d, struct ndsh_qp_layout *l);
/* From one slot's inline bytes to the next slot's: whole words of 16 bytes. */
#define NDSH_INLINE_STRIDE(inline_bytes) (((inline_bytes) + 15u) & ~15u)
/* Bytes of a CQ block of depth entries, a power of two, 2..NDSH_CQ_DEPTH_MAX; else 0. */
uint32_t ndsh_cq_bytes(uint32_t depth);
/* Of a ring alone, for ndsh_cq_move(). */
uint32_t ndsh_cq_ring_bytes(uint32_t depth);
/* Bytes of a block of a shared receive queue; 0 if depth (a power of two, 1..NDSH_DEPTH_MAX) or sge
 * (1..NDSH_SGE_MAX) is out of range. */
uint32_t ndsh_srq_bytes(uint32_t depth, uint32_t sge);

/* ---- client: producing descriptors --------------------------------------------------- */

struct ndsh_sq { /* one side's view of a send ring */
	struct ndsh_swr *ring;
	struct ndsh_sge *sge; /* depth * sge_max, if sge_max > 1 */
	uint8_t *inl;	      /* depth * NDSH_INLINE_STRIDE(inline_max) */
	uint32_t depth, sge_max, inline_max;
	uint32_t next; /* private running index */
};
struct ndsh_rq {
	struct ndsh_rwr *ring;
	struct ndsh_sge *sge;
	uint32_t depth, sge_max;
	uint32_t next;
};
/* Make views of the block at base. */
void ndsh_sq_view(struct ndsh_sq *sq, void *base, const struct ndsh_qp_dims *d);
void ndsh_rq_view(struct ndsh_rq *rq, void *base, const struct ndsh_qp_dims *d);
void ndsh_srq_view(struct ndsh_rq *rq, void *base, uint32_t depth, uint32_t sge);
/*
 * Client, before it asks for SRQ_RESIZE: to, zeroed, gets the receives of from that are not taken,
 * at most to->depth of them, under their numbers; its other slots are empty for the numbers that
 * follow. The daemon may go on taking from the other ring meanwhile: what it takes there, it does
 * not look at here. Nothing is pushed before it has answered. to->sge_max >= from->sge_max.
 */
void ndsh_rq_carry(struct ndsh_rq *to, const struct ndsh_rq *from, uint32_t taken);
/* Daemon, between two messages: from now on rq is this ring, in which the client has carried over
 * what is not taken (or what it likes: it is read as any descriptor is). */
void ndsh_rq_exchange(struct ndsh_rq *rq, void *base, uint32_t depth);

/* Put a request in the next slot; the caller knows that it is free. wr->ctrl carries op, num_sge
 * and flags; sge has num_sge entries (unless INLINE: then data has inline_bytes; unless SHORT: then
 * wr->data has them). With NDSH_CTRL_PHASE in wr->ctrl the slot stays empty for the daemon until
 * ndsh_sq_show(), which fills the last n, or is taken back by subtracting from sq->next. */
void ndsh_sq_push(struct ndsh_sq *sq, const struct ndsh_swr *wr, const struct ndsh_sge *sge,
	const void *data);
void ndsh_sq_show(struct ndsh_sq *sq, uint32_t n);
void ndsh_rq_push(
	struct ndsh_rq *rq, uint64_t context, const struct ndsh_sge *sge, uint32_t num_sge);

/* ---- daemon: one untrusted descriptor into one checked private copy ------------------ */

struct ndsh_send { /* checked */
	uint64_t context, raddr;
	uint32_t rkey, imm;
	uint64_t arg[2]; /* of operations that have them */
	uint32_t bytes;	 /* sum of the SGEs, or inline bytes; at most 2^31 */
	uint8_t op;	 /* a known enum ndsh_op */
	uint8_t flags;
	uint8_t num_sge; /* 0 if INLINE */
	struct ndsh_sge sge[NDSH_SGE_MAX];
	_Alignas(8) uint8_t inl[NDSH_INLINE_MAX];
};
struct ndsh_recv {
	uint64_t context;
	uint32_t bytes; /* room, capped at 2^32-1 */
	uint8_t num_sge;
	struct ndsh_sge sge[NDSH_SGE_MAX];
};

enum ndsh_fetch {
	NDSH_FETCH_EMPTY,  /* nothing there */
	NDSH_FETCH_OK,	   /* *out is filled, the index moved on */
	NDSH_FETCH_BROKEN, /* the descriptor breaks the contract: the session's fault */
};
/* Is there a descriptor? No side effect: the daemon's cheap check of a ring. */
bool ndsh_sq_ready(const struct ndsh_sq *sq);
bool ndsh_rq_ready(const struct ndsh_rq *rq);
/* Are there at least n? Slots are filled in order, so one load tells. */
bool ndsh_rq_holds(const struct ndsh_rq *rq, uint32_t n);
/* How many are there, by a few loads. Of a client that fills slots out of order it is some number
 * of them, not more than there are slots. */
uint32_t ndsh_sq_posted(const struct ndsh_sq *sq);
/* Pass over all that are there, unread. */
void ndsh_sq_skip(struct ndsh_sq *sq);
void ndsh_rq_skip(struct ndsh_rq *rq);
/* Each shared byte is read once. Only num_sge entries of sge[] and bytes of inl[] (rounded up to
 * whole words) are written. BROKEN leaves the index where it is, and *out undefined.
 * ndsh_fetch.h is for callers with a place of their own for the data. */
enum ndsh_fetch ndsh_sq_fetch(struct ndsh_sq *sq, struct ndsh_send *out);
enum ndsh_fetch ndsh_rq_fetch(struct ndsh_rq *rq, struct ndsh_recv *out);
/* The same in two steps, for callers that find room for the SGEs once they know how many there are.
 * The first changes nothing; on OK the second may follow, with that number. It returns bytes, as
 * above. */
enum ndsh_fetch ndsh_rq_look(const struct ndsh_rq *rq, uint32_t *num_sge);
uint32_t ndsh_rq_take(
	struct ndsh_rq *rq, uint32_t num_sge, struct ndsh_sge *sge, uint64_t *context);

/* ---- admin ring ---------------------------------------------------------------------- */

struct ndsh_admin { /* one side's view */
	struct ndsh_admin_request *ring;
	uint32_t depth;
	uint32_t next; /* private running index */
};
/* Bytes of a ring of depth requests, a power of two, 1..NDSH_ADMIN_DEPTH_MAX; else 0. */
uint32_t ndsh_admin_bytes(uint32_t depth);
void ndsh_admin_view(struct ndsh_admin *a, void *base, uint32_t depth);
/* Client: put a request in the next slot, which is free; ctrl has the op. Then
 * ndsh_doorbell_ring_admin(). */
void ndsh_admin_push(struct ndsh_admin *a, const struct ndsh_admin_request *r);
/* Daemon: false if there is none; else a private copy, each shared byte read once, those that are
 * reserved not at all. Nothing in it is checked. */
bool ndsh_admin_fetch(struct ndsh_admin *a, struct ndsh_admin_request *out);

/* ---- memory windows, fast-register regions ------------------------------------------- */

/*
 * The token of a window in its generation-th bind, or of a fast-register region in its
 * generation-th registration. The client that posts the request computes the token by itself; a
 * peer that saw earlier ones can't. It differs from those of the generations before and after.
 */
uint32_t ndsh_window_token(uint32_t slot, uint64_t secret, uint32_t generation);

/* ---- completion queue ---------------------------------------------------------------- */

struct ndsh_cq { /* daemon's view, indices private */
	struct ndsh_cq_page *page;
	struct ndsh_cqe *ring;
	uint32_t depth;
	uint32_t fault; /* NDSH_CQ_*; ndsh_cq_push() sets OVERRUN, the owner may set FATAL */
	uint64_t produced, solicited;
	uint64_t consumer; /* as last read from the page */
	uint64_t origin;   /* number of the entry that was the first in this ring */
	uint32_t rings;	   /* rings given up so far */
};
void ndsh_cq_view(struct ndsh_cq *cq, void *base, uint32_t depth);
/* The client's consumer is read only when the entries known to be free are used up. A wrong
 * value, ahead of produced, leaves no room by this arithmetic: that client's queue overruns. */
bool ndsh_cq_look_for_room(struct ndsh_cq *cq);

#define NDSH_CQE_LAST_WORD offsetof(struct ndsh_cqe, status)
static_assert(NDSH_CQE_LAST_WORD == 28, "the word with the phase ends the entry");

/*
 * Make an entry (its phase is set here). False: the queue overran now or is dead since earlier
 * (cq->fault says which); nothing was written. A function of this header, so that the caller's
 * entry never stands in memory: a field stored and read back as part of a wider word stalls.
 */
static inline bool
ndsh_cq_push(struct ndsh_cq *cq, const struct ndsh_cqe *cqe)
{
	uint64_t i = cq->produced - cq->origin;
	struct ndsh_cqe *slot = &cq->ring[i & (cq->depth - 1)];
	uint32_t flags = cqe->flags & ~(uint32_t)NDSH_CQEF_PHASE;

	if ((cq->fault != NDSH_CQ_OK || cq->produced - cq->consumer >= cq->depth) &&
		!ndsh_cq_look_for_room(cq))
		return false;
	if (ndsh_phase(i, cq->depth))
		flags |= NDSH_CQEF_PHASE;
	ndsh_store64(&slot->context, cqe->context);
	ndsh_store32(&slot->qp, cqe->qp);
	ndsh_store32(&slot->bytes, cqe->bytes);
	ndsh_store32(&slot->data, cqe->data);
	ndsh_store32(&slot->slot_count, cqe->slot_count);
	ndsh_store32(&slot->syndrome, cqe->syndrome);
	ndsh_store32_release((uint8_t *)slot + NDSH_CQE_LAST_WORD,
		cqe->status | (uint32_t)cqe->op << 8 | flags << 24);
	cq->produced++;
	if ((flags & NDSH_CQEF_SOLICITED) || cqe->status != NDSH_WC_SUCCESS) /* R-CQ-03 */
		cq->solicited = cq->produced;
	return true;
}
/* Publish produced/solicited/fault after the entries of a turn. The caller then issues ONE full
 * barrier (ndsh_full_barrier()) for all CQs of the turn and calls ndsh_cq_fire() on each. */
void ndsh_cq_publish(struct ndsh_cq *cq);
/* Judge the arm word: true if this side won the swap {t,N}->{NONE,P}, i.e. a wake-up is due. */
bool ndsh_cq_fire(struct ndsh_cq *cq);

struct ndsh_cq_reader { /* client's view */
	struct ndsh_cq_page *page;
	const struct ndsh_cqe *ring;
	uint32_t depth;
	uint64_t taken;
	uint64_t origin;	       /* as in ndsh_cq */
	struct {		       /* the ring to come */
		struct ndsh_cqe *ring; /* NULL: none */
		uint32_t depth;
		uint32_t number;  /* page->rings once it is in use */
		uint64_t carried; /* entries before this one are copied, or taken */
	} next;
};
void ndsh_cq_reader_view(struct ndsh_cq_reader *r, void *base, uint32_t depth);
/* Take one entry, and later give the slots of all that were taken back. */
bool ndsh_cq_take(struct ndsh_cq_reader *r, struct ndsh_cqe *out);
void ndsh_cq_taken(struct ndsh_cq_reader *r);
/* Take up to n entries; returns how many. Moves page->consumer, and if there are none leaves its
 * line to the daemon. One thread at a time. */
uint32_t ndsh_cq_poll(struct ndsh_cq_reader *r, struct ndsh_cqe *out, uint32_t n);
enum ndsh_arm_result {
	NDSH_ARMED,	/* a wake-up will come */
	NDSH_ARM_FIRED, /* satisfied at once by this side: no wake-up will come for it */
	NDSH_ARM_FAULT, /* the CQ is dead: page->fault says why */
};
/* Arm, joining with an earlier arm (R-CQ-18), and satisfy at once if an untaken entry is newer than
 * the last notification (R-CQ-12..15; not for ERRORS). *before, if not NULL: what it joined with;
 * NDSH_ARM_NONE: nothing, so an earlier arm has fired by now. */
enum ndsh_arm_result ndsh_cq_arm(
	struct ndsh_cq_reader *r, enum ndsh_arm type, enum ndsh_arm *before);
/* What is armed now. */
enum ndsh_arm ndsh_cq_armed(const struct ndsh_cq_reader *r);
/* Take the arm back (R-CQ-34); true if there was one (else a wake-up is already on its way). */
bool ndsh_cq_disarm(struct ndsh_cq_reader *r);
/* A notification is being given now: nothing is armed, and all that was made is old (R-CQ-25). */
void ndsh_cq_mark(struct ndsh_cq_reader *r);
/* For a client that holds a notification back, that is, while its arm is NONE: entries made so far;
 * how many of them would not satisfy a new arm. */
uint64_t ndsh_cq_made(const struct ndsh_cq_reader *r);
uint64_t ndsh_cq_old(const struct ndsh_cq_reader *r);
/* Is one of the entries behind the first from, up to to, a failed one? Taken ones don't count. */
bool ndsh_cq_has_failed(const struct ndsh_cq_reader *r, uint64_t from, uint64_t to);
/* Arm for entries behind the first seen. True: there is such an entry, or a fault, already; it
 * stays armed all the same. */
bool ndsh_cq_watch(struct ndsh_cq_reader *r, enum ndsh_arm type, uint64_t seen);

/* ---- resizing a completion queue (ndsh_resize.c has the order) ---- */

/* Daemon, between two pushes: from the next entry on use this ring, zeroed, of depth >= entries.
 * False, and nothing changed: more than entries are not yet taken (R-RSZ-01). */
bool ndsh_cq_move(struct ndsh_cq *cq, void *ring, uint32_t depth, uint32_t entries);
/* Client, before it asks the daemon: this ring may follow; polling goes there when it does. One
 * exchange at a time. */
void ndsh_cq_expect(struct ndsh_cq_reader *r, void *ring, uint32_t depth);
enum ndsh_settle {
	NDSH_SETTLED,	/* the ring before is not used any more */
	NDSH_SETTLING,	/* call again */
	NDSH_SETTLE_NOT /* the daemon did not move: the new ring is forgotten */
};
/* Client, after the daemon's answer, or its end: carry at most n entries over from the ring before.
 * Between two calls others may poll; calls and polls are for one thread at a time. */
enum ndsh_settle ndsh_cq_settle(struct ndsh_cq_reader *r, uint32_t n);
/* Where an entry lies that is made, published and not yet taken. */
const struct ndsh_cqe *ndsh_cq_entry(const struct ndsh_cq_reader *r, uint64_t number);
/* For ndsh_cq_poll(): nothing is there; true: look again. */
bool ndsh_cq_follow(struct ndsh_cq_reader *r);

/* ---- doorbells ----------------------------------------------------------------------- */

/* Client, after ndsh_sq_push(): true if the wake fd must be written. doorbell: the queue pair's,
 * ndsh_doorbell_of(). */
bool ndsh_doorbell_ring(struct ndsh_session_page *s, struct ndsh_qp_page *qp, uint32_t doorbell);
/* The doorbell of a queue pair with this session-local number. */
static inline uint32_t
ndsh_doorbell_of(uint32_t qp_index)
{
	return qp_index % NDSH_DOORBELLS;
}
/* The same for the admin ring, after ndsh_admin_push(): the daemon never polls it. */
bool ndsh_doorbell_ring_admin(struct ndsh_session_page *s);
/* Daemon, once per turn: take the summary (one plain load if no bit is set); the value is for
 * ndsh_doorbell_take(). What is rung after this call waits for the next turn: work is bounded. */
uint64_t ndsh_doorbell_begin(struct ndsh_session_page *s);
/* Daemon: take the rung bits of the next word, *word (0..63); false if none is left this time. */
bool ndsh_doorbell_take(
	struct ndsh_session_page *s, uint64_t *summary, uint32_t *word, uint64_t *bits);
/* Daemon, when it no longer polls any send ring of the session: it stops polling the summary, too,
 * and a client that rings writes the wake fd. False: the client rang meanwhile, the session stays
 * awake. */
bool ndsh_doorbell_sleep(struct ndsh_session_page *s);
void ndsh_doorbell_awake(struct ndsh_session_page *s);

/*
 * The full barrier of this ABI: a store before it is visible to all CPUs before a load after it is
 * done. x86: a locked instruction on a private word (cheaper than mfence). arm64: dmb ish; there an
 * exchange on another word would not do, ldaxr/stlxr let a later load pass an earlier store.
 */
static inline void
ndsh_full_barrier(void)
{
#if defined(__x86_64__)
	uint32_t w = 0;

	(void)__atomic_exchange_n(&w, 1, __ATOMIC_SEQ_CST);
	__asm__ volatile("" : : "r"(&w) : "memory"); /* the word escapes: the exchange stays */
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

#endif
