/* SPDX-License-Identifier: BSD-3-Clause */
/* Responder: what requests of the peer do. */
#ifndef ROCE_RESPONDER_H
#define ROCE_RESPONDER_H

#include "roce/qp/qp.h"

/* A request from the peer. */
void roce_resp_rx(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt);
/* The peer's request is refused: the receive in use ends with status, a NAK is owed, the queue pair
 * goes to ERR. */
void roce_resp_fatal(struct roce_shard *s, struct roce_qp *qp, uint32_t psn, uint8_t syndrome,
	enum ndsh_wc_status status, enum roce_reason reason);
/* The peer is to be told owed of packet psn, in place of what it was to be told before. */
void roce_resp_owe(struct roce_shard *s, struct roce_qp *qp, enum roce_ack_owed owed, uint32_t psn,
	uint8_t syndrome);

#endif
