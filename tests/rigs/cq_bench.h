/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A completion queue of the library, with the daemon's half of it (ndsh_cq_push ...) in the same
 * process: a turn() of it makes entries, publishes, judges and writes the pipe, as an lcore does;
 * serve() is what the control thread does when the pipe is readable.
 */
#ifndef CQ_BENCH_H
#define CQ_BENCH_H

#include "ndclient/cq/cq.h"
#include "ndclient/session/adapter.h"

#define DEPTH 1024u

struct bench {
	struct nd_adapter *a;
	struct nd_cq cq;
	struct ndsh_cq daemon;
	int daemon_fd;
	void *block;
};

struct bench *make(void);
void drop(struct bench *b);
/* Entries by letter: u unsolicited, s solicited receive, g good send, f failed send; o: the queue
 * overruns. */
void turn(struct bench *b, const char *entries);
void serve(struct bench *b);
/* Serve; then the request's status. */
nd_status after(struct bench *b, const struct nd_overlapped *ov);
/* How many results could be taken. */
int32_t poll_all(struct bench *b);

#endif
