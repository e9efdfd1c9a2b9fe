/* SPDX-License-Identifier: BSD-3-Clause */
/* Applications: their queues, shared receives, movers. */
#ifndef SIM_CLIENT_H
#define SIM_CLIENT_H

#include "roce/shard/principal.h"
#include "sim_ud.h"

struct sim_srq {
	struct sim_client *client;
	struct roce_srq *srq;
	struct ndsh_srq_page *page;
	struct ndsh_rq rq;
	struct sim_arena inbox;
	struct sim_recv *recvs;
	unsigned posted, taken, done;
	uint64_t starve_ns; /* none is posted before */
	unsigned lost;	    /* queue pairs that vanished: each may have taken one along */
	uint32_t limit;	    /* 0: not armed */
	bool below;	    /* when it was armed, there were fewer */
};

enum sim_resize_step {
	SIM_RESIZE_NONE,
	SIM_RESIZE_ASKED, /* the reader knows the new ring */
	SIM_RESIZE_MOVED, /* the daemon has answered */
	SIM_RESIZE_REFUSED,
};
struct sim_resize {
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
	uint64_t owed_ns;    /* since then; 0: none is */
};

struct sim_mover {
	struct sim_client *client;
	struct roce_mover *engine; /* NULL: the client has none */
	struct ndsh_mover commands;
	unsigned share; /* chance of a region to be moved memory */
	uint64_t pace_ns, next_ns;
	void *spare; /* memory that only fills the staging */
	bool asleep;
};

/* Its principal's limit, 0: none, and how often it was woken. */
struct sim_wakeups {
	uint32_t limit;
	uint64_t began_ns, count;
};

struct sim_client {
	struct sim_world *w;
	struct sim_shard *shard;
	struct ndsh_session_page *session;
	struct roce_principal principal;
	struct roce_client engine;
	struct sim_wakeups wakeups;
	uint32_t pd;
	struct sim_cq cqs[SIM_CQS];
	struct sim_srq srq;
	struct sim_mover mover;
	struct sim_ep *eps[2 * SIM_CONNS_MAX]; /* by handle and session-local number */
	unsigned n_eps, patience;
	bool exhausted; /* its tables were full once */
	struct sim_ud *uds[SIM_UDS_MAX];
	unsigned n_uds;
	struct sim_ahs ahs;
	uint64_t next_ns;
};

void sim_client_init(struct sim_world *w, struct sim_shard *shard);
/* sim_hog.c */
void sim_client_principal_init(struct sim_client *c);
void sim_cq_init(struct sim_client *c, struct sim_cq *cq, uint32_t depth);
void sim_client_run(struct sim_client *c);
void sim_client_wake(struct sim_cq *cq);
/* sim_wakeups.c: the limit of the client's principal */
uint32_t sim_wakeups_limit(struct sim_client *c);
/* One more. */
void sim_wakeups_count(struct sim_client *c);
/* One of its queues waits for one, which its limit does not excuse. */
bool sim_wakeups_late(struct sim_cq *cq);
/* sim_exhaust.c: once, at some time */
void sim_exhaust(struct sim_client *c);
/* Take what is there in all queues. */
void sim_client_drain(struct sim_client *c);
void sim_cq_drain(struct sim_client *c, struct sim_cq *cq);
/* The descriptor is pushed: ring if the client has to. */
void sim_client_ring(struct sim_client *c, struct ndsh_qp_page *page, uint32_t index);

/* sim_srq.c */
void sim_srq_init(struct sim_client *c);
void sim_srq_destroy(struct sim_srq *q);
/* What the application does with it; returns how many receives it posted. */
unsigned sim_srq_run(struct sim_srq *q);
/* The receive that completes at the queue pair of taker: kind and number name it. */
struct sim_recv *sim_srq_take(struct sim_srq *q, struct sim_taker *taker, const char *kind,
	unsigned number, const struct ndsh_cqe *e);
void sim_srq_refused(struct sim_srq *q);
/* What has arrived for a queue pair goes to the engine, which may refuse it the next receive. */
void sim_srq_rx(struct sim_shard *sh, const struct roce_pkt *pkt, struct roce_qp *qp);
void sim_srq_limit(struct sim_srq *q);
void sim_srq_last_wqe(
	struct sim_world *w, struct sim_taker *taker, const struct ndsh_qp_page *page);
void sim_srq_check(struct sim_srq *q);

/* sim_mover.c */
void sim_mover_init(struct sim_client *c);
void sim_mover_destroy(struct sim_mover *m);
/* Memory at an address that is the same in each run. */
void *sim_mover_alloc(struct sim_world *w, uint32_t bytes);
void sim_mover_run(struct sim_mover *m);
void sim_mover_wake(struct sim_mover *m);
/* All copy commands that were given so far are done. */
void sim_mover_finish(struct sim_client *c);
void sim_mover_check(const struct sim_mover *m);
/* There may be no room for the payload of a packet. */
bool sim_mover_is_full(const struct sim_mover *m);

/* sim_resize.c */
/* Another step of this queue's resize, if one is in progress. */
void sim_resize_step(struct sim_client *c, struct sim_cq *cq);

#endif
