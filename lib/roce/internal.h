/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of the engine know of each other. One file per concern:
 *
 *	shard.c event.c cq.c qpn.c pool.c timer.c	the objects and their bookkeeping
 *	mr.c mw.c fast_register.c					what keys open
 *	mover.c moved.c					memory that only its owner can reach
 *	srq.c						receives that queue pairs share
 *	qp.c modify.c error.c send_ring.c	keepalive.c	a queue pair's life, its shared rings
 *	rx.c responder.c duplicate.c completer.c		what a received packet does
 *	atomic.c					atomics that are not executed at once
 *	tx.c requester.c local.c response.c		what may be sent, or done without sending
 *	ud.c						datagrams: all of it
 *	cc.c rate.c pace.c			congestion
 *	sge.c						between packets and scatter/gather lists
 *
 * Requests in flight are in wqe.h, what keys open in key.h, memory of movers in moved.h, congestion
 * in cc.h.
 */
#ifndef ROCE_INTERNAL_H
#define ROCE_INTERNAL_H

#include <assert.h>
#include <string.h>

#include "roce/mem/key.h"
#include "base/compiler.h"
#include "base/list.h"
#include "roce/roce.h"
#include "roce/ud/ud.h"
#include "roce/queue/wqe.h"
#include "shm/ndsh_mover.h"
#include "shm/ndsh_msg.h"
#include "shm/ndsh_op.h"
#include "base/siphash.h"

/* Memory safety is at stake: stop the process, in release builds too. */
#define roce_assert(x)                                                                             \
	do {                                                                                       \
		if (base_unlikely(!(x)))                                                           \
			__builtin_trap();                                                          \
	} while (0)

#define ROCE_SHARD_BITS 3u
#define ROCE_GEN_BITS	4u
#define ROCE_INDEX_BITS 17u
#define ROCE_KEY_BITS	NDSH_TOKEN_KEY_BITS
#define ROCE_MR_BITS	18u
static_assert(ROCE_PLACE_SHARD_SHIFT == ROCE_GEN_BITS + ROCE_INDEX_BITS, "the shard is on top");

#define ROCE_TX_QUANTUM		16u /* packets a queue pair may send before it is the next one's turn */
#define ROCE_LOCAL_BUDGET	16u	/* local operations that it may run between two of them */
#define ROCE_FLUSH_BUDGET	512u	/* flushed requests per turn */
#define ROCE_SEND_RING_IDLE_NS	100000u /* a ring empty for so long falls back to doorbells */
#define ROCE_SEND_RING_AGAIN_NS 25000u	/* one that rings again so soon is looked at from then on */
#define ROCE_DOORBELLS		256u	/* doorbells not yet served; a power of two */
#define ROCE_RECORDS		8u

/* ---- replay slots of the responder (W-ATOM-01) -------------------------------------------- */

struct roce_read_slot {
	uint64_t va;
	uint64_t old; /* atomics: what was there: executed once, answered as often as asked */
	uint32_t first_psn, npsn;
	uint32_t len, rkey;
	uint32_t next;	/* next response to send, counted from first_psn */
	uint32_t base;	/* where this replay began: its response is a FIRST or ONLY (W-DUP-04) */
	uint8_t opcode; /* of the request */
	bool pending;	/* responses are to be sent */
	bool replay;	/* errors are silent (W-DUP-07) */
	uint8_t wait;	/* enum roce_wait */
};
enum roce_wait { /* what an atomic waits for (atomic.c) */
	ROCE_WAIT_NONE,
	ROCE_WAIT_MOVER,  /* its client to execute it */
	ROCE_WAIT_PLACED, /* the writes before it: it is the newest then */
};

struct roce_read_block {
	struct base_link lru; /* of blocks in use, oldest first */
	struct roce_qp *qp;
	uint64_t used_ns;
	struct roce_read_slot slot[ROCE_RD_ATOMIC_MAX];
};

/* ---- objects --------------------------------------------------------------------------------- */

struct roce_cq {
	struct ndsh_cq ring;
	struct base_link touched, fired, event, broken;
	struct base_link send_qps, recv_qps;
	void *owner;
	struct roce_cq *next_free;
	uint32_t flushing; /* queue pairs in the list of those, once for each side here */
	bool used, dead;
};

struct roce_srq {
	struct ndsh_rq rq;
	struct ndsh_srq_page *page;
	uint32_t limit; /* 0: not armed */
	uint32_t pd, users;
	bool used;
	struct base_link event;
	void *owner;
	struct roce_srq *next_free;
};

enum {				      /* roce_qp.tx_bits */
	ROCE_TXB_RNR_WAIT = 1u << 0,  /* the timer is the RNR timer */
	ROCE_TXB_RESTARTED = 1u << 1, /* went back, no progress since (W-TMR-05) */
	ROCE_TXB_BURST = 1u << 2,     /* next packet is the first of a retransmission burst */
	ROCE_TXB_BLOCKED = 1u << 3,   /* has work, waits for progress */
	ROCE_TXB_RTT = 1u << 4,	      /* a round trip is being measured */
	ROCE_TXB_STARVED = 1u << 5,   /* tx_link may be in the list of those without a roce_wqe */
	ROCE_TXB_CHARGED = 1u << 6,   /* a retry was spent since the last progress */
	ROCE_TXB_DRAINING = 1u << 7,  /* in SQD, and ROCE_EV_SQ_DRAINED not yet told */
	ROCE_TXB_RNR_MET = 1u << 8,   /* an RNR NAK came since the last progress */
};
enum {				      /* roce_qp.rx_bits */
	ROCE_RXB_NAK_SENT = 1u << 0,  /* W-RESP-02 */
	ROCE_RXB_RNR_SENT = 1u << 1,  /* W-RESP-03 */
	ROCE_RXB_EST = 1u << 2,	      /* first request was seen */
	ROCE_RXB_LAST_WQE = 1u << 3,  /* ROCE_EV_LAST_WQE was told */
	ROCE_RXB_HELD = 1u << 4,      /* nothing new before the newest atomic is executed */
	ROCE_RXB_DATAGRAMS = 1u << 5, /* it was started by roce_ud_start(): for life */
	ROCE_RXB_CC = 1u << 6,	      /* met congestion: its struct roce_cc is in use */
	ROCE_RXB_PACED = 1u << 7,     /* ... on its own way, too: it sends at a rate */
};
enum roce_msg { ROCE_MSG_NONE, ROCE_MSG_SEND, ROCE_MSG_WRITE };
enum roce_ack_owed {
	ROCE_OWED_NONE,
	ROCE_OWED_ACK,
	ROCE_OWED_NAK_SEQ,
	ROCE_OWED_RNR,
	ROCE_OWED_FATAL,
};

struct roce_ud {
	uint32_t q_key;
	struct roce_gid gid;
	uint16_t vlan;
	const struct roce_ah_table *ahs;
};

struct roce_qp {
	/* Lines 0 and 1: who it is, for every packet either way. */
	_Alignas(64) uint8_t state; /* enum roce_qp_state */
	uint8_t mtu_shift;
	uint16_t ip_id;
	uint32_t qpn, dest_qpn;
	uint32_t pd;
	union {
		struct roce_hdr_tmpl tmpl;
		struct roce_ud ud; /* of datagrams: they have no path */
	};
	uint16_t port;
	uint16_t tx_bits;
	uint32_t handle;
	uint8_t rx_bits;
	uint8_t ack_owed;   /* enum roce_ack_owed owed */
	uint8_t rd_pending; /* slots with responses to send */
	uint8_t timeout_code;
	uint32_t keepalive_ms;	  /* 0: none */
	struct roce_moved *moved; /* or NULL */
	struct ndsh_qp_page *page;

	/* Line 2: requester and completer. PSNs in order: una <= tx <= snd_max <= load. */
	uint32_t una_psn;  /* oldest not acknowledged, or not placed (READ) */
	uint32_t tx_psn;   /* next to send */
	uint32_t snd_max;  /* behind the newest ever sent: responses from there on are ghosts */
	uint32_t load_psn; /* first of the next request to be fetched */
	/* In flight: the first, NULL if there is none; the last, if there is one; that with tx_psn,
	 * NULL if all are sent. */
	struct roce_wqe *wq_head, *wq_tail, *wq_tx;
	uint64_t deadline_ns; /* 0: nothing to wait for */
	uint32_t sq_done;
	uint16_t unacked; /* packets since the last AckReq */
	uint8_t rd_out;	  /* READs and atomics sent and not complete */
	uint8_t backoff;  /* timeouts since the last progress */
	struct roce_cq *send_cq;

	/* Line 3: responder. */
	uint32_t recv_psn;   /* ePSN: next to be received */
	uint32_t placed_psn; /* all before it are executed and visible: what ACKs follow */
	uint32_t msn;
	uint8_t access;
	uint8_t rx_msg; /* enum roce_msg under way */
	uint8_t ack_syndrome;
	uint8_t reason;
	uint32_t ack_psn;
	uint32_t rx_rkey;
	uint64_t rx_va; /* WRITE: where the next payload goes */
	uint32_t rx_left, rx_bytes;
	struct roce_wqe *rx_wqe; /* receive in use */
	struct base_link ack_link;

	/* Lines 4 and 5: requests, from the ring to the timer. */
	struct ndsh_sq sq;
	struct base_link ring_link;
	uint64_t ring_ns; /* when the send ring last had work */
	struct base_link tx_link;
	struct base_link timer_link;
	uint64_t timer_tick;
	uint64_t rtt_ns;    /* when the measured packet left */
	uint64_t charge_ns; /* last progress, or last timeout that cost a retry */
	uint32_t rtt_psn, srtt_ns;

	/* Line 6: requests of many pieces, READs and atomics, and when something is in the way. */
	struct roce_sge_pos tx_pos;
	uint64_t rnr_ns; /* first RNR NAK since the last progress; 0: none */
	uint32_t rnr_give_up_ms;
	uint32_t gap_psn; /* the responder's: newest out-of-sequence PSN dropped */
	uint8_t min_rnr_code, retry, rnr_retry;
	uint8_t retry_left, rnr_left;
	uint8_t syndrome;
	uint8_t rd_next, rd_cur; /* next slot to fill; slot being answered */
	uint8_t max_rd, max_dest_rd;
	uint8_t events; /* 1 << enum roce_event_type */
	uint32_t rq_done;
	struct roce_cq *recv_cq;

	/* Line 7: receives. */
	struct ndsh_rq rq;
	struct roce_srq *srq; /* or NULL */
	struct roce_sge_pos recv_pos;

	/* Line 8: READs and atomics, ours and the peer's. */
	struct roce_sge_pos read_pos;
	struct roce_read_block *reads;
	/* Keepalive: how far both directions were at the last look; when to look again */
	uint32_t alive_mark, alive_ms;
	/* Cold. */
	struct base_link event_link, flush_link, send_cq_link, recv_cq_link;
	void *owner;
	uint32_t next_free; /* index */
	uint32_t windows;   /* index of the first one bound through it */
	uint8_t generation, record_next, record_count;
	struct roce_qp_record record[ROCE_RECORDS];
};
static_assert(offsetof(struct roce_qp, una_psn) == 128, "line 2");
static_assert(offsetof(struct roce_qp, recv_psn) == 192, "line 3");
static_assert(offsetof(struct roce_qp, sq) == 256, "line 4");
static_assert(offsetof(struct roce_qp, rq) == 448, "line 7");
static_assert(sizeof(struct roce_qp) <= 768, "thousands of idle queue pairs are normal");

#define ROCE_WHEEL_SHIFT 15u /* ns per tick, as a power of two: 32.8 us */
#define ROCE_WHEEL_SLOTS 4096u

#include "roce/cc/cc.h"

/*
 * Who rang, in order; the numbers run on. Nobody has looked at these queue pairs: one may be gone
 * meanwhile, or be another.
 */
struct roce_doorbells {
	uint32_t served, rung;
	uint32_t states, requests; /* up to where what they need was asked to come into the cache */
	bool others;		   /* it is the turn of those that have more to send */
	struct roce_qp *qp[ROCE_DOORBELLS];
};

struct roce_shard {
	struct roce_shard_cfg cfg;
	uint64_t now_ns; /* of the call under way */
	uint32_t window, window_quarter;
	struct roce_qpn_key qpn_key;
	uint64_t secret_count;
	/* What may be sent. */
	struct base_link acks_owed, senders, starved, cnps;
	/* Pools. */
	struct roce_wqe *wqe_free;
	union roce_wqe_ext *ext_free;
	uint32_t exts_left;
	/* Requests to send leave the rest, and these, to receives. */
	uint32_t wqes_for_sends, exts_for_recvs;
	struct roce_read_block *reads_free;
	struct base_link reads_lru;
	/* What the turn leaves behind. */
	struct base_link touched_cqs, fired_cqs, broken_cqs, event_cqs, event_qps, event_srqs,
		flushing, rings, movers;
	/* Tables. */
	struct roce_qp *qps;
	struct roce_moved *moved; /* one for each of qps, at the same index */
	struct roce_cc *ccs;	  /* as well */
	struct roce_mr *mrs;
	struct roce_cq *cqs, *cq_free;
	struct roce_srq *srqs, *srq_free;
	uint32_t *pd_refs, *pd_free; /* refs + 1 of PDs in use; stack of free numbers */
	uint32_t pd_free_count;
	uint32_t qp_free_head, qp_free_tail, mr_free_head, mr_free_tail; /* FIFOs: a number rests */
	struct roce_usage usage;
	struct roce_counters count;
	/* Scratch of one call, too large for a hot stack frame. */
	struct ndsh_send send;
	struct ndsh_recv recv;
	/* Timer wheel. */
	uint64_t wheel_tick; /* next tick to look at */
	uint64_t wheel_map[ROCE_WHEEL_SLOTS / 64];
	struct base_link wheel[ROCE_WHEEL_SLOTS];
	struct roce_pace pace;
	struct roce_doorbells doorbells;
};

#define ROCE_NONE UINT32_MAX /* end of an index chain */

static inline void
roce_tx_clear(struct roce_qp *qp, unsigned bits)
{
	qp->tx_bits &= (uint16_t)~bits;
}

/* Distance forward from b to a. */
static inline uint32_t
roce_psn_from(uint32_t a, uint32_t b)
{
	return (a - b) & ROCE_PSN_MASK;
}

/* Its packets say that they are ECN-capable, so it is one that slows down (cc.c). */
static inline bool
roce_reacts(const struct roce_qp *qp)
{
	return (qp->tmpl.tos & ROCE_TOS_ECN) != 0;
}

static inline uint32_t
roce_qp_mtu(const struct roce_qp *qp)
{
	return 1u << qp->mtu_shift;
}

/* PSNs that len bytes take (W-PSN-03). */
static inline uint32_t
roce_npsn(const struct roce_qp *qp, uint32_t len)
{
	uint32_t mtu = roce_qp_mtu(qp);

	return len <= mtu ? 1 : (uint32_t)(((uint64_t)len + mtu - 1) >> qp->mtu_shift);
}

/* shard.c */
uint64_t roce_shard_random(struct roce_shard *s, uint64_t domain);
bool roce_pd_get(struct roce_shard *s, uint32_t pd);
void roce_pd_put(struct roce_shard *s, uint32_t pd);

/* qpn.c */
uint32_t roce_qpn_make(
	const struct roce_qpn_key *key, uint32_t shard, uint32_t generation, uint32_t index);
static inline uint32_t
roce_place_index(uint32_t place)
{
	return place & ((1u << ROCE_INDEX_BITS) - 1);
}
/* NULL: nobody has this number. place is its roce_qpn_place(). */
static inline struct roce_qp *
roce_qp_find(struct roce_shard *s, uint32_t place, uint32_t qpn)
{
	uint32_t index = roce_place_index(place);
	struct roce_qp *qp;

	if (base_unlikely(index >= s->cfg.max_qps))
		return NULL;
	qp = &s->qps[index];
	return base_likely(qp->qpn == qpn && qpn != 0) ? qp : NULL; /* a free one's is 0 */
}

/* pool.c */
bool roce_wqe_for_send(const struct roce_shard *s);
/* The next request in the ring of qp. NULL: there is none, or none left in the pool (then qp waits
 * for one), or it broke the contract (then qp died). */
struct roce_wqe *roce_wqe_fetch(struct roce_shard *s, struct roce_qp *qp);
/* An empty WRITE of nobody's, after roce_wqe_for_send(). */
struct roce_wqe *roce_wqe_for_probe(struct roce_shard *s);
/* What ndsh_rq_look() found. */
struct roce_wqe *roce_wqe_from_recv(struct roce_shard *s, struct ndsh_rq *rq, uint32_t num_sge);
void roce_wqe_free(struct roce_shard *s, struct roce_wqe *w);
struct roce_read_block *roce_reads_get(struct roce_shard *s, struct roce_qp *qp);
void roce_reads_put(struct roce_shard *s, struct roce_qp *qp);

#include "roce/mem/moved.h"

/* sge.c: false if a region does not permit it */
bool roce_sge_check(
	struct roce_shard *s, const struct roce_qp *qp, const struct roce_wqe *w, uint32_t right);
bool roce_sge_gather(struct roce_shard *s, const struct roce_qp *qp, struct roce_sge_pos *pos,
	const struct roce_wqe *w, uint32_t from, uint8_t *dst, uint32_t bytes);
/* LATER may leave a part in place: the same bytes come again. */
enum roce_copy roce_sge_scatter(struct roce_shard *s, struct roce_qp *qp, struct roce_sge_pos *pos,
	const struct roce_wqe *w, uint32_t from, const uint8_t *src, uint32_t bytes);

/* cq.c: it had no room for an entry, or died before */
void roce_cq_overran(struct roce_shard *s, struct roce_cq *cq);
static inline void
roce_cq_push(struct roce_shard *s, struct roce_cq *cq, const struct ndsh_cqe *cqe)
{
	base_list_join(&s->touched_cqs, &cq->touched);
	if (base_unlikely(!ndsh_cq_push(&cq->ring, cqe)))
		roce_cq_overran(s, cq);
}
/* Why a dead one is dead. */
enum roce_reason roce_cq_reason(const struct roce_cq *cq);

/* srq.c: a receive was taken */
void roce_srq_taken(struct roce_shard *s, struct roce_srq *srq);

/* event.c */
void roce_qp_event(struct roce_shard *s, struct roce_qp *qp, enum roce_event_type type);
void roce_qp_note(const struct roce_shard *s, struct roce_qp *qp, enum roce_record_kind kind,
	uint32_t psn, uint32_t detail);

/* timer.c: one entry per queue pair; moving a deadline back in time costs, forward does not */
void roce_timer_set(struct roce_shard *s, struct roce_qp *qp, uint64_t deadline_ns);
void roce_timer_remove(struct roce_shard *s, struct roce_qp *qp);
/* Nothing to wait for, until it is set again. */
void roce_timer_rest(struct roce_shard *s, struct roce_qp *qp);
/* Without a deadline of its own: roce_keepalive_run() at at_ns, or earlier. */
void roce_timer_watch(struct roce_shard *s, struct roce_qp *qp, uint64_t at_ns);

/* error.c */
void roce_qp_error(
	struct roce_shard *s, struct roce_qp *qp, enum roce_reason reason, uint8_t syndrome);
void roce_qp_fail_wqe(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w,
	enum ndsh_wc_status status, enum roce_reason reason, uint8_t syndrome);
/* Into the list of those to be flushed. */
void roce_flush_join(struct roce_shard *s, struct roce_qp *qp);
/* One request of the send queue; false: none is left. */
bool roce_flush_send(struct roce_shard *s, struct roce_qp *qp);
/* Of those in the list, as much as a turn may take. */
void roce_flush_list(struct roce_shard *s);
/* True: there was something to do. */
static inline bool
roce_flush_some(struct roce_shard *s)
{
	if (base_likely(base_list_empty(&s->flushing)))
		return false;
	roce_flush_list(s);
	return true;
}
/* Everything in flight vanishes without completions. */
void roce_qp_stop(struct roce_shard *s, struct roce_qp *qp);

/* Our own bug in the state of one queue pair: that one dies, nobody else notices. */
#define roce_qp_bug(s, qp)                                                                         \
	do {                                                                                       \
		(s)->count.internal_errors++;                                                      \
		roce_qp_error(s, qp, ROCE_REASON_INTERNAL, 0);                                     \
	} while (0)

/* send_ring.c: it is looked at from now on; no more, who posts must ring */
void roce_send_ring_watch(struct roce_shard *s, struct roce_qp *qp);
void roce_send_ring_leave(struct roce_qp *qp);

/* doorbell.c: the next one that rang and may send; NULL: none */
struct roce_qp *roce_doorbell_next(struct roce_shard *s);

static inline bool
roce_doorbells_empty(const struct roce_shard *s)
{
	return s->doorbells.served == s->doorbells.rung;
}

/* qp.c: forget all but the QPN and what creation gave */
void roce_qp_clear(struct roce_qp *qp);

/* modify.c: all that was sent is acknowledged, in SQD */
void roce_qp_drained(struct roce_shard *s, struct roce_qp *qp);

/* keepalive.c: from now on; its time may have come */
void roce_keepalive_start(struct roce_shard *s, struct roce_qp *qp);
void roce_keepalive_run(struct roce_shard *s, struct roce_qp *qp);

/* requester.c */
void roce_req_fault(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w,
	enum ndsh_wc_status status, enum roce_reason reason);
/* Behind all requests in flight; npsn: the PSNs it takes. */
static inline void
roce_req_append(struct roce_qp *qp, struct roce_wqe *w, uint32_t npsn)
{
	w->first_psn = qp->load_psn;
	w->retry_psn = qp->load_psn;
	w->npsn = npsn;
	qp->load_psn = roce_psn_add(qp->load_psn, npsn);
	if (qp->wq_head == NULL)
		qp->wq_head = w;
	else
		qp->wq_tail->next = w;
	qp->wq_tail = w;
	qp->wq_tx = w;
}
/* Up to n packets; how many there are now. */
unsigned roce_req_tx(
	struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n);
uint64_t roce_req_rto(const struct roce_shard *s, const struct roce_qp *qp);
bool roce_req_charge(struct roce_shard *s, struct roce_qp *qp, bool nak);
void roce_req_go_back(struct roce_shard *s, struct roce_qp *qp);
void roce_req_timeout(struct roce_shard *s, struct roce_qp *qp);

/* It may have something to send. */
static inline void
roce_tx_want(struct roce_shard *s, struct roce_qp *qp)
{
	if (base_unlikely(qp->tx_bits & ROCE_TXB_STARVED)) {
		roce_tx_clear(qp, ROCE_TXB_STARVED);
		base_list_remove(&qp->tx_link);
	}
	base_list_join(&s->senders, &qp->tx_link);
}

/* tx.c: it has a request, and the pool has none for it: first in line when there is one */
void roce_tx_starve(struct roce_shard *s, struct roce_qp *qp);

/* ud.c */
void roce_ud_rx(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt);
/* Fills up to n slots; returns how many. */
unsigned roce_ud_turn(
	struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n);

/* local.c: operations of the send queue that nothing is sent for (ndsh_op_is_local()) */
/* Its part of ROCE_LOCAL_BUDGET: a page list takes its time. */
static inline unsigned
roce_local_cost(uint8_t op)
{
	return op == NDSH_OP_FAST_REGISTER ? ROCE_LOCAL_BUDGET / 2 : 1;
}
/* False: it has to wait for requests before it. */
bool roce_local_run(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w);

/* completer.c */
void roce_comp_rx(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt);
/* The head of the send queue is finished: completion, slot, pool. */
void roce_comp_finish(
	struct roce_shard *s, struct roce_qp *qp, enum ndsh_wc_status status, uint32_t syndrome);
/* The head of the send queue is due; what is due behind it too. False: it failed. */
bool roce_comp_due(struct roce_shard *s, struct roce_qp *qp);

/* responder.c, duplicate.c, response.c */
void roce_resp_rx(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt);
void roce_resp_duplicate(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt);
void roce_resp_fatal(struct roce_shard *s, struct roce_qp *qp, uint32_t psn, uint8_t syndrome,
	enum ndsh_wc_status status, enum roce_reason reason);
void roce_resp_fail_receive(struct roce_shard *s, struct roce_qp *qp, enum ndsh_wc_status status);
/* A READ or atomic that was pending is answered, or given up. */
void roce_read_done(struct roce_qp *qp, uint32_t index);
void roce_resp_owe(struct roce_shard *s, struct roce_qp *qp, enum roce_ack_owed owed, uint32_t psn,
	uint8_t syndrome);
bool roce_resp_tx(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slot);

/* atomic.c */
uint64_t roce_atomic_execute(uint8_t *host, uint8_t opcode, uint64_t swap_add, uint64_t compare);
void roce_atomic_hold(struct roce_qp *qp, struct roce_read_slot *r, const struct roce_pkt *pkt);
/* r waits no more: r->old is there. False: it is refused. */
bool roce_atomic_finish(struct roce_shard *s, struct roce_qp *qp, struct roce_read_slot *r);

static inline bool
roce_resp_pending(const struct roce_qp *qp)
{
	return qp->rd_pending > 0 || qp->ack_owed != ROCE_OWED_NONE;
}

/* Finish and count a frame whose headers and payload stand in slot->buf. */
static inline void
roce_tx_seal(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slot,
	uint32_t hdr_bytes, uint32_t payload_bytes)
{
	slot->len = roce_wire_seal(slot->buf, &qp->tmpl, hdr_bytes, payload_bytes);
	slot->port = qp->port;
	s->count.tx_packets++;
	s->count.tx_bytes += slot->len;
}

#endif
