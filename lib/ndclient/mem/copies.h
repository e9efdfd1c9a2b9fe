/* SPDX-License-Identifier: BSD-3-Clause */
/* Room of a queue pair's for the bytes of requests that are copied at the post. */
#ifndef ND_COPIES_H
#define ND_COPIES_H

#include <stdbool.h>
#include <stdint.h>

#include "ndclient/ndclient.h"

#define ND_COPY_MAX 16384u /* bytes of a request; from there on a post would take long */

struct nd_adapter;
struct nd_copies;

/* The domain has moved memory: its queue pairs, those to come as well, get room to copy from it. Of
 * what can't be had, nothing is told: the mover serves such requests. */
void nd_copies_need(struct nd_pd *pd);
/* The same for a new queue pair of that domain. */
void nd_copies_offer(struct nd_qp *qp);
/* Copy the next request's n pieces of application memory, bytes in all; *copy is what the request
 * names instead. The room is its own until the request is done. False: there is no room, or a piece
 * can't be read. For the thread that posts. */
bool nd_copies_take(struct nd_qp *qp, const struct nd_sge *sge, uint32_t n, uint32_t bytes,
	struct nd_sge *copy);
/* Requests from that number on were taken back: so is their room. For the thread that posts. */
void nd_copies_drop(struct nd_qp *qp, uint32_t request);
/* Is all of that memory there? If not, the mover finds out, and the result tells (R-MR-14). */
bool nd_copies_readable(const struct nd_sge *sge, uint32_t n);
/* No request needs it any more; taken is false if the daemon may still read it. c may be NULL. */
void nd_copies_free(struct nd_adapter *a, struct nd_copies *c, bool returned);

#endif
