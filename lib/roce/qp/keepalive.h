/* SPDX-License-Identifier: BSD-3-Clause */
/* Is the peer of an idle queue pair still there? */
#ifndef ROCE_KEEPALIVE_H
#define ROCE_KEEPALIVE_H

struct roce_qp;
struct roce_shard;

/* From now on the peer is watched. */
void roce_keepalive_start(struct roce_shard *s, struct roce_qp *qp);
/* By the timer: the time to ask the peer may have come. */
void roce_keepalive_run(struct roce_shard *s, struct roce_qp *qp);

#endif
