/* SPDX-License-Identifier: BSD-3-Clause */
#include "roce/responder/placement.h"

#include "roce/mem/fast_register.h"

bool
roce_write_place_pieces(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	const uint8_t *src = pkt->payload;
	uint32_t left = pkt->payload_bytes, piece;
	uint64_t va = qp->rx_va;

	for (; left > 0; left -= piece, src += piece, va += piece) {
		uint8_t *host;

		piece = left;
		host = roce_frmr_piece(s, qp, qp->rx_rkey, va, &piece, NDSH_ACCESS_REMOTE_WRITE);
		if (host == NULL)
			return false;
		ndsh_place(host, src, piece);
	}
	return true;
}
