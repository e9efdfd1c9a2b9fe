/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that the daemon sees together or not at all. */
#ifndef ND_BATCH_H
#define ND_BATCH_H

#include <stdbool.h>
#include <stdint.h>

struct nd_qp;

struct nd_batch {
	uint32_t first; /* its first request's number in the send queue */
	uint32_t fence; /* nd_qp.fence and fenced before it */
	bool fenced;
};

/* From here to the end of the batch the thread posts with ND_POST_HELD alone. */
void nd_batch_begin(const struct nd_qp *qp, struct nd_batch *b);
/* Its end: the daemon sees all of them, and is told once. */
void nd_batch_show(struct nd_qp *qp, const struct nd_batch *b);
/* Its end: they were never posted. */
void nd_batch_drop(struct nd_qp *qp, const struct nd_batch *b);

#endif
