/* SPDX-License-Identifier: BSD-3-Clause */
/* Which queue pair may send, and what all that it sends has in common. */
#ifndef ROCE_TX_H
#define ROCE_TX_H

#include "base/compiler.h"
#include "base/list.h"
#include "roce/qp/qp.h"
#include "roce/queue/senders.h"
#include "roce/shard/shard.h"

#define ROCE_TX_QUANTUM 16u /* packets a queue pair may send before it is the next one's turn */

/* The queue pair may have something to send. */
static inline void
roce_tx_want(struct roce_shard *s, struct roce_qp *qp)
{
	if (base_unlikely(qp->tx_bits & ROCE_TXB_STARVED)) {
		roce_tx_clear(qp, ROCE_TXB_STARVED);
		base_list_remove(&qp->tx_link);
	}
	roce_senders_join(s, qp);
}

/* Finish and count the frame whose headers and payload are in slot->buf. */
static inline void
roce_tx_seal(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slot,
	uint32_t hdr_bytes, uint32_t payload_bytes)
{
	slot->len = roce_wire_seal(slot->buf, &qp->tmpl, hdr_bytes, payload_bytes);
	slot->port = qp->port;
	s->count.tx_packets++;
	s->count.tx_bytes += slot->len;
}

#endif
