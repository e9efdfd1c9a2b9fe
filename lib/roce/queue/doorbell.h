/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue pairs whose client rang, in that order. */
#ifndef ROCE_DOORBELL_H
#define ROCE_DOORBELL_H

#include <stdbool.h>
#include <stdint.h>

struct roce_client;
struct roce_qp;
struct roce_shard;

#define ROCE_DOORBELLS 256u /* doorbells of a client not yet served; a power of two */

/*
 * A ring of pointers; the numbers run on. A queue pair in it may have been destroyed since its
 * client rang, and its place in the table may be in use again: all that is done with it is right
 * for any queue pair, and for a free one.
 */
struct roce_doorbells {
	uint32_t served, rung;
	uint32_t states, requests; /* up to where they were prefetched */
	bool others;		   /* it is the turn of those that have more to send */
	struct roce_qp *qp[ROCE_DOORBELLS];
};

static inline bool
roce_doorbells_empty(const struct roce_doorbells *d)
{
	return d->served == d->rung;
}

/* The next queue pair of c that rang and may send; NULL: none. */
struct roce_qp *roce_doorbell_next(struct roce_shard *s, struct roce_client *c);

#endif
