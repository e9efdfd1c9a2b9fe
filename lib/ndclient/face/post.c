/* SPDX-License-Identifier: BSD-3-Clause */
/* Initiator requests of the ND face: which flags each has, the status of each refusal, and what is
 * posted. The posting itself is in qp/post.c. */
#include <arpa/inet.h>

#include "ndclient/face/flags.h"
#include "ndclient/mem/region.h"
#include "ndclient/mem/window.h"
#include "ndclient/qp/post.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"

/* DEFER has no effect: each request is handed over at once, which costs one barrier as long as the
 * daemon polls the ring anyway. So no chain can be forgotten (R-POST-12, R-POST-13). */
#define ALL_FLAGS	 (ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE | ND_OP_FLAG_DEFER)
#define WRITE_FLAGS	 (ALL_FLAGS | ND_OP_FLAG_INLINE)
#define SEND_FLAGS	 (WRITE_FLAGS | ND_OP_FLAG_SEND_AND_SOLICIT_EVENT)
#define READ_FLAGS	 (ALL_FLAGS | ND_OP_FLAG_READ_LOCAL_INVALIDATE)
#define BIND_FLAGS	 (ALL_FLAGS | ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE)
#define INVALIDATE_FLAGS ALL_FLAGS

static nd_status
post_request(struct nd_qp *qp, enum ndsh_op op, void *context, const struct nd_sge *sge, uint32_t n,
	uint64_t raddr, uint32_t rkey, uint32_t flags)
{
	struct ndsh_swr wr = {.context = (uintptr_t)context, .raddr = raddr, .rkey = rkey};

	return nd_post_request(qp, op, &wr, sge, n, nd_request_flags(flags));
}

nd_status
nd_qp_send(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n, uint32_t flags)
{
	if (flags & ~SEND_FLAGS)
		return ND_INVALID_PARAMETER_4; /* R-POST-05 */
	return post_request(qp, NDSH_OP_SEND, context, sge, n, 0, 0, flags);
}

nd_status
nd_qp_send_and_invalidate(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n,
	uint32_t remote_token, uint32_t flags)
{
	if (flags & ~SEND_FLAGS)
		return ND_INVALID_PARAMETER_4; /* R-INV-07: as send */
	return post_request(
		qp, NDSH_OP_SEND_INV, context, sge, n, 0, ntohl(remote_token), flags); /* R-MR-09 */
}

/* An older daemon would end the session for such a request, so it is refused here. */
static nd_status
post_immediate(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr, const struct nd_sge *sge,
	uint32_t n, uint32_t flags)
{
	if (qp->adapter->abi_minor < NDSH_MINOR_IMMEDIATES)
		return ND_NOT_SUPPORTED;
	return nd_post_request(qp, op, wr, sge, n, nd_request_flags(flags));
}

nd_status
nd_qp_send_with_immediate(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n,
	uint32_t immediate, uint32_t flags)
{
	struct ndsh_swr wr = {.context = (uintptr_t)context, .imm = immediate};

	if (flags & ~SEND_FLAGS)
		return ND_INVALID_PARAMETER_5;
	return post_immediate(qp, NDSH_OP_SEND_IMM, &wr, sge, n, flags);
}

nd_status
nd_qp_write_with_immediate(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n,
	uint64_t remote_address, uint32_t remote_token, uint32_t immediate, uint32_t flags)
{
	struct ndsh_swr wr = {.context = (uintptr_t)context,
		.raddr = remote_address,
		.rkey = ntohl(remote_token),
		.imm = immediate};

	if (flags & ~SEND_FLAGS)
		return ND_INVALID_PARAMETER_7;
	return post_immediate(qp, NDSH_OP_WRITE_IMM, &wr, sge, n, flags);
}

nd_status
nd_qp_write(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n,
	uint64_t remote_address, uint32_t remote_token, uint32_t flags)
{
	if (flags & ~WRITE_FLAGS)
		return ND_INVALID_PARAMETER_6;
	return post_request(
		qp, NDSH_OP_WRITE, context, sge, n, remote_address, ntohl(remote_token), flags);
}

nd_status
nd_qp_read(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n,
	uint64_t remote_address, uint32_t remote_token, uint32_t flags)
{
	if (flags & ~READ_FLAGS)
		return ND_INVALID_PARAMETER_6;
	if (qp->adapter->abi_minor < NDSH_MINOR_LOCAL_INV) /* R-RW-06: ignored without it */
		flags &= ~ND_OP_FLAG_READ_LOCAL_INVALIDATE;
	if (n > qp->adapter->info.max_read_sge && nd_post_check_connected(qp) == ND_SUCCESS)
		return ND_DATA_OVERRUN; /* R-RW-07 */
	return post_request(
		qp, NDSH_OP_READ, context, sge, n, remote_address, ntohl(remote_token), flags);
}

/* wr has context, address, token and operands. */
static nd_status
post_atomic(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr, const struct nd_sge *sge,
	uint32_t flags)
{
	if (sge == NULL || sge->bytes != sizeof(uint64_t))
		return ND_INVALID_PARAMETER_2;
	if (wr->raddr % sizeof(uint64_t) != 0)
		return ND_INVALID_PARAMETER_3;
	if (qp->adapter->abi_minor < NDSH_MINOR_ATOMICS)
		return ND_NOT_SUPPORTED;
	return nd_post_request(qp, op, wr, sge, 1, nd_request_flags(flags));
}

nd_status
nd_qp_fetch_add(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint64_t remote_address,
	uint32_t remote_token, uint64_t add, uint32_t flags)
{
	struct ndsh_swr wr = {.context = (uintptr_t)context,
		.raddr = remote_address,
		.rkey = ntohl(remote_token),
		.arg = {add, 0}};

	if (flags & ~ALL_FLAGS)
		return ND_INVALID_PARAMETER_6;
	return post_atomic(qp, NDSH_OP_FETCH_ADD, &wr, sge, flags);
}

nd_status
nd_qp_compare_swap(struct nd_qp *qp, void *context, const struct nd_sge *sge,
	uint64_t remote_address, uint32_t remote_token, uint64_t compare, uint64_t swap,
	uint32_t flags)
{
	struct ndsh_swr wr = {.context = (uintptr_t)context,
		.raddr = remote_address,
		.rkey = ntohl(remote_token),
		.arg = {swap, compare}};

	if (flags & ~ALL_FLAGS)
		return ND_INVALID_PARAMETER_7;
	return post_atomic(qp, NDSH_OP_CMP_SWAP, &wr, sge, flags);
}

/* Refuse here, as far as it can be seen, what the daemon would refuse with a result that ends the
 * connection (R-MW-03, R-MW-04). Remote rights of the region do not matter. */
static nd_status
check_bind(const struct nd_qp *qp, const struct nd_mr *mr, const struct nd_mw *mw, const void *buf,
	size_t bytes, uint32_t flags)
{
	uint64_t offset;

	if (mr == NULL || mr->pd != qp->pd) /* R-MW-02 */
		return ND_INVALID_PARAMETER_2;
	if (mw == NULL || mw->pd != qp->pd)
		return ND_INVALID_PARAMETER_3;
	if (flags & ~BIND_FLAGS)
		return ND_INVALID_PARAMETER_6;
	offset = (uintptr_t)buf - mr->va; /* below the region: huge */
	if (offset > mr->bytes || bytes > mr->bytes - offset)
		return ND_ACCESS_VIOLATION;
	if ((flags & ND_OP_FLAG_ALLOW_WRITE) && !(mr->access & NDSH_ACCESS_LOCAL_WRITE))
		return ND_ACCESS_VIOLATION;
	return ND_SUCCESS;
}

nd_status
nd_qp_bind(struct nd_qp *qp, void *context, struct nd_mr *mr, struct nd_mw *mw, const void *buf,
	size_t bytes, uint32_t flags)
{
	struct ndsh_swr wr = {.context = (uintptr_t)context, .raddr = (uintptr_t)buf};
	nd_status st = check_bind(qp, mr, mw, buf, bytes, flags);

	if (st == ND_SUCCESS)
		st = nd_post_check(qp); /* R-MW-11 */
	if (st != ND_SUCCESS)
		return st;
	if (!nd_mw_bind(mw, mr, qp))
		return ND_INVALID_DEVICE_STATE; /* R-MW-01 */
	wr.rkey = mw->token;
	wr.imm = mw->generation;
	wr.arg[0] = bytes;
	wr.arg[1] = nd_window_access(flags) |
		    (uint64_t)__atomic_load_n(&mr->token, __ATOMIC_ACQUIRE) << 32;
	nd_post_local(qp, NDSH_OP_BIND, &wr, nd_request_flags(flags));
	return ND_SUCCESS;
}

nd_status
nd_qp_invalidate(struct nd_qp *qp, void *context, struct nd_mw *mw, uint32_t flags)
{
	struct ndsh_swr wr = {.context = (uintptr_t)context};
	nd_status st;

	if (mw == NULL || mw->pd != qp->pd)
		return ND_INVALID_PARAMETER_2;
	if (flags & ~INVALIDATE_FLAGS)
		return ND_INVALID_PARAMETER_3;
	st = nd_post_check(qp);
	if (st != ND_SUCCESS)
		return st;
	nd_mw_invalidate(mw, qp);
	wr.rkey = __atomic_load_n(&mw->token, __ATOMIC_RELAXED);
	nd_post_local(qp, NDSH_OP_INVALIDATE, &wr, nd_request_flags(flags));
	return ND_SUCCESS;
}

nd_status
nd_qp_invalidate_mr(struct nd_qp *qp, void *context, struct nd_mr *mr, uint32_t flags)
{
	struct ndsh_swr wr = {.context = (uintptr_t)context};
	nd_status st;

	if (mr == NULL || mr->pd != qp->pd || (flags & ~INVALIDATE_FLAGS) != 0)
		return ND_INVALID_PARAMETER;
	st = nd_post_check(qp);
	if (st != ND_SUCCESS)
		return st;
	wr.rkey = __atomic_load_n(&mr->token, __ATOMIC_ACQUIRE);
	nd_post_local(qp, NDSH_OP_INVALIDATE, &wr, nd_request_flags(flags));
	return ND_SUCCESS;
}
