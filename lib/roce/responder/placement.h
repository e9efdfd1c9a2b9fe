/* SPDX-License-Identifier: BSD-3-Clause */
/* Responder: what a SEND or WRITE is judged by, where its payload goes, and its completion, the
 * same for reliable and unreliable connections. Inline: it is most of what a packet costs. */
#ifndef ROCE_PLACEMENT_H
#define ROCE_PLACEMENT_H

#include "base/compiler.h"
#include "roce/mem/copy.h"
#include "roce/mem/moved.h"
#include "roce/mem/mr.h"
#include "roce/qp/qp.h"
#include "roce/queue/receive.h"
#include "roce/shard/shard.h"
#include "shm/ndsh_mover.h"

/* The payload goes to memory in pieces. The right to the whole message was checked with its first
 * packet. */
bool roce_write_place_pieces(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt);

/* W-RESP-05 */
BASE_INLINE bool
roce_sequence_ok(const struct roce_qp *qp, uint32_t flags)
{
	if (qp->rx_msg == ROCE_MSG_NONE)
		return flags & ROCE_OPF_FIRST;
	return !(flags & ROCE_OPF_FIRST) &&
	       (flags & (qp->rx_msg == ROCE_MSG_SEND ? ROCE_OPF_SEND : ROCE_OPF_WRITE));
}

/* W-RESP-09 */
BASE_INLINE bool
roce_length_ok(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint32_t mtu = roce_qp_mtu(qp), bytes = pkt->payload_bytes;

	if (pkt->pad != (-bytes & 3u))
		return false;
	if (!(pkt->opflags & ROCE_OPF_LAST))
		return bytes == mtu;
	return bytes <= mtu && (bytes > 0 || (pkt->opflags & ROCE_OPF_FIRST));
}

/* Does the payload fit the length in the RETH, which is no longer than a message may be? */
BASE_INLINE bool
roce_write_as_announced(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (pkt->opflags & ROCE_OPF_LAST)
		return pkt->payload_bytes == qp->rx_left;
	return pkt->payload_bytes < qp->rx_left && qp->rx_left <= ROCE_MSG_MAX;
}

/* W-RESP-12, W-RESP-13. need: how many bytes from here on the peer must have the right to. */
BASE_INLINE enum roce_copy
roce_write_place(
	struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt, uint64_t need)
{
	uint32_t key = qp->rx_rkey, right = NDSH_ACCESS_REMOTE_WRITE;
	uint8_t *host = roce_mr_access(s, qp, key, qp->rx_va, need, right);

	if (base_likely(host != NULL)) {
		ndsh_place(host, pkt->payload, pkt->payload_bytes);
		return ROCE_COPY_OK;
	}
	if (!roce_mr_permits(s, qp, key, qp->rx_va, need, right))
		return ROCE_COPY_REFUSED;
	if (roce_mr_mover(s, qp, key, qp->rx_va, need, right) != NULL)
		return roce_moved_put(s, qp, key, qp->rx_va, pkt->payload, pkt->payload_bytes,
			right, NDSH_SPOILS_WRITE);
	return roce_write_place_pieces(s, qp, pkt) ? ROCE_COPY_OK : ROCE_COPY_REFUSED;
}

/* pkt is the last packet of its message. */
BASE_INLINE void
roce_complete_receive(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct ndsh_cqe cqe = {
		.context = qp->rx_wqe->context,
		.qp = qp->handle,
		.bytes = qp->rx_bytes + pkt->payload_bytes,
		.slot_count = ++qp->rq_done,
		.status = NDSH_WC_SUCCESS,
		.op = NDSH_OP_RECV,
		.flags = pkt->se ? NDSH_CQEF_SOLICITED : 0,
	};

	if (pkt->opflags & (ROCE_OPF_IMM | ROCE_OPF_IETH)) {
		bool imm = pkt->opflags & ROCE_OPF_IMM;

		cqe.flags |= imm ? NDSH_CQEF_IMM : NDSH_CQEF_INV;
		cqe.data = imm ? pkt->imm : pkt->ieth;
		if (pkt->opflags & ROCE_OPF_WRITE)
			cqe.flags |= NDSH_CQEF_WRITE;
	}
	s->count.receives_completed++;
	roce_receive_finish(s, qp, &cqe);
}

#endif
