/* SPDX-License-Identifier: BSD-3-Clause */
/* Responder: requests that the peer repeats. */
#ifndef ROCE_DUPLICATE_H
#define ROCE_DUPLICATE_H

struct roce_pkt;
struct roce_qp;
struct roce_shard;

/* A request whose PSN is before the one expected. */
void roce_resp_duplicate(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt);

#endif
