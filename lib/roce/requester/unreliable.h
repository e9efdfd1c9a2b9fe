/* SPDX-License-Identifier: BSD-3-Clause */
/* Requester of unreliable connections. */
#ifndef ROCE_REQUESTER_UNRELIABLE_H
#define ROCE_REQUESTER_UNRELIABLE_H

struct roce_qp;
struct roce_shard;
struct roce_tx_slot;

/* Fills up to n slots with packets of qp, and flushes some of its requests where its send side has
 * failed; returns how many are filled. If there may be more, qp is among the senders again. */
unsigned roce_uc_tx(
	struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n);

#endif
