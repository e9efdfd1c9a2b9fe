/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "ndclient/ud/ah.h"
#include "ndverbs/request.h"
#include "shm/ndsh_op.h"

static const struct {
	int op; /* -1: not to be had */
	bool takes_inline, solicits;
} operations[] = {
	[IBV_WR_RDMA_WRITE] = {NDSH_OP_WRITE, true, false},
	[IBV_WR_RDMA_WRITE_WITH_IMM] = {NDSH_OP_WRITE_IMM, true, true},
	[IBV_WR_SEND] = {NDSH_OP_SEND, true, true},
	[IBV_WR_SEND_WITH_IMM] = {NDSH_OP_SEND_IMM, true, true},
	[IBV_WR_RDMA_READ] = {NDSH_OP_READ, false, false},
	[IBV_WR_ATOMIC_CMP_AND_SWP] = {NDSH_OP_CMP_SWAP, false, false},
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = {NDSH_OP_FETCH_ADD, false, false},
	[IBV_WR_LOCAL_INV] = {-1, false, false},
	[IBV_WR_BIND_MW] = {-1, false, false},
	[IBV_WR_SEND_WITH_INV] = {NDSH_OP_SEND_INV, true, true},
};

/* SOLICIT and INLINE are ignored where they mean nothing. */
static uint32_t
flags_of(const struct ndv_qp *qp, const struct ibv_send_wr *wr)
{
	uint32_t how = 0;

	if (!qp->signal_all && !(wr->send_flags & IBV_SEND_SIGNALED))
		how |= NDSH_WRF_SILENT;
	if (wr->send_flags & IBV_SEND_FENCE)
		how |= NDSH_WRF_FENCE;
	if ((wr->send_flags & IBV_SEND_SOLICITED) && operations[wr->opcode].solicits)
		how |= NDSH_WRF_SOLICIT;
	if ((wr->send_flags & IBV_SEND_INLINE) && operations[wr->opcode].takes_inline)
		how |= NDSH_WRF_INLINE;
	return how;
}

static int
fill_datagram(const struct ibv_send_wr *wr, struct ndv_request *r)
{
	const struct nd_ah *ah = wr->wr.ud.ah != NULL ? ((struct ndv_ah *)wr->wr.ud.ah)->nd : NULL;

	if (ah == NULL || (wr->opcode != IBV_WR_SEND && wr->opcode != IBV_WR_SEND_WITH_IMM))
		return EINVAL;
	r->how &= ~(uint32_t)NDSH_WRF_FENCE;
	r->wr.rkey = ah->token;
	r->wr.raddr = NDSH_UD_RADDR(wr->wr.ud.remote_qpn & 0xffffff, wr->wr.ud.remote_qkey);
	return 0;
}

static int
fill_atomic(const struct ibv_send_wr *wr, struct ndv_request *r)
{
	r->wr.raddr = wr->wr.atomic.remote_addr;
	r->wr.rkey = wr->wr.atomic.rkey;
	r->wr.arg[0] = r->op == NDSH_OP_CMP_SWAP ? wr->wr.atomic.swap : wr->wr.atomic.compare_add;
	r->wr.arg[1] = r->op == NDSH_OP_CMP_SWAP ? wr->wr.atomic.compare_add : 0;
	return wr->num_sge == 1 && wr->sg_list[0].length == sizeof(uint64_t) &&
			       r->wr.raddr % sizeof(uint64_t) == 0
		       ? 0
		       : EINVAL;
}

int
ndv_request_of(const struct ndv_qp *qp, const struct ibv_send_wr *wr, struct ndv_request *r)
{
	if (wr->opcode >= sizeof(operations) / sizeof(operations[0]) ||
		operations[wr->opcode].op < 0)
		return EOPNOTSUPP;
	if (wr->num_sge < 0)
		return EINVAL;
	*r = (struct ndv_request){
		.op = (enum ndsh_op)operations[wr->opcode].op,
		.how = flags_of(qp, wr),
		.wr = {.context = wr->wr_id, .imm = wr->imm_data},
	};
	if (qp->base.qp_type == IBV_QPT_UD)
		return fill_datagram(wr, r);
	if (ndsh_op_is_atomic(r->op))
		return fill_atomic(wr, r);
	if (r->op == NDSH_OP_SEND_INV) {
		r->wr.rkey = wr->invalidate_rkey;
	} else if (r->op == NDSH_OP_READ || r->op == NDSH_OP_WRITE || r->op == NDSH_OP_WRITE_IMM) {
		r->wr.raddr = wr->wr.rdma.remote_addr;
		r->wr.rkey = wr->wr.rdma.rkey;
	}
	return 0;
}
