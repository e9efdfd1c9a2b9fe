/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting. */
#ifndef NDV_POST_H
#define NDV_POST_H

#include <infiniband/verbs.h>

int ndv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int ndv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int ndv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

#endif
