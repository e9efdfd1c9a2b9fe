/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_FETCH_H
#define ROCE_FETCH_H

struct roce_qp;
struct roce_shard;
struct roce_wqe;

/* The next request in the send ring of qp, which was read once and checked. NULL: there is none, or
 * its principal may take no roce_wqe (then qp waits for one), or the ring broke the contract (then
 * qp went to ERR). */
struct roce_wqe *roce_wqe_fetch(struct roce_shard *s, struct roce_qp *qp);

#endif
