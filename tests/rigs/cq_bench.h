/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A completion queue of the library, with the daemon's half of it (ndsh_cq_push ...) in the same
 * process: a cq_bench_turn() of it makes entries, publishes, judges and writes the pipe,
 * as an lcore does;
 * cq_bench_serve() is what the control thread does when the pipe is readable.
 */
#ifndef CQ_BENCH_H
#define CQ_BENCH_H

#include "ndclient/cq/cq.h"
#include "ndclient/session/adapter.h"

#define DEPTH 1024u

struct cq_bench {
	struct nd_adapter *a;
	struct nd_cq cq;
	struct ndsh_cq daemon;
	int daemon_fd;
	void *block;
};

struct cq_bench *cq_bench_make(void);
void cq_bench_drop(struct cq_bench *b);
/* Entries by letter: u unsolicited, s solicited receive, g good send, f failed send; o: the queue
 * overruns. */
void cq_bench_turn(struct cq_bench *b, const char *entries);
void cq_bench_serve(struct cq_bench *b);
/* Serve; then the request's status. */
nd_status cq_bench_after(struct cq_bench *b, const struct nd_overlapped *ov);
/* How many results could be taken. */
int32_t cq_bench_poll_all(struct cq_bench *b);

#endif
