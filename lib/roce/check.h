/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is always true of a shard between two calls of the engine:
 *
 *  - Each roce_wqe is free, or with exactly one queue pair, or dropped by one, and so is each
 *    extension; exts_left counts the free ones of these.
 *  - Each principal's share counts what the queue pairs of its clients have, side by side, and what
 *    is spare; what is left of a pool for all is what nobody has reserved, and nobody holds beyond
 *    a reserve.
 *  - A client with something to send has a turn, and so has its principal; what waits stands in a
 *    line, and so do its client and its principal.
 *  - usage counts the objects that are in use; the free ones are in their lists.
 *  - A protection domain has one reference for each object that is in it.
 *  - A slot of the timer wheel or of the pacing wheel that is not empty has its bit in the map.
 *  - A queue pair that owes its peer a response stands in a list that leads to sending it, or waits
 *    for a mover: nothing is forgotten.
 *  - Every queue pair, completion queue and shared receive queue is as its own check says.
 */
#ifndef ROCE_SHARD_CHECK_H
#define ROCE_SHARD_CHECK_H

struct roce_shard;

/* What is wrong with the queue pairs that are in use, one by one; NULL: nothing. Looks, and changes
 * nothing; so does the next one. */
const char *roce_shard_check_qps(const struct roce_shard *s);
/* What is wrong with anything in the shard; it looks at every entry of all tables. */
const char *roce_shard_check(const struct roce_shard *s);

#endif
