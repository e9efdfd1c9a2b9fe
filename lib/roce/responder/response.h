/* SPDX-License-Identifier: BSD-3-Clause */
/* Responder: responses on their way out. */
#ifndef ROCE_RESPONSE_H
#define ROCE_RESPONSE_H

#include "roce/qp/qp.h"

/* Is there a response to be sent? */
static inline bool
roce_resp_pending(const struct roce_qp *qp)
{
	return qp->rd_pending > 0 || qp->ack_owed != ROCE_OWED_NONE;
}

/* The next response of qp into slot; false: none may leave now. */
bool roce_resp_tx(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slot);

#endif
