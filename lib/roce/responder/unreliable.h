/* SPDX-License-Identifier: BSD-3-Clause */
/* Responder: what requests of an unreliable connection's peer do. */
#ifndef ROCE_RESPONDER_UNRELIABLE_H
#define ROCE_RESPONDER_UNRELIABLE_H

struct roce_pkt;
struct roce_qp;
struct roce_shard;

/* A packet of the class UC from the peer. */
void roce_uc_rx(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt);

#endif
