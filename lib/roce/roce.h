/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine: one struct roce_shard is all RoCEv2 state that one lcore owns.
 *
 * Pure: no system call, clock, allocation, logging or global. The host, which is the daemon or a
 * test, passes in time, randomness (a secret) and packets; results come back as frames to send,
 * completions in shared rings, and events.
 *
 * Conventions:
 *  - Nothing here is thread safe: a shard, and all objects made with it, belong to one thread at a
 *    time. Only functions that take no object but a struct roce_qpn_key may be called by any.
 *  - now_ns is monotonic time in nanoseconds. It never goes back from one call to the next.
 *  - bytes, mtu_bytes and the like are bytes; va is an address as the client sees it, host one that
 *    this process can use.
 *  - A function that creates returns NULL, or 0 for a number, if it can't; then nothing has
 *    changed. One that returns false has changed nothing, unless it says otherwise.
 *  - owner is the host's; the engine hands it back and does not look at it.
 *
 * A turn of the host:
 *	for each received frame: roce_wire_parse(), roce_shard_rx_seek(); roce_shard_rx()
 *	roce_shard_movers()
 *	roce_qp_doorbell() for each queue pair whose client rang; roce_shard_poll_rings()
 *	roce_shard_timers()		 (only after an RX poll came back empty)
 *	roce_shard_tx() until it fills less than asked
 *	roce_shard_publish(); then wake the clients that roce_shard_fired_cq() names
 *	roce_shard_event() until none is left
 */
#ifndef ROCE_H
#define ROCE_H

#include "shm/ndsh_ring.h"
#include "wire/aeth.h"
#include "wire/build.h"
#include "wire/icrc.h"
#include "wire/opcode.h"
#include "wire/packet.h"
#include "wire/path.h"
#include "wire/psn.h"

struct roce_shard;
struct roce_qp;
struct roce_cq;
struct roce_mr;
struct roce_srq;
struct roce_mover;
struct roce_client; /* shard/principal.h */

#define ROCE_PLACE_SHARD_SHIFT 21u

#define ROCE_RD_ATOMIC_MAX 16u /* outstanding reads and atomics of a queue pair, per direction */

/* ---- shard ---------------------------------------------------------------------------------- */

struct roce_shard_cfg {
	uint32_t shard_id;	   /* 0..7, part of every QPN */
	uint32_t max_qps;	   /* up to 131072 */
	uint32_t max_cqs, max_pds; /* each up to 1048576 */
	uint32_t max_srqs;	   /* as well; 0: no shared receive queues */
	uint32_t max_mrs;	   /* up to 262144, regions and windows */
	uint32_t max_wqes;	   /* 16..4194304: pool of requests in flight, of all queue pairs */
	uint64_t secret[2];	   /* from a CSPRNG: QPNs, keys, PSNs derive from it */
	uint64_t rto_floor_ns;	   /* 10 ms unless lcores are dedicated; never below 100 us */
	uint32_t window;	   /* packets in flight per queue pair, 16..4096 */
	/* Packets in flight of all queue pairs together, as many as the receivers behind the ports
	 * hold; 0: no bound. Queue pairs that wait for answers have equal parts of it: never more
	 * than window, and never fewer than 8, however many they are. */
	uint32_t shared_window;
	/* Bit p, of 32: the peers behind port p (roce_qp_attr.port) keep to one UDP source port for
	 * each queue pair, and a packet from another one is dropped (W-PKT-06). */
	uint32_t check_source_port;
};
/* Bytes of memory that a shard needs; 0: cfg is out of range. */
size_t roce_shard_bytes(const struct roce_shard_cfg *cfg);
/* Make a shard of mem, which is zeroed, aligned to 64 bytes and of roce_shard_bytes(cfg). It needs
 * no end: the host gives mem back when all objects are destroyed. NULL: cfg is out of range. */
struct roce_shard *roce_shard_init(void *mem, const struct roce_shard_cfg *cfg);

/*
 * From the queue pair number of a packet to its place: shard and index. It is computed once per
 * packet, by the thread that receives it, which may have to hand it over to another shard. The key
 * follows from the secret that all shards of a host share.
 */
struct roce_qpn_key {
	uint64_t mul[4], add[4]; /* for each round of qpn.c */
};
void roce_qpn_key_init(struct roce_qpn_key *key, const uint64_t secret[2]);
/* The place that qpn leads to. Every number leads to one; a queue pair need not be there. */
uint32_t roce_qpn_place(const struct roce_qpn_key *key, uint32_t qpn);
/* The shard of a place, 0..7; there need not be such a shard. */
static inline uint32_t
roce_place_shard(uint32_t place)
{
	return place >> ROCE_PLACE_SHARD_SHIFT;
}

/* The queue pair at the place of a packet's QPN, by index alone: whether the number is right is for
 * roce_shard_rx() to check, and nothing else may be done with the result. The state that the packet
 * will need is prefetched. */
struct roce_qp *roce_shard_rx_seek(
	struct roce_shard *s, uint32_t place, const struct roce_pkt *pkt);
/* Process one parsed frame. Number, address, state, VLAN and ICRC are checked here (W-PKT-02,
 * W-PKT-14, W-PKT-15); a frame that fails is counted and dropped. qp: from roce_shard_rx_seek().
 * pkt and the frame are not needed after the call. */
void roce_shard_rx(
	struct roce_shard *s, uint64_t now_ns, const struct roce_pkt *pkt, struct roce_qp *qp);

struct roce_tx_slot {
	uint8_t *buf;  /* in: room for ROCE_FRAME_MAX bytes */
	uint32_t len;  /* out: bytes of the frame, without FCS */
	uint32_t port; /* out: as in roce_qp_attr.port */
};
/* Fill up to n slots with frames; returns how many. Fewer than n: nothing more may be sent now, or
 * many queue pairs were looked at for nothing, and roce_shard_tx_pending() says that there are
 * more. Requests that begin are fetched from the rings of their clients. */
unsigned roce_shard_tx(
	struct roce_shard *s, uint64_t now_ns, struct roce_tx_slot *slots, unsigned n);
/* The first part of roce_shard_tx() alone: CNPs and acknowledgements. For a host that counts them
 * apart, and calls roce_shard_tx() right after it. */
unsigned roce_shard_tx_acks(
	struct roce_shard *s, uint64_t now_ns, struct roce_tx_slot *slots, unsigned n);

/* Run timers that are due, at most budget of them, and flush some requests of queue pairs in ERR.
 * Returns how many timers ran. */
unsigned roce_shard_timers(struct roce_shard *s, uint64_t now_ns, unsigned budget);
/* When the next timer, the next packet of a queue pair that sends at a rate, or the next wake-up of
 * a principal that has a limit of them may be due; in ns. UINT64_MAX: none. A lower bound, for an
 * lcore that wants to sleep. */
uint64_t roce_shard_next_deadline(const struct roce_shard *s);
/* Might roce_shard_tx() have something to send at now_ns? */
bool roce_shard_tx_pending(const struct roce_shard *s, uint64_t now_ns);

/* Publish the turn's completions to the clients, issue one full barrier, and read the arm words.
 * Once per turn. */
void roce_shard_publish(struct roce_shard *s);
/* Take a completion queue whose client is armed and must be woken now; NULL: no more. Queues that
 * are not taken are there in the next turn; those of a principal that has had as many wake-ups as
 * it may, when it may have another one. */
struct roce_cq *roce_shard_fired_cq(struct roce_shard *s, uint64_t now_ns);

enum roce_event_type {
	ROCE_EV_COMM_EST,      /* first request in RTR or RTS: stands for a lost RTU (W-CM-35) */
	ROCE_EV_QP_ERROR,      /* the queue pair went to error by itself: ev.reason, ev.syndrome */
	ROCE_EV_CQ_ERROR,      /* overrun, or roce_cq_fail() */
	ROCE_EV_CLIENT_BREACH, /* a descriptor broke the contract: end that session */
	ROCE_EV_SRQ_LIMIT,     /* fewer receives than the limit are left (W-EVT-01) */
	ROCE_EV_LAST_WQE,   /* in error, takes no more from its shared receive queue (W-EVT-02) */
	ROCE_EV_SQ_DRAINED, /* in SQD, all that was begun is acknowledged (W-QP-03) */
};
struct roce_event {
	enum roce_event_type type;
	struct roce_qp *qp;   /* all but: */
	struct roce_cq *cq;   /* CQ_ERROR */
	struct roce_srq *srq; /* SRQ_LIMIT */
	void *owner;	      /* of the qp, cq or srq */
	uint8_t reason;	      /* enum roce_reason */
	uint8_t syndrome;
};
/* Take one event; false: there is none. Events are bits in their objects, so none is ever lost, and
 * one that is raised again before it is taken comes once. */
bool roce_shard_event(struct roce_shard *s, struct roce_event *ev);

/* Why a queue pair went to ERR (or its send side stopped, for datagrams and UC). */
enum roce_reason {
	ROCE_REASON_NONE,
	ROCE_REASON_MODIFY,	/* the host asked for it */
	ROCE_REASON_LOCAL_PROT, /* W-REQ-07 */
	ROCE_REASON_LOCAL_LEN,
	ROCE_REASON_LOCAL_OP,
	ROCE_REASON_RETRY_EXC, /* W-TMR-03 */
	ROCE_REASON_RNR_RETRY_EXC,
	ROCE_REASON_NAK_INV_REQ, /* received */
	ROCE_REASON_NAK_REM_ACCESS,
	ROCE_REASON_NAK_REM_OP,
	ROCE_REASON_BAD_RESPONSE, /* W-COMP-07 */
	ROCE_REASON_SENT_INV_REQ, /* we refused the peer's request */
	ROCE_REASON_SENT_REM_ACCESS,
	ROCE_REASON_SENT_REM_OP,
	ROCE_REASON_RECV_TOO_SMALL, /* W-RESP-10 */
	ROCE_REASON_RECV_PROT,	    /* W-RESP-11 */
	ROCE_REASON_CQ_OVERRUN,
	ROCE_REASON_CQ_FATAL, /* R-CQ-32 */
	ROCE_REASON_CLIENT_BREACH,
	ROCE_REASON_INTERNAL,	/* roce_qp_bug() */
	ROCE_REASON_LOCAL_BIND, /* W-MEM-05 */
	ROCE_REASON_LOCAL_INV,
	ROCE_REASON_RECV_INV,	/* W-INV-02: the peer's bad token */
	ROCE_REASON_LOCAL_FRMR, /* R-FR-06 */
	ROCE_REASON_LOCAL_AH,	/* no such address handle */
	ROCE_REASON_GUESSES,	/* as SENT_REM_ACCESS, and too many of them: mem/door.h */
	ROCE_REASON_COUNT,
};
/* The reason in words, for logs; "unknown" if r is none. */
const char *roce_reason_name(enum roce_reason r);

/* The record of the last abnormal events of a queue pair, eight at most. */
enum roce_record_kind {
	ROCE_REC_NAK_SENT, /* detail: syndrome; so in the next three */
	ROCE_REC_NAK_RECEIVED,
	ROCE_REC_RNR_SENT,
	ROCE_REC_RNR_RECEIVED,
	ROCE_REC_IMPLIED_NAK,
	ROCE_REC_TIMEOUT, /* detail: retries left */
	ROCE_REC_ERROR,	  /* detail: enum roce_reason */
};
struct roce_qp_record {
	uint64_t now_ns;
	uint32_t kind_psn; /* enum roce_record_kind << 24 | psn */
	uint32_t detail;
};
/* Copy the record of qp, oldest first, to out[8]; returns how many there are. */
unsigned roce_qp_records(const struct roce_qp *qp, struct roce_qp_record *out);

/* Counters of a shard, as one X-macro: their names are those of the metrics. */
/* clang-format off */
#define ROCE_COUNTERS(X)                                                                           \
	X(rx_packets) X(rx_bytes) X(tx_packets) X(tx_bytes)                                        \
	X(rx_ecn_ce) X(rx_icrc_error) X(rx_unknown_qpn) X(rx_wrong_address) X(rx_wrong_state)      \
	X(rx_wrong_vlan) X(rx_wrong_class) X(rx_wrong_q_key) X(rx_wrong_source_port)               \
	X(rx_datagram_no_receive) X(rx_datagram_too_long) X(rx_unreliable_dropped)                 \
	X(rx_duplicate) X(rx_out_of_sequence) X(rx_ghost_response)                                 \
	X(tx_ack) X(tx_nak_sequence) X(tx_nak_fatal) X(tx_rnr) X(rx_nak_sequence) X(rx_nak_fatal)  \
	X(rx_rnr) X(implied_nak) X(timeouts) X(retransmitted_packets) X(retry_exceeded)            \
	X(rx_write_requests) X(rx_read_requests) X(rx_atomic_requests)                             \
	X(rx_nak_access) X(rx_nak_invalid) X(rnr_retry_exceeded) X(rx_message_too_long)            \
	X(requests_completed) X(receives_completed) X(requests_failed) X(requests_flushed)         \
	X(receives_failed) X(receives_flushed) X(cq_overruns)                                      \
	X(wqe_pool_empty) X(wqe_share_full) X(key_violations) X(doors_closed) X(door_refusals)     \
	X(tx_held) X(client_breaches) X(internal_errors) X(keepalives) X(wakeups_delayed)          \
	X(rx_multicast)                                                                            \
	X(np_ecn_marked) X(np_cnp_sent) X(rp_cnp_handled) X(rp_cnp_ignored) X(rp_rate_cuts)
/* clang-format on */
struct roce_counters {
#define ROCE_X(n) uint64_t n;
	ROCE_COUNTERS(ROCE_X)
#undef ROCE_X
};
/* They only grow; valid as long as the shard. */
const struct roce_counters *roce_shard_counters(const struct roce_shard *s);
/* Bytes of the shard's memory that an idle connected queue pair touches; its rings are the
 * client's. */
size_t roce_qp_bytes(void);
/* Bytes besides that are set aside for each queue pair, and not touched until it meets memory that
 * only its client can reach, */
size_t roce_moved_bytes(void);
/* ... or until it meets congestion. */
size_t roce_cc_bytes(void);

/* Objects alive and pool entries in use: all zero at the end of an orderly life. */
struct roce_usage {
	/* mrs: regions of all kinds and windows; mws: the windows among them */
	uint32_t qps, cqs, pds, mrs, mws, srqs, wqes, timers;
};
/* Copy what is in use to *u. */
void roce_shard_usage(const struct roce_shard *s, struct roce_usage *u);

/* ---- protection domains, memory regions and windows ------------------------------------------ */

/* Returns the number of a new protection domain; 0: none is left. */
uint32_t roce_pd_create(struct roce_shard *s);
/* False: pd is none, or a region, window, queue pair or shared receive queue is in it. */
bool roce_pd_destroy(struct roce_shard *s, uint32_t pd);

/*
 * Register [va, va+bytes), which the host has mapped at host; access is NDSH_ACCESS_*. The key is
 * unpredictable (W-MEM-01). NULL: the table is full, there is no such pd, or access is inconsistent
 * (W-MEM-02).
 */
struct roce_mr *roce_mr_register(struct roce_shard *s, uint32_t pd, uint64_t va, uint64_t bytes,
	void *host, uint32_t access);
/* The same for memory that the host can't map: the client moves it, as m's copy commands say. */
struct roce_mr *roce_mr_register_moved(struct roce_shard *s, uint32_t pd, uint64_t va,
	uint64_t bytes, struct roce_mover *m, uint32_t access);
uint32_t roce_mr_key(const struct roce_mr *mr); /* local and remote token are one key */
/* The key opens nothing from now on: requests in flight that use it fail at their next packet. mr
 * is no more. False: windows are bound to it (W-MEM-03). */
bool roce_mr_deregister(struct roce_shard *s, struct roce_mr *mr);

/*
 * A memory window of type 2B, not bound: a slot of the table that regions are in (W-MEM-04). BIND
 * in a send queue gives it the token ndsh_window_token(*slot, *secret, generation), with the
 * generation of the descriptor, and gives the peer of that queue pair its rights, until the window
 * is invalidated or the queue pair ends. *slot and *secret are for the client, which computes the
 * token itself. NULL: the table is full, or there is no such pd.
 */
struct roce_mr *roce_mw_create(struct roce_shard *s, uint32_t pd, uint32_t *slot, uint64_t *secret);
/*
 * The same with tokens whose last NDSH_MW_CHOSEN_BITS the client chooses at each BIND. The others
 * are always those of *token, which opens nothing. Such a window is bound to regions with the right
 * WINDOW_BIND alone, and may grant atomics. type: enum ndsh_mw_type, not DERIVED; one of TYPE_1 has
 * no queue pair, and outlives those that it was bound through.
 */
struct roce_mr *roce_mw_create_keyed(
	struct roce_shard *s, uint32_t pd, uint32_t type, uint32_t *token);
/* A window that is bound is invalidated (R-MW-09). mw is no more. */
void roce_mw_destroy(struct roce_shard *s, struct roce_mr *mw);

/* ---- arenas, fast-register regions ----------------------------------------------------------- */

/*
 * An arena is all memory that a client has shared, as the host sees it: extents sorted by va, which
 * do not overlap. The host may change it between calls. Accesses to memory that is no longer in it
 * are refused from then on, whatever was registered there, so the host may unmap memory without
 * looking for its users first.
 */
struct roce_extent {
	uint64_t va, bytes; /* multiples of NDSH_PAGE_BYTES */
	uint8_t *host;
	uint64_t regions; /* registered by the admin ring, that lie in it (mem/admin.h) */
};
struct roce_arena {
	struct roce_extent *extent;
	uint32_t count;
};
struct roce_frmr_cfg {
	uint32_t pd;
	uint32_t max_pages;		/* 1..NDSH_FRMR_PAGES_MAX */
	bool remote;			/* registrations may grant the peer something (R-FR-04) */
	const struct roce_arena *arena; /* of the client */
	const uint64_t *lists;		/* shared: NDSH_FRMR_LISTS lists of max_pages pages */
};
/*
 * A fast-register region, not registered: FAST_REGISTER in a send queue makes it the memory of a
 * list of pages, with tokens as NDSH_TOKEN_KEY_BITS says, until it is invalidated from either side.
 * mem: zeroed, of roce_frmr_bytes(cfg->max_pages), the engine's until roce_frmr_destroy(). NULL:
 * the table is full.
 */
size_t roce_frmr_bytes(uint32_t max_pages);
struct roce_mr *roce_frmr_create(struct roce_shard *s, const struct roce_frmr_cfg *cfg, void *mem,
	uint32_t *slot, uint64_t *secret);
/* fr is no more, and mem the host's again. */
void roce_frmr_destroy(struct roce_shard *s, struct roce_mr *fr);
/* A key, by roce_mr_key(), to all of the arena, for SGEs of this PD and nothing else (R-FR-08).
 * NULL: the table is full, or there is no such pd. */
struct roce_mr *roce_arena_open(struct roce_shard *s, uint32_t pd, const struct roce_arena *arena);
void roce_arena_close(struct roce_shard *s, struct roce_mr *key);

/* ---- movers ---------------------------------------------------------------------------------- */

/*
 * A mover: a client that moves memory by itself, as copy commands say (shm/ndsh_mover.h); one per
 * session. mem: roce_mover_bytes() of the host's memory, the engine's until roce_mover_destroy();
 * shared: the block of ndsh_mover_bytes(), zeroed. Its copy commands are entries of a completion
 * queue: owner comes with roce_shard_fired_cq() when the client is to be woken, and with
 * ROCE_EV_CQ_ERROR when the client claims to have done what it was not told to. NULL: no completion
 * queue is left.
 */
size_t roce_mover_bytes(void);
struct roce_mover *roce_mover_create(struct roce_shard *s, struct roce_client *client, void *mem,
	void *shared, bool tells, void *owner);
/* False: there are regions of m, or queue pairs that have met them. */
bool roce_mover_destroy(struct roce_shard *s, struct roce_mover *m);
/* In each turn: see what clients have moved, and continue what waited for it, as much as a turn may
 * take. Returns how many clients have moved something. */
unsigned roce_shard_movers(struct roce_shard *s, uint64_t now_ns);
/* Before the lcore sleeps, after the barrier that makes clients ring: was all seen that clients
 * have moved? */
bool roce_shard_movers_rest(const struct roce_shard *s);

/* ---- completion queues ---------------------------------------------------------------------- */

/* base: the shared block of ndsh_cq_bytes(depth), zeroed; depth: entries. client: the owner of it
 * and of the queue pairs that complete to it; NULL, here and below: the host itself. Returns NULL
 * if no completion queue is left, or depth is out of range. */
struct roce_cq *roce_cq_create(
	struct roce_shard *s, struct roce_client *client, void *base, uint32_t depth, void *owner);
void *roce_cq_owner(const struct roce_cq *cq);
/* False: queue pairs use it. */
bool roce_cq_destroy(struct roce_shard *s, struct roce_cq *cq);
/* The host has lost the ring: the queue takes no more entries, and at the end of the turn its queue
 * pairs go to ERR and a waiting client is told NDSH_CQ_FATAL (R-CQ-32). No effect on a queue that
 * is dead already. */
void roce_cq_fail(struct roce_shard *s, struct roce_cq *cq);
/* Is all of [low, high), host addresses, within the ring of cq? */
bool roce_cq_keeps_entries_at(const struct roce_cq *cq, uintptr_t low, uintptr_t high);
/*
 * From the next entry on use another ring: zeroed, of ndsh_cq_ring_bytes(depth) bytes, which must
 * not be 0; entries <= depth. The old ring is the client's again, the page stays. False: the client
 * has more than entries entries still to take (R-RSZ-01).
 */
bool roce_cq_resize(struct roce_cq *cq, void *ring, uint32_t depth, uint32_t entries);

/* ---- shared receive queues ------------------------------------------------------------------- */

/*
 * A receive ring that all queue pairs made with it take from, in the order of posting; a receive
 * completes at the queue pair that took it. A message that finds the ring empty is answered by an
 * RNR NAK (R-SR-06). shared: the block of ndsh_srq_bytes(depth, sge), zeroed; depth: receives; sge:
 * SGEs of each. NULL: none is left, there is no such pd, or depth or sge is out of range.
 */
struct roce_srq *roce_srq_create(struct roce_shard *s, struct roce_client *client, uint32_t pd,
	void *shared, uint32_t depth, uint32_t sge, void *owner);
/* One ROCE_EV_SRQ_LIMIT when fewer than limit receives are left, now or later; 0: none. */
void roce_srq_arm(struct roce_shard *s, struct roce_srq *srq, uint32_t limit);
/*
 * From the next message on take receives from another block, of ndsh_srq_bytes(depth, sge as
 * before), which must not be 0: there the client has carried over those that are not taken. The old
 * block is the client's again.
 */
void roce_srq_resize(struct roce_srq *srq, void *shared, uint32_t depth);
/* Receives that are posted vanish. False: queue pairs use it. */
bool roce_srq_destroy(struct roce_shard *s, struct roce_srq *srq);

/* ---- queue pairs ---------------------------------------------------------------------------- */

enum roce_qp_state { /* IBTA */
	ROCE_QPS_RESET,
	ROCE_QPS_INIT,
	ROCE_QPS_RTR,
	ROCE_QPS_RTS,
	ROCE_QPS_SQD,
	ROCE_QPS_ERR,
	/* Of datagrams (ud.h), and no others: live; the send side has failed (W-ERR-02). */
	ROCE_QPS_UD_RTS,
	ROCE_QPS_UD_SQE,
	/* Of unreliable connections (UC), and no others: so they take no packet of another class.
	 * In SQE the send side has failed (W-ERR-02). */
	ROCE_QPS_UC_RTR,
	ROCE_QPS_UC_RTS,
	ROCE_QPS_UC_SQD,
	ROCE_QPS_UC_SQE,
	ROCE_QPS_COUNT,
};
struct roce_qp_cfg {
	uint32_t pd;
	struct roce_cq *send_cq, *recv_cq; /* of one client, as srq is: it is the queue pair's */
	/* Of the same PD, or NULL; with one, the queue pair's own receive ring is not used. */
	struct roce_srq *srq;
	void *shared; /* block of ndsh_qp_layout(), zeroed, starts with struct ndsh_qp_page */
	struct ndsh_qp_dims dims;
	uint32_t handle; /* ndsh_cqe.qp */
	void *owner;
	bool unreliable; /* for an unreliable connection, for life */
};
/* A new queue pair is in RESET. NULL: none is left, there is no such PD, srq is of another one, the
 * queues are of several clients, or dims are out of range. */
struct roce_qp *roce_qp_create(struct roce_shard *s, const struct roce_qp_cfg *cfg);
/* Outstanding requests vanish without completions. The QPN is not used again for a long time.
 * False: nothing reaches it any more, but it had many windows, and only some of them are unbound by
 * now: call it again. */
bool roce_qp_destroy(struct roce_shard *s, struct roce_qp *qp);
/* The queue pair number (QPN), 24 bits. */
uint32_t roce_qp_num(const struct roce_qp *qp);
void *roce_qp_owner(const struct roce_qp *qp);
enum roce_qp_state roce_qp_state_get(const struct roce_qp *qp);
/* Why it is in ERR, ROCE_QPS_UD_SQE or ROCE_QPS_UC_SQE; ROCE_REASON_NONE in other states. */
enum roce_reason roce_qp_reason(const struct roce_qp *qp);
/* An unpredictable 24-bit PSN to begin with. */
uint32_t roce_random_psn(struct roce_shard *s);

/* Attributes and their mask bits (IBTA volume 1, chapter 11, Modify Queue Pair). */
enum {
	ROCE_QPA_ACCESS = 1u << 0,
	/* AV and port. With ROCE_TOS_ECT0 in the path's class all requests and answers to READs and
	 * atomics say that they are ECN-capable, and the queue pair slows down by the peer's CNPs:
	 * neither is to be had without the other. ECN's other values are refused. */
	ROCE_QPA_PATH = 1u << 1,
	ROCE_QPA_MTU = 1u << 2,
	ROCE_QPA_DEST_QPN = 1u << 3,
	ROCE_QPA_RQ_PSN = 1u << 4,
	ROCE_QPA_MAX_DEST_RD = 1u << 5,
	ROCE_QPA_MIN_RNR = 1u << 6,
	ROCE_QPA_TIMEOUT = 1u << 7,
	ROCE_QPA_RETRY = 1u << 8,
	ROCE_QPA_RNR_RETRY = 1u << 9,
	ROCE_QPA_SQ_PSN = 1u << 10,
	ROCE_QPA_MAX_RD = 1u << 11,
	ROCE_QPA_KEEPALIVE = 1u << 12, /* ours: in every transition but those to RESET and ERR */
};
struct roce_qp_attr {
	uint32_t access; /* NDSH_ACCESS_REMOTE_* that the peer may use at all (W-RESP-06) */
	struct roce_path path;
	uint16_t port;		 /* host's number, handed back in roce_tx_slot */
	uint32_t mtu_bytes;	 /* 256, 512, 1024, 2048, 4096 */
	uint32_t port_mtu_bytes; /* MTU: what the port carries; more is refused (W-QP-05); 0: any */
	uint32_t dest_qpn, rq_psn, sq_psn;
	uint8_t max_dest_rd, max_rd;	    /* 0..ROCE_RD_ATOMIC_MAX */
	uint8_t min_rnr_code, timeout_code; /* 0..31 */
	uint8_t retry, rnr_retry;	    /* 0..7 */
	/* RNR_RETRY: a request that gets RNR NAKs for so long fails, whatever rnr_retry says
	 * (R-SR-05); 0: never */
	uint32_t rnr_give_up_ms;
	/* In RTS, when nothing was received from the peer and nothing was in flight for so long,
	 * the peer is sent an empty WRITE; a peer that does not acknowledge it ends the queue pair
	 * with ROCE_REASON_RETRY_EXC, as for any request. 0: never. Needs a timeout_code. */
	uint32_t keepalive_ms;
};
enum roce_modify {
	ROCE_MODIFY_OK,
	ROCE_MODIFY_BAD_TRANSITION,
	ROCE_MODIFY_MISSING_ATTR,
	ROCE_MODIFY_FORBIDDEN_ATTR,
	ROCE_MODIFY_BAD_VALUE,
	ROCE_MODIFY_DRAINING, /* attributes in SQD wait for ROCE_EV_SQ_DRAINED */
	/* The peers at this address have named too many wrong keys in this protection domain: no
	 * way to them for a while. */
	ROCE_MODIFY_DOOR_CLOSED,
};
/* Change the state (to == current: attributes only) with the attributes named in mask, as the table
 * in qp/modify.c permits. To ERR: everything outstanding completes with FLUSH_ERR, in order, before
 * this returns or in the following turns (W-QP-02). To RESET: requests vanish (W-QP-01). From
 * UC_SQE to UC_RTS: those posted before are flushed, then those posted from now on are sent. attr
 * may be NULL if mask is 0. On failure nothing has changed. */
enum roce_modify roce_qp_modify(struct roce_shard *s, struct roce_qp *qp, uint64_t now_ns,
	enum roce_qp_state to, uint32_t mask, const struct roce_qp_attr *attr);
/* What roce_qp_modify() would return for a connected queue pair in state from, ROCE_MODIFY_DRAINING
 * excepted. *wrong: the mask bits of attributes that are missing, forbidden or have a bad value. */
enum roce_modify roce_modify_judge(enum roce_qp_state from, enum roce_qp_state to, uint32_t mask,
	const struct roce_qp_attr *attr, uint32_t *wrong);
/* The current attributes, all but path, port and port_mtu_bytes; rq_psn and sq_psn are the next
 * ones to be received and sent. True: it is in SQD, and not yet drained. */
bool roce_qp_query(const struct roce_qp *qp, struct roce_qp_attr *attr);
/* Flush more requests of a queue pair in ERR, at most so many per call. True: all are flushed.
 * Before roce_qp_destroy(), a host that wants all completions calls it until it is true; a client
 * that goes on posting may keep it from that. */
#define ROCE_FLUSH_AT_ONCE 512u
bool roce_qp_flush(struct roce_shard *s, struct roce_qp *qp);
/* The next hop of the path has new MAC addresses. */
void roce_qp_set_macs(struct roce_qp *qp, const uint8_t smac[6], const uint8_t dmac[6]);

/*
 * The client of qp rang. Its requests leave in roce_shard_tx(), which accesses the queue pair only
 * then; until then it may be modified and destroyed. If the client rings again soon, its send ring
 * is polled from then on, until it has been empty for a while. A queue pair in ERR is flushed once
 * more: a client that has posted a request or a receive, passed a full barrier and then reads
 * page->dead = 1 must ring.
 */
void roce_qp_doorbell(struct roce_shard *s, struct roce_client *client, struct roce_qp *qp);
/*
 * Poll the send rings of recently active queue pairs, at most budget of them, and flush some
 * requests of queue pairs in ERR. Returns how many had new work. A ring that has been empty for a
 * while falls back to doorbells, with the barrier and second look that this needs.
 */
unsigned roce_shard_poll_rings(struct roce_shard *s, uint64_t now_ns, unsigned budget);
/* Before the lcore sleeps: make every polled ring fall back to doorbells. True: none had work
 * meanwhile, so the lcore may sleep. False: there is work, and the rings are polled as before. */
bool roce_shard_rest(struct roce_shard *s);

#endif
