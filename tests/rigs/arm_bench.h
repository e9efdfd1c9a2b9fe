/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifications by callback, in virtual steps: the daemon's half of the queues is in the same
 * process, and no thread runs but the test's: arm_bench_step() does what the library's thread does
 * when one of its descriptors is readable. Where it says so that thread lives.
 */
#ifndef ARM_BENCH_H
#define ARM_BENCH_H

#include <semaphore.h>

#include "ndclient/cq/cq.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"

#define DEPTH	  64u
#define ANY	  ND_CQ_NOTIFY_ANY
#define SOLICITED ND_CQ_NOTIFY_SOLICITED
#define ERRORS	  ND_CQ_NOTIFY_ERRORS

/* What a callback does, one hook per run, and what became of it. */
struct arm_bench;
typedef void arm_bench_hook(struct arm_bench *b);
struct arm_bench {
	struct nd_adapter *a;
	struct nd_cq *cq; /* on the heap: closing it frees it */
	struct ndsh_cq daemon;
	int daemon_fd;
	void *block;
	arm_bench_hook *in[4];
	unsigned runs;
	bool inside;
	int32_t taken;
	nd_status status, closed;
	struct nd_qp *qp; /* or NULL */
	sem_t entered, go;
};

/* The thread's place is taken, unless it is wanted: then nd_cq_set_callback() starts it. */
void arm_bench_make(struct arm_bench *b, bool threads);
void arm_bench_drop(struct arm_bench *b);
struct nd_adapter *arm_bench_new_adapter(void);
/* Another queue, of that adapter. */
void arm_bench_add_queue(struct arm_bench *b, struct nd_adapter *a, uint32_t id);
void arm_bench_drop_queue(struct arm_bench *b);
void arm_bench_drop_adapter(struct nd_adapter *a, bool threads);
/* What a queue's callback is: it runs the hook that is next. */
void arm_bench_callback(void *context, nd_status st);
/* A turn of the daemon: entries by letter, u unsolicited, s solicited, f failed, p of another queue
 * pair; o: the queue overruns. u is the first receive of the queue pair. */
void arm_bench_turn(struct arm_bench *b, const char *entries);
/* One wake-up of the library's thread; false: it sleeps on. */
bool arm_bench_step(struct nd_adapter *a);
/* Until it sleeps; returns the number of callbacks so far. */
unsigned arm_bench_serve(struct arm_bench *b);
/* How many results could be taken. */
int32_t arm_bench_poll_all(struct arm_bench *b);
void arm_bench_arm(struct arm_bench *b, uint32_t type);

#endif
