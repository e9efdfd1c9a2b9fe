/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "ndclient/ud/ah.h"
#include "ndverbs/region.h"
#include "ndverbs/request.h"
#include "ndverbs/wr.h"
#include "shm/ndsh_op.h"

static const struct {
	enum ndsh_op op;
	bool takes_inline, solicits;
} operations[] = {
	[IBV_WR_RDMA_WRITE] = {NDSH_OP_WRITE, true, false},
	[IBV_WR_RDMA_WRITE_WITH_IMM] = {NDSH_OP_WRITE_IMM, true, true},
	[IBV_WR_SEND] = {NDSH_OP_SEND, true, true},
	[IBV_WR_SEND_WITH_IMM] = {NDSH_OP_SEND_IMM, true, true},
	[IBV_WR_RDMA_READ] = {NDSH_OP_READ, false, false},
	[IBV_WR_ATOMIC_CMP_AND_SWP] = {NDSH_OP_CMP_SWAP, false, false},
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = {NDSH_OP_FETCH_ADD, false, false},
	[IBV_WR_LOCAL_INV] = {NDSH_OP_INVALIDATE, false, false},
	[IBV_WR_BIND_MW] = {NDSH_OP_BIND, false, false},
	[IBV_WR_SEND_WITH_INV] = {NDSH_OP_SEND_INV, true, true},
};

/* SOLICIT and INLINE are ignored where they mean nothing, and FENCE where no READ can be. */
static uint32_t
flags_of(const struct ndv_qp *qp, enum ibv_wr_opcode op, unsigned int send_flags)
{
	uint32_t how = 0;

	if (!qp->signal_all && !(send_flags & IBV_SEND_SIGNALED))
		how |= NDSH_WRF_SILENT;
	if ((send_flags & IBV_SEND_FENCE) && qp->base.qp_type == IBV_QPT_RC)
		how |= NDSH_WRF_FENCE;
	if ((send_flags & IBV_SEND_SOLICITED) && operations[op].solicits)
		how |= NDSH_WRF_SOLICIT;
	if ((send_flags & IBV_SEND_INLINE) && operations[op].takes_inline)
		how |= NDSH_WRF_INLINE;
	return how;
}

int
ndv_request_begin(const struct ndv_qp *qp, enum ibv_wr_opcode op, uint64_t id,
	unsigned int send_flags, struct ndv_request *r)
{
	if (op >= sizeof(operations) / sizeof(operations[0]))
		return EOPNOTSUPP;
	if (qp->base.qp_type != IBV_QPT_RC && !(ndv_wr_operations(qp->base.qp_type) & 1ull << op))
		return EINVAL;
	*r = (struct ndv_request){
		.op = operations[op].op,
		.how = flags_of(qp, op, send_flags),
		.wr = {.context = id},
	};
	return 0;
}

int
ndv_request_address(
	struct ndv_request *r, const struct ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey)
{
	if (ah == NULL)
		return EINVAL;
	r->wr.rkey = ((const struct ndv_ah *)ah)->nd->token;
	r->wr.raddr = NDSH_UD_RADDR(remote_qpn & 0xffffff, remote_qkey);
	return 0;
}

/* Of the region's rights, and whether the window is free, the daemon judges when the bind's turn
 * comes. The key must be one that the window can have, or the bind would be of another one. */
int
ndv_request_bind(struct ndv_request *r, enum ibv_mw_type type, const struct ibv_mw *mw,
	uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	bool unbinds = type == IBV_MW_TYPE_1 && info->length == 0;
	uint32_t access;

	if (mw == NULL || mw->type != type || (info->mr == NULL && !unbinds))
		return EINVAL;
	if ((rkey ^ mw->rkey) >> NDSH_MW_CHOSEN_BITS != 0 ||
		!ndv_window_rights(info->mw_access_flags, &access))
		return EINVAL;
	r->wr.raddr = info->addr;
	r->wr.rkey = rkey;
	r->wr.arg[0] = info->length;
	r->wr.arg[1] = access | (uint64_t)(info->mr != NULL ? info->mr->lkey : 0) << 32;
	return 0;
}

int
ndv_request_check(const struct ndv_request *r, const struct ibv_sge *list, int n)
{
	if (n < 0)
		return EINVAL;
	if (!ndsh_op_is_atomic(r->op))
		return 0;
	return n == 1 && list[0].length == sizeof(uint64_t) && r->wr.raddr % sizeof(uint64_t) == 0
		       ? 0
		       : EINVAL;
}

static void
fill_atomic(const struct ibv_send_wr *wr, struct ndv_request *r)
{
	r->wr.raddr = wr->wr.atomic.remote_addr;
	r->wr.rkey = wr->wr.atomic.rkey;
	r->wr.arg[0] = r->op == NDSH_OP_CMP_SWAP ? wr->wr.atomic.swap : wr->wr.atomic.compare_add;
	r->wr.arg[1] = r->op == NDSH_OP_CMP_SWAP ? wr->wr.atomic.compare_add : 0;
}

static int
fill_operands(const struct ndv_qp *qp, const struct ibv_send_wr *wr, struct ndv_request *r)
{
	if (qp->base.qp_type == IBV_QPT_UD)
		return ndv_request_address(
			r, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
	if (ndsh_op_is_atomic(r->op)) {
		fill_atomic(wr, r);
	} else if (r->op == NDSH_OP_SEND_INV || r->op == NDSH_OP_INVALIDATE) {
		r->wr.rkey = wr->invalidate_rkey;
	} else if (r->op == NDSH_OP_BIND) {
		return ndv_request_bind(
			r, IBV_MW_TYPE_2, wr->bind_mw.mw, wr->bind_mw.rkey, &wr->bind_mw.bind_info);
	} else if (r->op == NDSH_OP_READ || r->op == NDSH_OP_WRITE || r->op == NDSH_OP_WRITE_IMM) {
		r->wr.raddr = wr->wr.rdma.remote_addr;
		r->wr.rkey = wr->wr.rdma.rkey;
	}
	return 0;
}

int
ndv_request_of(const struct ndv_qp *qp, const struct ibv_send_wr *wr, struct ndv_request *r)
{
	int err = ndv_request_begin(qp, wr->opcode, wr->wr_id, wr->send_flags, r);

	if (err == 0) {
		r->wr.imm = wr->imm_data;
		err = fill_operands(qp, wr, r);
	}
	return err == 0 ? ndv_request_check(r, wr->sg_list, wr->num_sge) : err;
}
