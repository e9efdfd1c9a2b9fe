/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is always true of completion queues and shared receive queues between two calls of the
 * engine:
 *
 *  - The queue pairs in the lists of a completion queue are those that complete to it; its flushing
 *    counts those of them that are to be flushed, once for each side.
 *  - A completion queue is dead if, and only if, its ring has a fault; only a dead one has an event
 *    to report or queue pairs to end.
 *  - A shared receive queue has as many users as queue pairs name it, in a protection domain that
 *    exists.
 */
#ifndef ROCE_QUEUE_CHECK_H
#define ROCE_QUEUE_CHECK_H

struct roce_cq;
struct roce_shard;
struct roce_srq;

/* What is wrong with the queue, which is in use; NULL: nothing. They look, and change nothing. */
const char *roce_cq_check(const struct roce_shard *s, const struct roce_cq *cq);
const char *roce_srq_check(const struct roce_shard *s, const struct roce_srq *srq);

#endif
