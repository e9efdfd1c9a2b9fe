/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests and receives: what was posted, and what it must do. */
#ifndef SIM_OPS_H
#define SIM_OPS_H

#include "sim_mem.h"

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
	bool bad;  /* names memory that is not its owner's */
	uint32_t bytes;
	struct ndsh_sge sge[NDSH_SGE_MAX];
};

/* A queue pair that takes shared receives. */
struct sim_taker {
	unsigned last_shared; /* number of the newest that it took */
	unsigned last_recv;   /* as many had completed when the end of posting was announced */
	unsigned done;	      /* as many have completed */
	bool last_wqe;	      /* it was said */
};

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
	return op->op == NDSH_OP_SEND || op->op == NDSH_OP_SEND_INV || op->op == NDSH_OP_SEND_IMM ||
	       op->op == NDSH_OP_WRITE_IMM;
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

/* The address of the target's byte at offset, as seen through the window. */
uint64_t sim_window_address(
	const struct sim_ep *owner, const struct sim_window *v, uint32_t offset);

/* sim_sink.c */
void sim_sink_init(struct sim_ep *ep);
void sim_sink_destroy(struct sim_ep *ep);
/* False: it makes no sense now. */
bool sim_sink_register(struct sim_ep *ep, struct sim_op *op, struct ndsh_swr *wr);
void sim_sink_use(struct sim_ep *ep, struct sim_op *op);
/* The READ succeeded. */
void sim_sink_done(struct sim_ep *ep, const struct sim_op *op);

/* sim_fast.c */
void sim_fast_init(struct sim_ep *ep, struct sim_window *v);
void sim_fast_destroy(struct sim_ep *ep, struct sim_window *v);
void sim_fast_register(
	struct sim_ep *ep, struct sim_op *op, struct sim_window *v, struct ndsh_swr *wr);
/* The list is the application's again. */
void sim_fast_reuse_list(struct sim_window *v);

#endif
