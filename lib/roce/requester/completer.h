/* SPDX-License-Identifier: BSD-3-Clause */
/* Completer: what responses do to the send queue. */
#ifndef ROCE_COMPLETER_H
#define ROCE_COMPLETER_H

#include "roce/roce.h"

/* A response from the peer. */
void roce_comp_rx(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt);
/* The head of the send queue is due; complete it, and what is due behind it. False: it failed. */
bool roce_comp_due(struct roce_shard *s, struct roce_qp *qp);

#endif
