/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ABI between dpdk-ndd and its clients, part 1: what lies in shared memory.
 *
 * Each structure says which side writes what, and in which order. The daemon trusts nothing here:
 * it keeps its own indices, copies a descriptor once and checks the copy (ndsh_ring.h).
 * Little-endian 64-bit machines only, both sides of a session run on one machine.
 */
#ifndef NDSH_ABI_H
#define NDSH_ABI_H

#include <assert.h>
#include <stdint.h>

#define NDSH_ABI_MAJOR 2u /* differs: refused */
#define NDSH_ABI_MINOR                                                                             \
	17u /* additions that an older side ignores:
			    * 1: memory windows, BIND; 2: shared receive queues;
			    * 3: the admin ring, the way to register; shared endpoints,
			    * LISTENER_PAUSE, sending immediates;
			    * 4: completion queues' resizing and affinity;
			    * 5: fast-register regions, privileged tokens;
			    * 6: memory behind movers, atomics;
			    * 7: datagrams, atomics on memory behind movers,
			    * queue pairs' states and attributes, segments of any
			    * number of pages, events;
			    * 8: ROUTE, ADDRESS_PAGE, events of addresses,
			    * congestion control;
			    * 9: payloads in the descriptor itself;
			    * 10: copy commands that fail;
			    * 11: multicast groups; 12: EV_REFUSAL;
			    * 13: listeners that are bound first, ADAPTER, the
			    * addresses of one adapter, shared receive queues'
			    * affinity, queues deeper than NDSH_DEPTH_BEFORE,
			    * SRQ_RESIZE;
			    * 14: connections by numbers;
			    * 15: more queue pairs than doorbells, datagram
			    * services by numbers, windows with keys of the
			    * client's;
			    * 16: unreliable connections;
			    * 17: regions with an iova */
/* The oldest minor version that has each addition. An older daemon takes what it doesn't know for a
 * broken message, or ignores it: a client checks the daemon's version before it uses an addition.
 */
#define NDSH_MINOR_WINDOWS	 1u
#define NDSH_MINOR_BIND		 1u
#define NDSH_MINOR_ADMIN	 3u
#define NDSH_MINOR_ENDPOINTS	 3u
#define NDSH_MINOR_PAUSE	 3u
#define NDSH_MINOR_OPEN_FLAGS	 3u
#define NDSH_MINOR_IMMEDIATES	 3u
#define NDSH_MINOR_CQ_RESIZE	 4u
#define NDSH_MINOR_CQ_AFFINITY	 4u
#define NDSH_MINOR_FAST_REGISTER 5u
#define NDSH_MINOR_TOKENS	 5u
#define NDSH_MINOR_LOCAL_INV	 5u
#define NDSH_MINOR_MOVERS	 6u
#define NDSH_MINOR_ATOMICS	 6u
#define NDSH_MINOR_UD		 7u
#define NDSH_MINOR_MOVED_ATOMICS 7u
#define NDSH_MINOR_QP_MODIFY	 7u
#define NDSH_MINOR_ADOPTION	 7u
#define NDSH_MINOR_EVENTS	 7u
#define NDSH_MINOR_ROUTE	 8u
#define NDSH_MINOR_ECN		 8u
#define NDSH_MINOR_ADDRESS_PAGE	 8u
#define NDSH_MINOR_SHORT	 9u
#define NDSH_MINOR_FAILED_MOVES	 10u
#define NDSH_MINOR_MULTICAST	 11u
#define NDSH_MINOR_REFUSAL	 12u
#define NDSH_MINOR_LISTENER_BIND 13u
#define NDSH_MINOR_ADAPTER	 13u
#define NDSH_MINOR_SRQ_AFFINITY	 13u
#define NDSH_MINOR_DEEP_QUEUES	 13u
#define NDSH_MINOR_CM		 14u
#define NDSH_MINOR_MANY_QPS	 15u
#define NDSH_MINOR_CM_SERVICES	 15u
#define NDSH_MINOR_KEYED_WINDOWS 15u
#define NDSH_MINOR_UC		 16u
#define NDSH_MINOR_IOVA		 17u

#define NDSH_CACHE_LINE	  64u
#define NDSH_SEGMENT_UNIT (2u << 20) /* segments that the library allocates from */

/* Limits that both sides know; the daemon may grant less (ndsh_msg.h, ADAPTER INFO). */
#define NDSH_SGE_MAX	16u
#define NDSH_INLINE_MAX 256u
#define NDSH_SHORT_MAX	32u
/* What the rings carry: an offset in a block of such a queue pair, or in such a ring of entries,
 * has 32 bits. What a session has memory for is less (OPEN tells it). */
#define NDSH_DEPTH_MAX	     (1u << 22) /* send and receive queue, requests */
#define NDSH_CQ_DEPTH_MAX    (1u << 26) /* entries */
#define NDSH_DEPTH_BEFORE    4096u	/* the same of a side before minor version 13 */
#define NDSH_CQ_DEPTH_BEFORE 65536u
#define NDSH_DOORBELLS	     4095u /* bits of the bitmap that queue pairs have... */
#define NDSH_ADMIN_DOORBELL  4095u /* ... and this is the admin ring's */
/* Several of a session's queue pairs have the same bit from the second 4095 on. */
#define NDSH_QP_PER_SESSION_MAX (4u * NDSH_DOORBELLS)
#define NDSH_ADMIN_DEPTH_MAX	4096u /* requests */
#define NDSH_FRMR_PAGES_MAX	512u  /* of a fast-register region */

#define NDSH_PAGE_BYTES 4096u
/* Page lists that a fast-register region has, one after the other, each with room for all its
 * pages: client's addresses. One belongs to the daemon from the post to the end of that request. */
#define NDSH_FRMR_LISTS 4u

/* A token is slot << 14 | 14 bits that are hard to guess. slot: of the region or window in its
 * shard's table. No token is 0. The local token of a fast-register region stays the same, that of
 * generation 0; its remote token is of the registration's generation. */
#define NDSH_TOKEN_KEY_BITS 14u

/*
 * Windows. DERIVED is of type 2B as TYPE_2: bound through one queue pair, for its peer, until it is
 * invalidated. TYPE_1 is for the peers of all queue pairs of its domain, bound again while it is
 * bound, unbound by a BIND of 0 bytes, and never invalidated.
 */
enum ndsh_mw_type {
	NDSH_MW_DERIVED = 0, /* each BIND's token follows from a secret: ndsh_window_token() */
	NDSH_MW_TYPE_1 = 1,  /* the client chooses NDSH_MW_CHOSEN_BITS of it, the others stay */
	NDSH_MW_TYPE_2 = 2,  /* the same */
};
#define NDSH_MW_CHOSEN_BITS 8u

/* Rights of regions; those of windows are the REMOTE ones. WINDOW_BIND: windows may be bound to it
 * whose tokens are not derived; those with a derived one always may. */
enum {
	NDSH_ACCESS_LOCAL_WRITE = 1,
	NDSH_ACCESS_REMOTE_READ = 2,
	NDSH_ACCESS_REMOTE_WRITE = 4,
	NDSH_ACCESS_REMOTE_ATOMIC = 8,
	NDSH_ACCESS_WINDOW_BIND = 16,
	NDSH_ACCESS_MASK = 31
};

/* Work request operations (ndsh_swr.ctrl); stable numbers. */
enum ndsh_op {
	NDSH_OP_SEND = 1,
	NDSH_OP_SEND_INV = 2,
	NDSH_OP_SEND_IMM = 3,
	NDSH_OP_WRITE = 4,
	NDSH_OP_WRITE_IMM = 5,
	NDSH_OP_READ = 6,
	NDSH_OP_CMP_SWAP = 7,
	NDSH_OP_FETCH_ADD = 8,
	NDSH_OP_BIND = 9,
	NDSH_OP_INVALIDATE = 10,
	NDSH_OP_FAST_REGISTER = 11,
};
/* Completion-only operation. */
enum { NDSH_OP_RECV = 32 };

/* Work request flags: an encoding of this ABI, to which each library translates its own. */
enum {
	NDSH_WRF_SILENT = 1u << 0, /* no completion on success */
	NDSH_WRF_FENCE = 1u << 1,  /* wait for all earlier reads and atomics */
	NDSH_WRF_SOLICIT = 1u << 2,
	NDSH_WRF_INLINE = 1u << 3,    /* payload in the inline area of the slot */
	NDSH_WRF_LOCAL_INV = 1u << 4, /* READ: the first SGE's registration ends with it */
	/* Beside INLINE: the payload, at most NDSH_SHORT_MAX bytes, is in the descriptor. */
	NDSH_WRF_SHORT = 1u << 5,
	NDSH_WRF_MASK = 0x3f,
};

struct ndsh_sge {
	uint64_t addr; /* client's virtual address */
	uint32_t len;
	uint32_t key; /* local token */
};
static_assert(sizeof(struct ndsh_sge) == 16, "ABI");

/*
 * Send-queue descriptor. Client writes all but ctrl, then ctrl with release order; the phase bit of
 * ctrl says whether a slot is filled: in pass p over the ring (p = index / depth) a filled slot has
 * phase (p & 1) ^ 1. The client zeroes rings. One SGE stands here; with more, all are in the
 * side array of the slot. What is inline stands in the inline area of the slot, and needs a cache
 * line more to reach the daemon: SHORT spares it that.
 *
 * BIND, FAST_REGISTER and INVALIDATE have no SGEs, and no flags but SILENT and FENCE. The token
 * that the first two give follows from their object and imm (ndsh_window_token()): both sides know
 * it. But with a window of another type than DERIVED the client chooses the token's last bits, and
 * imm means nothing.
 *
 * A queue pair of datagrams (UD_QP_CREATE) takes SEND and SEND_IMM alone, of at most the path MTU:
 * rkey is the address handle, raddr NDSH_UD_RADDR().
 */
struct ndsh_swr {
	uint64_t context; /* echoed in the completion */
	/* BIND: first byte of the window, client's address. FAST_REGISTER: the number that is to be
	 * the first byte's address; its offset in the first page is that of the number in a page.
	 */
	uint64_t raddr;
	/* Remote token; SEND_INV, INVALIDATE: the one to invalidate; BIND, FAST_REGISTER: new. */
	uint32_t rkey;
	/* Opaque 4 bytes, sent as they stand; BIND, FAST_REGISTER: generation of the token. */
	uint32_t imm;
	union {
		struct {
			struct ndsh_sge sge0;
			/* Atomics: {swap or add, compare}, with one SGE of 8 bytes and no flags but
			 * SILENT and FENCE. BIND: {bytes, access | region's token << 32};
			 * FAST_REGISTER: {bytes, NDSH_FRMR_ARG()} */
			uint64_t arg[2];
		};
		uint64_t data[NDSH_SHORT_MAX / 8]; /* SHORT: the payload */
	};
	uint32_t inline_bytes; /* INLINE */
	uint32_t ctrl;	       /* op | num_sge << 8 | flags << 16 | phase << 31 */
};
static_assert(sizeof(struct ndsh_swr) == 64, "ABI");

/* The destination's queue pair, and the Q_Key that it wants; one with the top bit stands for the
 * sender's own. */
#define NDSH_UD_RADDR(qpn, q_key) ((uint64_t)(q_key) << 32 | (qpn))
/* A datagram's receive begins with the header of the network that brought it: 40 bytes of IPv6, or
 * 20 zero bytes and 20 of IPv4 (W-PKT-07). They count as received. */
#define NDSH_GRH_BYTES 40u

#define NDSH_FRMR_ARG(access, list, pages)                                                         \
	((uint64_t)(access) | (uint64_t)(list) << 8 | (uint64_t)(pages) << 16)
#define NDSH_FRMR_ACCESS(arg) ((uint32_t)((arg)&0xff))
#define NDSH_FRMR_LIST(arg)   ((uint32_t)((arg) >> 8 & 0xff))
#define NDSH_FRMR_PAGES(arg)  ((uint32_t)((arg) >> 16))

/* Receive-queue descriptor; the same phase rule. */
struct ndsh_rwr {
	uint64_t context;
	struct ndsh_sge sge0;
	uint32_t reserved;
	uint32_t ctrl; /* num_sge << 8 | phase << 31 */
};
static_assert(sizeof(struct ndsh_rwr) == 32, "ABI");

#define NDSH_CTRL_PHASE 0x80000000u
#define NDSH_CTRL(op, nsge, flags, phase)                                                          \
	((uint32_t)(op) | (uint32_t)(nsge) << 8 | (uint32_t)(flags) << 16 | (uint32_t)(phase) << 31)
#define NDSH_CTRL_OP(c)	   ((c)&0xffu)
#define NDSH_CTRL_NSGE(c)  (((c) >> 8) & 0xffu)
#define NDSH_CTRL_FLAGS(c) (((c) >> 16) & 0x7fffu)

/* Outcome of a work request as the transport sees it; each library translates it. */
enum ndsh_wc_status {
	NDSH_WC_SUCCESS = 0,
	NDSH_WC_LOC_LEN_ERR = 1,
	NDSH_WC_LOC_QP_OP_ERR = 2,
	NDSH_WC_LOC_PROT_ERR = 4,
	NDSH_WC_FLUSH_ERR = 5,
	NDSH_WC_BIND_ERR = 6,
	NDSH_WC_BAD_RESP_ERR = 7,
	NDSH_WC_LOC_ACCESS_ERR = 8,
	NDSH_WC_REM_INV_REQ_ERR = 9,
	NDSH_WC_REM_ACCESS_ERR = 10,
	NDSH_WC_REM_OP_ERR = 11,
	NDSH_WC_RETRY_EXC_ERR = 12,
	NDSH_WC_RNR_RETRY_EXC_ERR = 13,
	NDSH_WC_REM_ABORT_ERR = 16,
	NDSH_WC_FATAL_ERR = 19,
	NDSH_WC_GENERAL_ERR = 21,
}; /* numbers of libibverbs' ibv_wc_status */

enum {
	NDSH_CQEF_PHASE = 1u << 0,
	NDSH_CQEF_SOLICITED = 1u << 1,
	NDSH_CQEF_IMM = 1u << 2,   /* data = immediate */
	NDSH_CQEF_INV = 1u << 3,   /* data = invalidated token */
	NDSH_CQEF_WRITE = 1u << 4, /* receive: taken by a write with immediate, nothing is in it */
	NDSH_CQEF_GRH = 1u << 5, /* receive: of a datagram, syndrome = sender's queue pair number */
};

/*
 * Completion. Daemon writes the first 28 bytes, then the last word with release
 * order; phase as in descriptors. Client never writes here.
 */
struct ndsh_cqe {
	uint64_t context;
	uint32_t qp;	     /* the client's handle of the queue pair */
	uint32_t bytes;	     /* moved; 0 on failure */
	uint32_t data;	     /* immediate or token */
	uint32_t slot_count; /* requests of that queue finished so far, mod 2^32: frees slots */
	uint32_t syndrome;   /* AETH syndrome or engine's reason, for logs */
	uint8_t status;	     /* enum ndsh_wc_status */
	uint8_t op;	     /* enum ndsh_op or NDSH_OP_RECV */
	uint8_t reserved;
	uint8_t flags;
};
static_assert(sizeof(struct ndsh_cqe) == 32, "ABI");

/*
 * Shared words of a queue pair, in front of its rings. The daemon only writes
 * the first line; the client only reads it. Layout of the block: this, the send
 * ring, the receive ring, SGE side arrays, inline area (ndsh_qp_layout()).
 */
struct ndsh_qp_page {
	_Alignas(NDSH_CACHE_LINE) uint32_t sq_polled; /* 1: no doorbell needed */
	uint32_t sq_done;			      /* send requests finished so far, mod 2^32 */
	uint32_t rq_done; /* receive requests finished so far, mod 2^32 */
	uint32_t dead;	  /* 1: in error state */
	_Alignas(NDSH_CACHE_LINE) uint8_t client_line[64]; /* reserved for the client's words */
};
static_assert(sizeof(struct ndsh_qp_page) == 128, "ABI");

/*
 * Shared word of a shared receive queue, in front of its receive ring. The daemon writes, the
 * client reads. A slot is free again when a message took its receive: the daemon has a copy.
 */
struct ndsh_srq_page {
	_Alignas(NDSH_CACHE_LINE) uint32_t taken; /* receives taken so far, mod 2^32 */
};
static_assert(sizeof(struct ndsh_srq_page) == 64, "ABI");

/*
 * Admin ring: regions are registered and deregistered by descriptors in shared memory, like work
 * requests. The same phase rule; each is answered by an entry in a completion queue of its own, in
 * order: context, data = token (REGISTER), status, op, and slot_count, which frees slots. So
 * arming, waking and overrun are those of any completion queue. Its doorbell is
 * NDSH_ADMIN_DOORBELL.
 */
enum ndsh_admin_op {
	NDSH_ADMIN_REGISTER = 1,
	NDSH_ADMIN_DEREGISTER = 2,
	/* Memory in no segment, which only the client can reach: its mover thread moves it. */
	NDSH_ADMIN_REGISTER_MOVED = 3,
};
enum ndsh_admin_status {
	NDSH_ADMIN_OK = 0,
	NDSH_ADMIN_BAD = 1,   /* no such operation, domain or region; rights that don't fit; an iova
			     * that wraps */
	NDSH_ADMIN_RANGE = 2, /* not in a live segment as a whole; MOVED: there is no mover */
	NDSH_ADMIN_FULL = 3,  /* as many as there may be */
	NDSH_ADMIN_BUSY = 4,  /* a window is bound to it */
};
struct ndsh_admin_request {
	uint64_t context;
	uint64_t va, bytes; /* REGISTER: client's addresses */
	uint32_t pd;	    /* of PD_CREATE; DEREGISTER: the region's */
	uint32_t access;    /* REGISTER: NDSH_ACCESS_* */
	uint32_t token;	    /* DEREGISTER */
	uint32_t reserved;
	/* REGISTER: what is added to va, mod 2^64, for the region's iova: the address by which
	 * SGEs, windows and peers name its first byte. A client from before minor version 17
	 * leaves 0: its regions are named by their own addresses. */
	uint64_t iova_offset;
	uint32_t reserved_too[3];
	uint32_t ctrl; /* op | phase << 31 */
};
static_assert(sizeof(struct ndsh_admin_request) == 64, "ABI");

/* Arm types inside the arm word: strength grows with the number (R-CQ-18). */
enum ndsh_arm { NDSH_ARM_NONE = 0, NDSH_ARM_ERRORS = 1, NDSH_ARM_SOLICITED = 2, NDSH_ARM_ANY = 3 };
#define NDSH_ARM_WORD(type, n) ((uint64_t)(type) << 62 | ((n)&NDSH_ARM_SEQ_MASK))
#define NDSH_ARM_SEQ_MASK      0x3fffffffffffffffull
#define NDSH_ARM_TYPE(w)       ((enum ndsh_arm)((w) >> 62))
#define NDSH_ARM_SEQ(w)	       ((w)&NDSH_ARM_SEQ_MASK)

/* CQ faults, sticky (R-CQ-08). */
enum { NDSH_CQ_OK = 0, NDSH_CQ_OVERRUN = 1, NDSH_CQ_FATAL = 2 };

/*
 * Shared words of a completion queue, in front of its first ring. They stay where they are as long
 * as the queue lives; the ring may be exchanged (ndsh_resize.c). consumer: client writes, daemon
 * reads (a wrong value hurts the client's own entries only). arm: both, by compare-and-swap. {type,
 * N}: entries up to N do not count; N = produced at the last notification, or what was taken when
 * the arm was set (ndsh_arm.c). produced, solicited, fault, rings, moved: daemon writes, client
 * reads.
 */
struct ndsh_cq_page {
	_Alignas(NDSH_CACHE_LINE) uint64_t consumer; /* entries taken so far */
	_Alignas(NDSH_CACHE_LINE) uint64_t arm;
	_Alignas(NDSH_CACHE_LINE) uint64_t produced; /* entries made so far */
	uint64_t solicited; /* value of produced after the newest solicited or failed entry */
	uint32_t fault;
	uint32_t rings; /* how often the ring was exchanged */
	uint64_t moved; /* entries made before the last exchange: those are in the ring before */
};
static_assert(sizeof(struct ndsh_cq_page) == 192, "ABI");

/*
 * The session page, at offset 0 of segment 0. Queue pair i (its session-local number) has doorbell
 * d = i % NDSH_DOORBELLS; of those that share one the daemon looks at each. To ring it: set bit
 * d%64 of bitmap[d/64], then bit d/64 of summary, both by atomic OR; the daemon clears in the other
 * order by exchange. asleep: the daemon writes 1 when it no longer polls
 * summary; after a client has set a bit it reads asleep behind a full barrier and, if 1, adds one
 * to the wake fd (ndsh_doorbell.c). The client writes the first two, the daemon the last.
 */
struct ndsh_session_page {
	_Alignas(NDSH_CACHE_LINE) uint64_t summary;
	_Alignas(NDSH_CACHE_LINE) uint64_t bitmap[64];
	_Alignas(NDSH_CACHE_LINE) uint32_t asleep;
};
static_assert(sizeof(struct ndsh_session_page) == 64 + 512 + 64, "ABI");

#endif
