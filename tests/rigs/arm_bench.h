/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifications by callback, in virtual steps: the daemon's half of the queues is in the same
 * process, and no thread runs but the test's: step() does what the library's thread does when one
 * of its descriptors is readable. Where it says so that thread lives.
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
struct bench;
typedef void hook(struct bench *b);
struct bench {
	struct nd_adapter *a;
	struct nd_cq *cq; /* on the heap: closing it frees it */
	struct ndsh_cq daemon;
	int daemon_fd;
	void *block;
	hook *in[4];
	unsigned runs;
	bool inside;
	int32_t taken;
	nd_status status, closed;
	struct nd_qp *qp; /* or NULL */
	sem_t entered, go;
};

/* The thread's place is taken, unless it is wanted: then nd_cq_set_callback() starts it. */
void make(struct bench *b, bool threads);
void drop(struct bench *b);
struct nd_adapter *new_adapter(void);
/* Another queue, of that adapter. */
void add_queue(struct bench *b, struct nd_adapter *a, uint32_t id);
void drop_queue(struct bench *b);
void drop_adapter(struct nd_adapter *a, bool threads);
/* What a queue's callback is: it runs the hook that is next. */
void callback(void *context, nd_status st);
/* A turn of the daemon: entries by letter, u unsolicited, s solicited, f failed, p of another queue
 * pair; o: the queue overruns. u is the first receive of the queue pair. */
void turn(struct bench *b, const char *entries);
/* One wake-up of the library's thread; false: it sleeps on. */
bool step(struct nd_adapter *a);
/* Until it sleeps; returns the number of callbacks so far. */
unsigned serve(struct bench *b);
/* How many results could be taken. */
int32_t poll_all(struct bench *b);
void arm(struct bench *b, uint32_t type);

#endif
