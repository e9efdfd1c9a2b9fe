/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections, their plans, and what their completions must be. */
#ifndef SIM_CONN_H
#define SIM_CONN_H

#include "sim_cc.h"
#include "sim_client.h"
#include "sim_draw.h"

/* What a queue pair needs on its way. */
#define SIM_QPA_RTR                                                                                \
	(ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN |                      \
		ROCE_QPA_MAX_DEST_RD | ROCE_QPA_MIN_RNR)
#define SIM_QPA_RTS                                                                                \
	(ROCE_QPA_TIMEOUT | ROCE_QPA_RETRY | ROCE_QPA_RNR_RETRY | ROCE_QPA_SQ_PSN | ROCE_QPA_MAX_RD)

enum sim_poison { /* the one error that a connection may have planned */
	SIM_POISON_NONE,
	SIM_POISON_WRITE_KEY,
	SIM_POISON_READ_KEY,
	SIM_POISON_WRITE_RANGE,
	SIM_POISON_READ_RANGE,
	SIM_POISON_NO_RIGHT,
	SIM_POISON_DEAD_WINDOW,	   /* a token that was invalidated */
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
	SIM_POISON_OVERRUN,    /* a small send queue that is never polled */
	SIM_POISON_CQ_FAIL,    /* the ring of one that is never polled is lost (R-CQ-32) */
	SIM_POISON_BREACH,     /* a descriptor that is none */
	SIM_POISON_COUNT,
};

/* Completions that are not true from this one on: enum ndsh_spoils says how. */
struct sim_spoiled {
	uint8_t by;
	uint32_t from;
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
	bool connected;		  /* it was in RTS */
	struct roce_qp_attr attr; /* of RTR and RTS */
	uint64_t learn_ns;	  /* when it hears of the peer's MAC address; 0: it knows it */
	uint64_t starve_ns;	  /* no receives are posted before */
	bool starved;
	struct dcqcn rate;
	struct ndsh_qp_dims dims;
	struct ndsh_qp_page *page;
	struct ndsh_sq sq;
	struct ndsh_rq rq;
	struct sim_cq *send_cq, *recv_cq;
	struct sim_srq *srq; /* it takes receives from there; NULL: it has its own */
	struct sim_arena source, target, landing, inbox;
	struct sim_window windows[SIM_WINDOWS];
	struct sim_window sink; /* of READs; mw: NULL, it has none */
	uint32_t dead_token;	/* of a window; 0: none yet */
	struct roce_cm_conn *cm;
	uint8_t max_rd, max_dest_rd;
	/* Send side: ops[head..posted) are in flight. */
	struct sim_op ops[SIM_OPS_MAX];
	unsigned head, posted, quota, msgs;
	uint32_t msg_op[SIM_OPS_MAX]; /* number of a message -> its place in ops */
	unsigned msgs_ok;	      /* messages up to this number completed with success here */
	bool send_failed, send_error; /* any failure; one that is not a flush */
	/* Receive side. */
	struct sim_recv *recvs;
	unsigned recv_head, recv_posted, msgs_in;
	struct sim_taker taker;
	bool shares; /* it is to have an srq */
	bool recv_failed;
	bool recv_stopped;
	bool up;		       /* may send */
	bool flushing;		       /* this end was told to go to ERR */
	bool errored;		       /* the engine raised QP_ERROR */
	struct sim_spoiled spoiled[2]; /* of requests, of receives */
	bool cm_over;		       /* the last CM event came */
	bool disconnecting;
	bool gone;		   /* queue pair destroyed */
	bool vanished;		   /* ... without a word */
	bool breached;		   /* the engine raised CLIENT_BREACH */
	struct sim_cq own_cq;	   /* SIM_POISON_OVERRUN, SIM_POISON_CQ_FAIL */
	uint64_t close_ns;	   /* when to react to an error */
	uint64_t drained_until_ns; /* in SQD */
	bool draining, patient;	   /* in SQD: not yet told that it is drained; waits for that */
	uint32_t response_psn;	   /* next of a READ of the peer, if it is responding */
	bool responding;
	struct sim_speech *speech; /* it speaks a dialect; NULL: it does not */
};
enum sim_fate { /* of a CM message */
	SIM_FATE_PASSES,
	SIM_FATE_LOST,
	SIM_FATE_TWICE,
	SIM_FATE_LATE,
	SIM_FATE_DAMAGED,
	SIM_FATE_SENDER_DIES,
	SIM_FATE_RECEIVER_DIES,
	SIM_FATES,
};
#define SIM_CM_STEPS  9u /* messages; the last two are of questions */
#define SIM_CM_FAULTS 3u
struct sim_cm_fault {
	enum sim_fate fate;
	uint8_t attr;
	unsigned skip, times; /* the first copies pass; then so many meet it */
};
/* Memory that goes while it is registered. */
struct sim_loss {
	bool planned, refused, told; /* refused: by a NAK; told: the peer has completed with that */
	unsigned after;		     /* so many requests of both ends */
	struct sim_ep *owner;
	struct sim_arena *arena; /* NULL: it is all there yet */
	uint64_t from, to;	 /* addresses */
	unsigned posted[2];	 /* requests of each end, when it went */
};
enum sim_conn_state { SIM_CONN_WAIT, SIM_CONN_SETUP, SIM_CONN_UP, SIM_CONN_CLOSING, SIM_CONN_OVER };
struct sim_conn {
	unsigned number;
	struct sim_ep ep[2]; /* active, passive */
	enum sim_conn_state state;
	uint64_t start_ns;
	bool v6, refuse, nobody; /* refused by the application; no such port */
	uint64_t accept_ns;	 /* when the application answers; 0: not asked, or answered */
	uint64_t complete_ns;	 /* when the active side's goes on after the REP, in the same way */
	struct roce_cm_event request;
	uint8_t mtu_code, ack_timeout;
	uint32_t mtu;
	/* The plan. */
	enum sim_poison poison;
	struct sim_ep *villain; /* the end that posts or does it */
	unsigned poison_at;	/* ... in place of this request */
	bool poison_done;
	uint64_t poison_ns;
	unsigned abrupt_at; /* disconnect after so many requests of both ends; 0: orderly */
	uint8_t retry, rnr_retry, rnr_code;
	unsigned packets; /* of its longest messages */
	uint16_t vlan;
	uint32_t keepalive_ms; /* of both ends; 0: none */
	struct sim_cm_fault cm_fault[SIM_CM_FAULTS];
	uint32_t cm_id; /* of the active side; 0: not known yet */
	bool copies;	/* REQs may come when it is over */
	struct sim_loss loss;
	struct sim_insider *insider; /* one end is hostile; NULL: none is */
	unsigned death_at;	     /* a host dies after so many requests of both ends; 0: none */
	/* Once true, requests may fail. */
	bool dying;
};

/* The end of a connection as one that decides. */
static inline uint32_t
sim_ep_actor(const struct sim_ep *ep)
{
	return SIM_ACTOR_EP(ep->conn->number, ep == &ep->conn->ep[1]);
}

/* Where messages arrive. */
static inline struct sim_arena *
sim_inbox(struct sim_ep *ep)
{
	return ep->srq != NULL ? &ep->srq->inbox : &ep->inbox;
}

/* sim_ep.c */
void sim_ep_make(struct sim_ep *ep); /* in INIT */
void sim_ep_modify(
	struct sim_ep *ep, enum roce_qp_state to, uint32_t mask, const struct roce_qp_attr *attr);
/* To RTR, with what a REQ or REP tells; to RTS, unless it is there or beyond. */
void sim_ep_connect(struct sim_ep *ep, const struct roce_cm_event *ev);
void sim_ep_ready(struct sim_ep *ep);
/* What a REQ or REP tells of it. */
struct roce_cm_qp_params sim_ep_params(const struct sim_ep *ep);
void sim_ep_to_error(struct sim_ep *ep);
void sim_ep_destroy(struct sim_ep *ep);
/* sim_conn.c */
void sim_conn_init(struct sim_world *w, unsigned number);
void sim_conn_start(struct sim_conn *c);
void sim_conn_cm_event(struct sim_host *h, const struct roce_cm_event *ev);
void sim_conn_shard_event(struct sim_shard *sh, const struct roce_event *ev);
/* Passive: the application's answer to a REQ, when it is due. */
void sim_conn_answer(struct sim_conn *c);
/* Active: the end of its setup, when it is due. */
void sim_conn_complete(struct sim_conn *c);
/* sim_rare.c: codes, counts and VLAN; then the length of messages, when its ends are planned */
void sim_rare_plan(struct sim_world *w, struct sim_conn *c);
void sim_rare_length(struct sim_world *w, struct sim_conn *c);
/* sim_cm.c */
extern const char *const sim_cm_names[SIM_CM_STEPS]; /* of messages, from CM_ATTR_REQ on */
/* What was planned and happened, of all worlds so far. */
void sim_cm_print(void);
void sim_cm_plan(struct sim_world *w, struct sim_conn *c);
bool sim_cm_passes(
	struct sim_host *from, struct sim_host *to, const uint8_t *mad, struct sim_frame *f);
/* sim_plan.c: the end of the process that has it: no message is sent or awaited */
void sim_ep_vanish(struct sim_ep *ep);
/* Planned errors that are due, ends of connections; when to check again. */
uint64_t sim_conn_step(struct sim_conn *c);

/* sim_loss.c */
void sim_loss_plan(struct sim_conn *c);
void sim_loss_step(struct sim_conn *c);
/* True: the client can't carry out this command. */
bool sim_loss_copy(struct sim_client *c, const struct ndsh_cqe *command);
/* A completion is taken, and all copies before it are done: is it true? */
void sim_loss_correct(struct sim_client *c, struct ndsh_cqe *e);
/* What became of the oldest request, which succeeded in silence. */
uint8_t sim_loss_silent(const struct sim_ep *ep);
/* May the request have failed with this status, for want of memory; and may it succeed? */
bool sim_loss_fails(struct sim_ep *ep, const struct sim_op *op, uint8_t status);
bool sim_loss_must_fail(const struct sim_ep *ep, const struct sim_op *op);
/* May the receive have failed? */
bool sim_loss_recv_fails(const struct sim_ep *ep, const struct sim_recv *r);
/* The engine has told of an error. */
void sim_loss_event(struct sim_ep *ep, const struct roce_event *ev);
void sim_loss_end(const struct sim_conn *c);

/* sim_model.c */
const char *sim_op_name(uint8_t op);
void sim_model_completion(
	struct sim_client *c, const struct sim_cq *cq, const struct ndsh_cqe *cqe);
/* May a frame be lost? */
bool sim_is_lossy(const struct sim_world *w);
bool sim_may_give_up(const struct sim_conn *c);
void sim_model_wakeups(struct sim_client *c);
void sim_model_ep_end(struct sim_ep *ep);
void sim_model_ep_vanish(struct sim_ep *ep);
void sim_model_conn_end(struct sim_conn *c);
bool sim_ep_idle(const struct sim_ep *ep);
/* Every receive that it has to complete did. */
bool sim_recvs_done(const struct sim_ep *ep);

#endif
