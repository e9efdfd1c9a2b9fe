/* SPDX-License-Identifier: BSD-3-Clause */
/* States of a queue pair. */
#ifndef ROCE_MODIFY_H
#define ROCE_MODIFY_H

struct roce_qp;
struct roce_shard;

/* In SQD: ROCE_EV_SQ_DRAINED, unless a message that was begun is not acknowledged yet. */
void roce_qp_drained(struct roce_shard *s, struct roce_qp *qp);

/* W-QP-01: all that is posted or under way vanishes, and the queue pair is in RESET, whatever its
 * kind. What was completed before is published: a client that is told of the RESET knows by the
 * numbers of entries which are of the life before. */
void roce_qp_reset(struct roce_shard *s, struct roce_qp *qp);

#endif
