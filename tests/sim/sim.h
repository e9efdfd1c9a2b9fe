/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulator: hosts with their shards and CM, clients on real shared rings, a
 * network and a clock, all in one process and decided by one seed. Nothing here
 * reads the machine's clock, addresses or randomness: a seed replays to the bit.
 *
 *	sim_main.c	command line, many seeds
 *	sim_world.c	one seed: set up, run, take down, final checks
 *	sim_profile.c	what kinds of trouble there are
 *	sim_net.c	frames on their way, and what happens to them
 *	sim_host.c	the host's turn, as the daemon's lcore and control thread do it
 *	sim_conn.c	connections: CM events, states of queue pairs
 *	sim_plan.c	their planned errors and ends
 *	sim_client.c	applications: polling, arming, posting
 *	sim_ops.c	random requests and their expected effect
 *	sim_window.c	memory windows, and fast-register regions as such
 *	sim_fast.c	what is special about the latter
 *	sim_srq.c	shared receive queues
 *	sim_mover.c	memory that only the application can reach
 *	sim_resize.c	completion queues that change their rings
 *	sim_model.c	what completions must be
 *	sim_mem.c	memory of the world; arenas with a shadow of what they must hold
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roce/cm.h"
#include "roce/gsi.h"
#include "roce/roce.h"
#include "shm/ndsh_mover.h"
#include "shm/ndsh_msg.h"
#include "shm/ndsh_ring.h"

#define SIM_HOSTS_MAX  3u
#define SIM_SHARDS_MAX 2u
#define SIM_CONNS_MAX  12u
#define SIM_CQS	       2u /* per client */
#define SIM_OPS_MAX    64u
#define SIM_RECVS_MAX  4096u
#define SIM_SLOTS      8u
#define SIM_WINDOWS    4u /* of each end of a connection; the last is a fast-register region */
#define SIM_MTU_MAX    4096u
#define SIM_PORT       4711u
#define SIM_NEVER      UINT64_MAX
#define SIM_US	       UINT64_C(1000)
#define SIM_MS	       UINT64_C(1000000)
#define SIM_S	       UINT64_C(1000000000)

struct sim_world;
struct sim_ep;
struct sim_conn;
struct sim_client;

/* ---- what a seed is made of ------------------------------------------------------------------ */

struct sim_profile {
	const char *name;
	/* The network; chances are of 10,000. */
	unsigned loss, dup, reorder, corrupt, cut;
	uint64_t jitter_ns, straggle_ns; /* straggle: how late a frame may be */
	bool outages;
	/* The applications. */
	unsigned lazy_recv; /* chance that receives are posted late: RNR */
	unsigned poison;    /* chance that a connection has an error planned */
	unsigned abrupt;    /* chance that a connection ends in the middle of its work */
};
extern const struct sim_profile sim_profiles[];
const struct sim_profile *sim_profile_find(const char *name);
const struct sim_profile *sim_profile_of_seed(uint64_t seed);

/* ---- network --------------------------------------------------------------------------------- */

struct sim_frame {
	struct sim_frame *next;
	uint64_t at_ns, seq;
	unsigned to; /* host */
	uint32_t bytes;
	uint8_t data[]; /* of exactly this size: sanitizers see what is read behind it */
};
struct sim_net {
	struct sim_frame **heap; /* by (at_ns, seq) */
	unsigned count, room;
	uint64_t seq, sent, lost, duplicated, reordered, corrupted, delivered;
	unsigned ns_per_64_bytes;
	uint64_t link_free_ns[SIM_HOSTS_MAX];
	uint64_t outage_from_ns, outage_to_ns;
};
void sim_net_send(struct sim_world *w, unsigned from, const uint8_t *frame, uint32_t bytes);
uint64_t sim_net_next(const struct sim_world *w);
/* Move what has arrived by now to the hosts. */
void sim_net_deliver(struct sim_world *w);
void sim_net_free(struct sim_world *w);

/* ---- memory ---------------------------------------------------------------------------------- */

/* Registered memory of a client, in slots that one request uses at a time. */
struct sim_arena {
	char name[32];
	struct sim_client *client;
	bool far; /* only the client's mover reaches it */
	uint8_t *mem, *shadow; /* shadow: what mem holds when all that was posted is done */
	uint64_t va;
	uint32_t slot_bytes, bytes;
	uint16_t users[SIM_SLOTS];    /* requests in flight that touch the slot */
	uint16_t readers[SIM_SLOTS];  /* READs among them */
	bool undefined[SIM_SLOTS];    /* a request on it failed half way */
	struct roce_mr *mr;
	uint32_t key;
	uint8_t *frozen; /* what it held when it was deregistered */
};
void *sim_alloc(struct sim_world *w, size_t bytes);
void sim_free_all(struct sim_world *w);
void sim_arena_init(struct sim_client *c, struct sim_arena *a, uint32_t slot_bytes,
	uint32_t access, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* A free slot, or -1. */
int sim_arena_slot(struct sim_world *w, const struct sim_arena *a);
uint32_t sim_arena_offset(const struct sim_arena *a, uint64_t va);
/* Everything outside undefined slots is as it must be. */
void sim_arena_check(struct sim_world *w, const struct sim_arena *a);
void sim_arena_deregister(struct sim_client *c, struct sim_arena *a);
/* Cut bytes of slot into a list of at most max entries, permuted; returns their number. */
unsigned sim_sges(struct sim_world *w, const struct sim_arena *a, unsigned slot, uint32_t bytes,
	unsigned max, struct ndsh_sge *sge);
void sim_gather(const struct sim_arena *a, const uint8_t *base, const struct ndsh_sge *sge,
	unsigned n, uint8_t *out, uint32_t bytes);
void sim_scatter(const struct sim_arena *a, uint8_t *base, const struct ndsh_sge *sge, unsigned n,
	const uint8_t *data, uint32_t bytes);

/* ---- applications ---------------------------------------------------------------------------- */

enum sim_poison { /* the one error that a connection may have planned */
	SIM_POISON_NONE,
	SIM_POISON_WRITE_KEY,
	SIM_POISON_READ_KEY,
	SIM_POISON_WRITE_RANGE,
	SIM_POISON_READ_RANGE,
	SIM_POISON_NO_RIGHT,
	SIM_POISON_DEAD_WINDOW,    /* a token that was invalidated */
	SIM_POISON_FOREIGN_WINDOW, /* one that is bound to another queue pair */
	SIM_POISON_SEND_INV,	   /* either of them, or a region's, to be invalidated */
	SIM_POISON_BIND,	   /* a bind that must be refused */
	SIM_POISON_INVALIDATE,
	SIM_POISON_LOCAL_KEY,
	SIM_POISON_QP_RIGHT,   /* the queue pair permits no WRITE */
	SIM_POISON_RECV_SMALL, /* a message longer than every receive */
	SIM_POISON_DEREGISTER, /* the target's region dies in the middle */
	SIM_POISON_CUT,	       /* a window does */
	SIM_POISON_RNR,	       /* receives stop, retries are few */
	SIM_POISON_FLUSH,      /* own modification to ERR */
	SIM_POISON_VANISH,     /* queue pair and connection destroyed without a word */
	SIM_POISON_OVERRUN,    /* a small send queue that nobody polls */
	SIM_POISON_CQ_FAIL,    /* the ring of one that nobody polls is lost (R-CQ-32) */
	SIM_POISON_BREACH,     /* a descriptor that is none */
	SIM_POISON_COUNT,
};

struct sim_op {
	uint64_t context;
	uint8_t op, flags, nsge;
	bool poisoned, done;
	uint8_t status;
	uint32_t bytes, imm, msg; /* msg: number among the messages of its queue */
	int local_slot, remote_slot;
	uint32_t remote_off;
	struct sim_arena *local;
	struct sim_window *window; /* what it binds, invalidates or comes through */
	struct ndsh_sge sge[NDSH_SGE_MAX];
	uint8_t *data; /* the message; READs, atomics: what must arrive */
};
enum sim_window_state { SIM_WINDOW_FREE, SIM_WINDOW_BINDING, SIM_WINDOW_BOUND, SIM_WINDOW_ENDING };
struct sim_window { /* on the target of its owner */
	struct roce_mr *mw;
	struct sim_fast *fast; /* of a fast-register region, or NULL */
	uint64_t secret;
	uint32_t slot, generation, token, access;
	enum sim_window_state state; /* BOUND: known to the peer */
	unsigned bind_op;	     /* where the newest BIND is in ops */
	unsigned first, slots;
	unsigned users, readers; /* requests of the peer in flight through it, READs among them */
};
/* The target's pages have addresses in the client in an order of their own, so that a registration
 * looks in one piece to the peer, and the engine has to find each page. */
struct sim_fast {
	struct roce_arena arena;
	struct roce_extent *extent; /* one for each page of the target, by address */
	uint32_t *place;	    /* page of the target -> its number by address */
	void *mem;
	uint64_t *lists;
	uint64_t va, base;
	uint32_t pages;
};
struct sim_recv {
	uint64_t context;
	int slot;
	uint8_t nsge;
	bool done; /* shared ones, which complete in any order */
	uint32_t bytes;
	struct ndsh_sge sge[NDSH_SGE_MAX];
};
struct sim_srq {
	struct sim_client *client;
	struct roce_srq *srq;
	struct ndsh_srq_page *page;
	struct ndsh_rq rq;
	struct sim_arena inbox;
	struct sim_recv *recvs;
	unsigned posted, taken, done;
	unsigned lost;	/* queue pairs that vanished: each may have taken one along */
	uint32_t limit; /* 0: not armed */
	bool below;	/* when it was armed, there were fewer */
};
enum sim_resize_step {
	SIM_RESIZE_NONE,
	SIM_RESIZE_ASKED, /* the reader knows the new ring */
	SIM_RESIZE_MOVED, /* the daemon has answered */
	SIM_RESIZE_REFUSED,
};
struct sim_resize {
	uint64_t rng;
	unsigned count; /* of exchanges so far */
	enum sim_resize_step step;
	void *ring, *before;
	uint32_t depth, bytes_before;
};
struct sim_cq {
	struct sim_client *client;
	struct roce_cq *cq;
	struct ndsh_cq_reader reader;
	struct sim_resize resize;
	bool events;  /* waits for wake-ups instead of polling */
	bool waiting; /* armed, nothing left to poll */
	enum ndsh_arm armed;
	unsigned late_turns; /* that a wake-up is owed */
};

/* One end of a connection. */
struct sim_ep {
	struct sim_world *w;
	struct sim_conn *conn;
	struct sim_ep *peer;
	struct sim_client *client;
	const char *name; /* "a" (active) or "p" */
	struct roce_qp *qp;
	uint32_t qpn, psn, index;
	struct ndsh_qp_dims dims;
	struct ndsh_qp_page *page;
	struct ndsh_sq sq;
	struct ndsh_rq rq;
	struct sim_cq *send_cq, *recv_cq;
	struct sim_srq *srq; /* whose receives it takes; NULL: it has its own */
	struct sim_arena source, target, landing, inbox;
	struct sim_window windows[SIM_WINDOWS];
	uint32_t dead_token; /* of a window; 0: none yet */
	struct roce_cm_conn *cm;
	uint8_t max_rd, max_dest_rd;
	/* Send side: ops[head..posted) are in flight. */
	struct sim_op ops[SIM_OPS_MAX];
	unsigned head, posted, quota, msgs;
	uint32_t msg_op[SIM_OPS_MAX]; /* number of a message -> its place in ops */
	unsigned msgs_ok; /* messages up to this number completed with success here */
	bool send_failed, send_error; /* any failure; one that is not a flush */
	/* Receive side. */
	struct sim_recv *recvs;
	unsigned recv_head, recv_posted, msgs_in;
	unsigned last_shared; /* number of the newest receive that it took from srq */
	unsigned last_recv;   /* as many had completed when it was said that no more come */
	bool last_wqe;	      /* it was said */
	bool shares;	      /* it is to have an srq */
	bool recv_failed;
	bool recv_stopped;
	bool up;	/* may send */
	bool flushing;	/* this end was told to go to ERR */
	bool errored;	/* the engine raised QP_ERROR */
	bool cm_over;	/* the last CM event came */
	bool disconnecting;
	bool gone;	/* queue pair destroyed */
	bool vanished;	/* ... without a word */
	bool breached;	/* the engine raised CLIENT_BREACH */
	struct sim_cq own_cq; /* SIM_POISON_OVERRUN, SIM_POISON_CQ_FAIL */
	uint64_t close_ns; /* when to react to an error */
	uint64_t drained_until_ns; /* in SQD */
	bool draining, patient; /* in SQD: not yet told that it is drained; waits for that */
};
enum sim_conn_state { SIM_CONN_WAIT, SIM_CONN_SETUP, SIM_CONN_UP, SIM_CONN_CLOSING, SIM_CONN_OVER };
struct sim_conn {
	unsigned number;
	struct sim_ep ep[2]; /* active, passive */
	enum sim_conn_state state;
	uint64_t start_ns;
	bool v6, refuse, nobody; /* refused by the application; no such port */
	uint64_t accept_ns;	 /* when the application answers */
	struct roce_cm_event request;
	uint8_t mtu_code, ack_timeout;
	uint32_t mtu;
	/* The plan. */
	enum sim_poison poison;
	struct sim_ep *villain;	 /* who posts or does it */
	unsigned poison_at;	 /* ... in place of this request */
	bool poison_done;
	uint64_t poison_ns;
	unsigned abrupt_at;	 /* disconnect after so many requests of both ends; 0: orderly */
	uint8_t rnr_retry, rnr_code;
	/* Once true, requests may fail. */
	bool dying;
};

struct sim_mover {
	struct sim_client *client;
	struct roce_mover *engine; /* NULL: the client has none */
	struct ndsh_mover orders;
	unsigned share; /* chance of a region to be far */
	uint64_t pace_ns, next_ns;
	bool asleep;
};
struct sim_client {
	struct sim_world *w;
	struct sim_shard *shard;
	struct ndsh_session_page *session;
	uint32_t pd;
	struct sim_cq cqs[SIM_CQS];
	struct sim_srq srq;
	struct sim_mover mover;
	struct sim_ep *eps[2 * SIM_CONNS_MAX]; /* by handle and session-local number */
	unsigned n_eps, patience;
	uint64_t next_ns;
};
void sim_client_init(struct sim_world *w, struct sim_shard *shard);
void sim_cq_init(struct sim_client *c, struct sim_cq *cq, uint32_t depth);
void sim_client_run(struct sim_client *c);
void sim_client_wake(struct sim_cq *cq);
/* Take what is there in all queues. */
void sim_client_drain(struct sim_client *c);
void sim_cq_drain(struct sim_client *c, struct sim_cq *cq);
/* The descriptor is pushed: ring if the client has to. */
void sim_client_ring(struct sim_ep *ep);

/* sim_atomic.c: posted in place of op, which is new; false: no room now */
bool sim_atomic_prepare(struct sim_ep *ep, struct sim_op *op, struct ndsh_swr *wr);

/* sim_ops.c: false: no room now */
bool sim_op_post(struct sim_ep *ep);
bool sim_recv_post(struct sim_ep *ep);
bool sim_breach_post(struct sim_ep *ep);

static inline bool
sim_is_write(const struct sim_op *op)
{
	return op->op == NDSH_OP_WRITE || op->op == NDSH_OP_WRITE_IMM;
}

static inline bool
sim_is_atomic(const struct sim_op *op)
{
	return op->op == NDSH_OP_CMP_SWAP || op->op == NDSH_OP_FETCH_ADD;
}

/* Does it take a receive of the peer? Then it counts as a message. */
static inline bool
sim_is_message(const struct sim_op *op)
{
	return op->op == NDSH_OP_SEND || op->op == NDSH_OP_SEND_INV ||
	       op->op == NDSH_OP_SEND_IMM || op->op == NDSH_OP_WRITE_IMM;
}

/* sim_window.c */
void sim_windows_init(struct sim_ep *ep);
void sim_windows_destroy(struct sim_ep *ep);
bool sim_window_op(struct sim_ep *ep, struct sim_op *op, struct ndsh_swr *wr);
void sim_window_bad_op(struct sim_ep *ep, struct sim_op *op, struct ndsh_swr *wr);
void sim_window_breach(struct sim_ep *ep, struct ndsh_swr *wr);
struct sim_window *sim_window_choose(struct sim_ep *owner, uint32_t right);
uint32_t sim_window_dead(const struct sim_ep *ep);
uint32_t sim_window_foreign(const struct sim_ep *ep, uint64_t *raddr);
bool sim_window_cut(struct sim_ep *owner);
void sim_window_done(struct sim_ep *ep, const struct sim_op *op);
void sim_window_heard(struct sim_ep *owner, unsigned place);
void sim_window_invalidated(
	struct sim_ep *owner, const struct sim_op *op, const struct ndsh_cqe *e);

/* sim_srq.c */
void sim_srq_init(struct sim_client *c);
void sim_srq_destroy(struct sim_srq *q);
/* What the application does with it; returns how many receives it posted. */
unsigned sim_srq_run(struct sim_srq *q);
struct sim_recv *sim_srq_take(struct sim_ep *ep, const struct ndsh_cqe *e);
void sim_srq_limit(struct sim_srq *q);
void sim_srq_last_wqe(struct sim_ep *ep);
void sim_srq_check(struct sim_srq *q);

/* Where messages arrive. */
static inline struct sim_arena *
sim_inbox(struct sim_ep *ep)
{
	return ep->srq != NULL ? &ep->srq->inbox : &ep->inbox;
}

/* Where the target's byte at offset is, for who comes through the window. */
uint64_t sim_window_address(
	const struct sim_ep *owner, const struct sim_window *v, uint32_t offset);

/* sim_fast.c */
void sim_fast_init(struct sim_ep *ep, struct sim_window *v);
void sim_fast_destroy(struct sim_ep *ep, struct sim_window *v);
void sim_fast_register(struct sim_ep *ep, struct sim_op *op, struct sim_window *v,
	struct ndsh_swr *wr);
/* The list is the application's again. */
void sim_fast_reuse_list(struct sim_window *v);

/* sim_mover.c */
void sim_mover_init(struct sim_client *c);
void sim_mover_destroy(struct sim_mover *m);
/* Memory whose address is the same in each run. */
void *sim_mover_alloc(struct sim_world *w, uint32_t bytes);
void sim_mover_run(struct sim_mover *m);
void sim_mover_wake(struct sim_mover *m);
/* All orders that were given so far are done. */
void sim_mover_finish(struct sim_client *c);
void sim_mover_check(const struct sim_mover *m);

/* sim_resize.c */
void sim_resize_init(struct sim_client *c, unsigned cq);
/* Another step of what is under way with this queue, or nothing. */
void sim_resize_step(struct sim_client *c, struct sim_cq *cq);

/* sim_model.c */
const char *sim_op_name(uint8_t op);
void sim_model_completion(
	struct sim_client *c, const struct sim_cq *cq, const struct ndsh_cqe *cqe);
void sim_model_wakeups(struct sim_client *c);
void sim_model_ep_end(struct sim_ep *ep);
void sim_model_ep_vanish(struct sim_ep *ep);
void sim_model_conn_end(struct sim_conn *c);
bool sim_ep_idle(const struct sim_ep *ep);
/* Every receive that it has to complete did. */
bool sim_recvs_done(const struct sim_ep *ep);

/* ---- hosts ----------------------------------------------------------------------------------- */

struct sim_shard {
	struct sim_host *host;
	struct roce_shard *s;
	struct sim_client client;
};
struct sim_host {
	struct sim_world *w;
	unsigned number, n_shards;
	uint64_t secret[2];
	struct roce_gid gid4, gid6;
	uint8_t mac[6];
	struct sim_shard shard[SIM_SHARDS_MAX];
	struct roce_cm *cm;
	struct roce_cm_listener *listener;
	uint32_t mad_psn;
	struct sim_frame *inbox, **inbox_tail;
	uint64_t next_ns;
	unsigned idle_turns;
	uint64_t tx_frames, tx_mads;
};
void sim_host_init(struct sim_world *w, unsigned number);
void sim_host_turn(struct sim_host *h);
void sim_host_wake(struct sim_host *h, uint64_t at_ns);
struct roce_path sim_path(const struct sim_host *from, const struct sim_host *to, bool v6);
const struct roce_gid *sim_gid(const struct sim_host *h, bool v6);

/* sim_conn.c */
void sim_conn_init(struct sim_world *w, unsigned number);
void sim_conn_start(struct sim_conn *c);
void sim_conn_cm_event(struct sim_host *h, const struct roce_cm_event *ev);
void sim_conn_shard_event(struct sim_shard *sh, const struct roce_event *ev);
void sim_ep_modify(struct sim_ep *ep, enum roce_qp_state to, uint32_t mask,
	const struct roce_qp_attr *attr);
void sim_ep_to_error(struct sim_ep *ep);
void sim_ep_destroy(struct sim_ep *ep);
/* Passive: the application's answer to a REQ, when it is due. */
void sim_conn_answer(struct sim_conn *c);
/* sim_plan.c: planned errors that are due, ends of connections; when to look again. */
uint64_t sim_conn_step(struct sim_conn *c);

/* ---- the world ------------------------------------------------------------------------------- */

struct sim_world {
	uint64_t seed, rng, now_ns, hash;
	const struct sim_profile *profile;
	bool verbose;
	struct sim_host hosts[SIM_HOSTS_MAX];
	unsigned n_hosts;
	struct sim_conn *conns;
	unsigned n_conns;
	struct sim_net net;
	uint64_t next_va;
	uint64_t progress_ns, progress; /* when anything last came forward */
	struct sim_block *blocks;
	struct roce_shard_cfg shard_cfg;
	unsigned sharing; /* chance of an end to share its receives */
	uint64_t far_used, stalls; /* memory behind movers; how often one paused */
	uint64_t holds; /* atomics that may make their peer send again what is behind them */
	uint64_t steps, completions;
};
extern struct roce_counters sim_counters; /* of all worlds so far */
extern struct roce_cm_counters sim_cm_counters;
/* True: the seed passed. */
bool sim_run(uint64_t seed, const struct sim_profile *profile, bool verbose, uint64_t *hash);

/* The seed failed: say why and leave sim_run(). */
void sim_fail(struct sim_world *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
/* One line of the story; part of the trace hash, printed with --verbose. */
void sim_note(struct sim_world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sim_hash(struct sim_world *w, uint64_t v);
#define sim_check(w, cond, ...)                                                                    \
	do {                                                                                       \
		if (!(cond))                                                                       \
			sim_fail(w, __VA_ARGS__);                                                  \
	} while (0)

/* splitmix64 */
static inline uint64_t
sim_rand(struct sim_world *w)
{
	uint64_t z = w->rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static inline uint64_t
sim_below(struct sim_world *w, uint64_t n)
{
	return n == 0 ? 0 : (uint64_t)(((unsigned __int128)sim_rand(w) * n) >> 64);
}

static inline bool
sim_chance(struct sim_world *w, unsigned of_10000)
{
	return sim_below(w, 10000) < of_10000;
}

static inline void
sim_progress(struct sim_world *w)
{
	w->progress_ns = w->now_ns;
	w->progress++;
}

#endif
