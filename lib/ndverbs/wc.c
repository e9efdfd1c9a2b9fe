/* SPDX-License-Identifier: BSD-3-Clause */
/* Work completions. The daemon's outcomes have the numbers of verbs: they are passed on. */
#include <assert.h>

#include "ndverbs/cq.h"
#include "shm/ndsh_op.h"

#define SAME(daemon, verbs)                                                                        \
	static_assert((int)NDSH_WC_##daemon == (int)IBV_WC_##verbs, "one number")
SAME(SUCCESS, SUCCESS);
SAME(LOC_LEN_ERR, LOC_LEN_ERR);
SAME(LOC_QP_OP_ERR, LOC_QP_OP_ERR);
SAME(LOC_PROT_ERR, LOC_PROT_ERR);
SAME(FLUSH_ERR, WR_FLUSH_ERR);
SAME(BIND_ERR, MW_BIND_ERR);
SAME(BAD_RESP_ERR, BAD_RESP_ERR);
SAME(LOC_ACCESS_ERR, LOC_ACCESS_ERR);
SAME(REM_INV_REQ_ERR, REM_INV_REQ_ERR);
SAME(REM_ACCESS_ERR, REM_ACCESS_ERR);
SAME(REM_OP_ERR, REM_OP_ERR);
SAME(RETRY_EXC_ERR, RETRY_EXC_ERR);
SAME(RNR_RETRY_EXC_ERR, RNR_RETRY_EXC_ERR);
SAME(REM_ABORT_ERR, REM_ABORT_ERR);
SAME(FATAL_ERR, FATAL_ERR);
SAME(GENERAL_ERR, GENERAL_ERR);

/* UCX takes a datagram for what it wants only if the service level says the IP version that mlx5
 * would put there. */
#define SL_IPV4 0xa

static enum ibv_wc_opcode
opcode_of(const struct ndsh_cqe *e)
{
	switch (e->op) {
	case NDSH_OP_RECV:
		return e->flags & NDSH_CQEF_WRITE ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
	case NDSH_OP_WRITE:
	case NDSH_OP_WRITE_IMM:
		return IBV_WC_RDMA_WRITE;
	case NDSH_OP_READ:
		return IBV_WC_RDMA_READ;
	case NDSH_OP_CMP_SWAP:
		return IBV_WC_COMP_SWAP;
	case NDSH_OP_FETCH_ADD:
		return IBV_WC_FETCH_ADD;
	case NDSH_OP_BIND:
		return IBV_WC_BIND_MW;
	case NDSH_OP_INVALIDATE:
		return IBV_WC_LOCAL_INV;
	default:
		return IBV_WC_SEND;
	}
}

void
ndv_wc_of(const struct nd_entry *entry, struct ibv_wc *wc)
{
	const struct ndsh_cqe *e = &entry->e;

	*wc = (struct ibv_wc){
		.wr_id = e->context,
		.status = (enum ibv_wc_status)e->status,
		.opcode = opcode_of(e),
		.byte_len = e->bytes,
		.qp_num = entry->qp_number,
	};
	if (e->status != NDSH_WC_SUCCESS) {
		wc->vendor_err = e->syndrome;
		return;
	}
	if (e->op != NDSH_OP_RECV)
		return;
	if (e->flags & NDSH_CQEF_IMM) {
		wc->wc_flags |= IBV_WC_WITH_IMM;
		wc->imm_data = e->data;
	}
	if (e->flags & NDSH_CQEF_INV) {
		wc->wc_flags |= IBV_WC_WITH_INV;
		wc->invalidated_rkey = e->data;
	}
	if (e->flags & NDSH_CQEF_GRH) {
		wc->wc_flags |= IBV_WC_GRH;
		wc->src_qp = e->syndrome;
		wc->sl = SL_IPV4;
	}
}
