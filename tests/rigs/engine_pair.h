/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two shards on a virtual wire with a virtual clock, in one process: side 0 and side 1, any number
 * of queue pairs between them. Clients' rings are driven as a client would. A tap sees every frame
 * and says how often it arrives; it may also hold the frame back by time.
 */
#ifndef ENGINE_PAIR_H
#define ENGINE_PAIR_H

#include "roce/roce.h"
#include "roce/ud/group.h"
#include "shm/ndsh_mover.h"
#include "shm/ndsh_msg.h"

#define PAIR_QPS      32u
#define PAIR_QPS_MAX  1024u /* for the few tests that ask for more */
#define PAIR_ARENA    (4u << 20)
#define PAIR_VA	      UINT64_C(0x7f0000000000) /* where a client sees its arena */
#define PAIR_WIRE     8192u		       /* frames under way, both directions */
#define PAIR_CQ_DEPTH 4096u
#define PAIR_LONG     UINT64_C(100000000000) /* ns of virtual time: more than anything takes */

/* What a queue pair needs to get from INIT to RTR. */
#define PAIR_QPA_RTR                                                                               \
	(ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN |                      \
		ROCE_QPA_MAX_DEST_RD | ROCE_QPA_MIN_RNR)

#define PAIR_QPA_UC_RTR (ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN)

/* Zero: a default. */
struct pair_opts {
	uint32_t max_qps; /* of each shard, with those of the pair */
	uint32_t qps, mtu, window, max_wqes, sq_depth, rq_depth, cq_depth, access, mr_access;
	uint32_t sq_psn[2]; /* first PSN of what side i sends, if set_psn */
	bool set_psn, v6, ignore_events;
	uint8_t retry, rnr_retry, timeout_code, min_rnr_code, max_rd, max_dest_rd; /* 255: zero */
	uint64_t delay_ns;							   /* of the wire */
	uint16_t vlan;								   /* 0: none */
	uint32_t rnr_give_up_ms;
	uint32_t srq_depth; /* not 0: side 1's queue pairs share a receive queue */
	bool moved;	    /* each side has memory behind a mover, too */
	bool ecn;	    /* both sides react to congestion */
	bool sports;	    /* ... check UDP source ports */
	bool uc;	    /* the queue pairs are unreliable connections */
	uint32_t shared_window;
};

struct pair_side {
	void *mem, *cq_mem;
	struct roce_shard *shard;
	struct roce_qpn_key qpn_key;
	uint32_t pd, key;
	struct roce_mr *mr;
	uint8_t *arena;
	struct roce_cq *cq;
	struct ndsh_cq_reader reader;
	struct ndsh_qp_dims dims;
	struct roce_srq *srq;		  /* or NULL */
	const struct roce_groups *groups; /* multicast groups of port 0, or NULL */
	struct ndsh_srq_page *srq_page;
	struct ndsh_rq srq_rq;
	struct {
		struct roce_qp *qp;
		void *block;
		struct ndsh_sq sq;
		struct ndsh_rq rq;
	} q[PAIR_QPS_MAX];
	struct roce_event last_event;
	unsigned events;
	unsigned fired; /* wake-ups of the queue */
	/* Memory behind a mover, of PAIR_ARENA bytes; its addresses are the real ones. */
	uint8_t *moved;
	struct roce_mr *moved_mr;
	uint32_t moved_key;
	struct roce_mover *mover;
	void *mover_mem, *mover_shared;
	struct ndsh_mover client;
	bool stalled; /* the client moves nothing */
	uint32_t gone
		[2]; /* it can't reach moved memory from the first of these offsets to the second */
	unsigned moves;	 /* that it makes in a turn; 0: all */
	unsigned frames; /* that leave in a turn, at most; 0: all */
};

struct pair;
/* How many copies of a frame of side from arrive; *late_ns: so much later than others. */
typedef unsigned pair_tap(
	struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx);

struct pair_frame;
struct pair {
	struct pair_opts opts;
	struct pair_side side[2];
	uint64_t now_ns;
	pair_tap *tap;
	void *tap_ctx;
	bool mark;			    /* for a tap to set: this frame met congestion */
	struct pair_frame *wire[PAIR_WIRE]; /* ordered by arrival */
	unsigned on_wire;
	uint64_t sent[2]; /* frames */
};

/* Both sides connected and in RTS. */
struct pair *pair_new(const struct pair_opts *opts);
/* Destroys everything; aborts if a pool is not empty then. */
void pair_free(struct pair *p);
/* Attributes that lead queue pair i of side s to RTS against its peer. */
void pair_attr(const struct pair *p, unsigned side, unsigned i, struct roce_qp_attr *attr);
/* Take a queue pair of this side from RESET to RTS. */
void pair_bring_up(struct pair *p, unsigned side, struct roce_qp *qp, const struct roce_qp_attr *a);
void pair_connect(struct pair *p, unsigned side, unsigned i);

/* Requests of a client; addr are offsets into the arenas, flags NDSH_WRF_*. */
void pair_send(struct pair *p, unsigned side, unsigned i, uint64_t context, uint32_t at,
	uint32_t bytes, uint32_t flags);
void pair_recv(
	struct pair *p, unsigned side, unsigned i, uint64_t context, uint32_t at, uint32_t bytes);
void pair_write(struct pair *p, unsigned side, unsigned i, uint64_t context, uint32_t from,
	uint32_t to, uint32_t bytes, uint32_t flags);
void pair_read(struct pair *p, unsigned side, unsigned i, uint64_t context, uint32_t to,
	uint32_t from, uint32_t bytes, uint32_t flags);
/* Of side 0's queue pair 0, with whatever address and key. */
void pair_write_by_key(
	struct pair *p, uint64_t context, uint64_t raddr, uint32_t rkey, uint32_t bytes);
/* A request of one SGE, which may be anywhere, from or to the start of the peer's arena. */
void pair_post_sge(struct pair *p, unsigned side, unsigned i, uint64_t context, uint32_t op,
	uint32_t flags, const struct ndsh_sge *sge);
/* Any descriptor. */
void pair_post(struct pair *p, unsigned side, unsigned i, const struct ndsh_swr *wr,
	const struct ndsh_sge *sge, const void *data);
struct ndsh_sge pair_sge(const struct pair *p, unsigned side, uint32_t at, uint32_t bytes);
/* The same in memory behind the mover. */
struct ndsh_sge pair_moved_sge(const struct pair *p, unsigned side, uint32_t at, uint32_t bytes);

/* The client of a side carries out n copy commands at most; returns how many there were. */
unsigned pair_client_moves(struct pair *p, unsigned side, uint32_t n);
/* The frames that have arrived at a side, and nothing else of its turn; returns how many. */
unsigned pair_deliver(struct pair *p, unsigned side);
/* One turn of a side; returns the number of frames, requests and completions it handled. */
unsigned pair_turn(struct pair *p, unsigned side);
/* Turns and time until nothing is left to do but timers, or limit_ns passed; then true: quiet. */
bool pair_run(struct pair *p, uint64_t limit_ns);
/* Turns of side 0, without time: no timer helps. */
void pair_settle(struct pair *p);
/* Take one completion. */
bool pair_poll(struct pair *p, unsigned side, struct ndsh_cqe *cqe);
/* Arm the side's completion queue, which has nothing yet; is it armed still? */
void pair_arm(struct pair *p, unsigned side, enum ndsh_arm type);
bool pair_armed(const struct pair *p, unsigned side);
const struct roce_counters *pair_count(const struct pair *p, unsigned side);
/* A parsed frame arrives now. */
void pair_rx(struct pair *p, unsigned side, const struct roce_pkt *pkt);
/* The frame of a packet along path; payload: NULL for zeros. Returns its bytes. */
uint32_t pair_build(uint8_t frame[ROCE_FRAME_MAX], const struct roce_path *path,
	const struct roce_pkt *pkt, const void *payload);
/* Give a packet to a side as if its peer's queue pair i had sent it. */
void pair_inject(
	struct pair *p, unsigned to, unsigned i, const struct roce_pkt *pkt, const void *payload);
/* ... with so many bytes more than its pad count tells of, over IPv6; all else is right. */
void pair_inject_longer(struct pair *p, unsigned to, unsigned i, const struct roce_pkt *pkt,
	const void *payload, uint32_t more);

/* The next completion is that of context, with this status. */
struct ndsh_cqe pair_expect(struct pair *p, unsigned side, uint64_t context, uint8_t status);
void pair_expect_none(struct pair *p, unsigned side);
/* Queue pair i is in error for that reason, and client and host were told. */
void pair_expect_dead(struct pair *p, unsigned side, unsigned i, enum roce_reason reason);
void pair_expect_alive(struct pair *p, unsigned side, unsigned i);

#endif
