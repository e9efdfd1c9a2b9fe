/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs whose clients rang, in the order of ringing. */
#ifndef ROCE_DOORBELL_H
#define ROCE_DOORBELL_H

#include <stdbool.h>
#include <stdint.h>

struct roce_qp;
struct roce_shard;

#define ROCE_DOORBELLS 256u /* doorbells not yet served; a power of two */

/*
 * The numbers run on. The queue pairs have not been looked at since: one may be gone meanwhile, or
 * be another.
 */
struct roce_doorbells {
	uint32_t served, rung;
	uint32_t states, requests; /* up to where what they need was asked to come into the cache */
	bool others;		   /* it is the turn of those that have more to send */
	struct roce_qp *qp[ROCE_DOORBELLS];
};

static inline bool
roce_doorbells_empty(const struct roce_doorbells *d)
{
	return d->served == d->rung;
}

/* The next queue pair whose client rang and that may send; NULL: none. */
struct roce_qp *roce_doorbell_next(struct roce_shard *s);

#endif
