/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting. */
#ifndef NDV_POST_H
#define NDV_POST_H

#include <infiniband/verbs.h>

struct ndv_qp;
struct ndv_request;

/* 0, or EINVAL: requests are not legal in the queue pair's state. */
int ndv_check_sends(const struct ndv_qp *qp);
/* Post what is filled, by nd_post_request() or its like; r->how has NDSH_WRF_* and ND_POST_*. The
 * queue's lock is held. */
int ndv_post_filled(
	struct ndv_qp *qp, struct ndv_request *r, const struct ibv_sge *list, uint32_t n);
int ndv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int ndv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int ndv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

#endif
