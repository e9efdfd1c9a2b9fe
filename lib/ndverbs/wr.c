/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posting step by step. A request is filled beside the ring, as its SGEs come after it; when the
 * next one begins, or the batch ends, it goes into its slot, where the daemon does not see it yet.
 * The first error ends all: the calls have no result, so ibv_wr_complete() tells it, and the slots
 * are as they were. The queue's lock is held from ibv_wr_start() on.
 */
#include "ndverbs/wr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/qp/batch.h"
#include "ndclient/qp/post.h"
#include "ndclient/qp/qp.h"
#include "ndverbs/object.h"
#include "ndverbs/post.h"
#include "ndverbs/request.h"
#include "shm/ndsh_op.h"

struct ndv_wr {
	uint64_t operations; /* IBV_QP_EX_WITH_* */
	struct nd_batch batch;
	int error;	/* of the batch; 0: none so far */
	bool filling;	/* the request that follows has been begun */
	bool addressed; /* datagrams: it has a destination */
	struct ndv_request request;
	uint32_t num_sge;
	struct ibv_sge sge[NDSH_SGE_MAX];
	uint8_t data[NDSH_INLINE_MAX]; /* inline: sge[0] is of it */
};

#define OPERATION(op) (1ull << (op))
static_assert(
	IBV_QP_EX_WITH_SEND_WITH_INV == OPERATION(IBV_WR_SEND_WITH_INV) &&
		IBV_QP_EX_WITH_RDMA_WRITE == OPERATION(IBV_WR_RDMA_WRITE) &&
		IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD == OPERATION(IBV_WR_ATOMIC_FETCH_AND_ADD) &&
		IBV_QP_EX_WITH_LOCAL_INV == OPERATION(IBV_WR_LOCAL_INV) &&
		IBV_QP_EX_WITH_BIND_MW == OPERATION(IBV_WR_BIND_MW),
	"a bit for each operation");

uint64_t
ndv_wr_operations(enum ibv_qp_type type)
{
	const uint64_t sends = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;

	const uint64_t writes = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;

	if (type == IBV_QPT_UD)
		return sends;
	if (type == IBV_QPT_UC)
		return sends | writes;
	return sends | writes | IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_READ |
	       IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
	       IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW;
}

static struct ndv_qp *
qp_of(struct ibv_qp_ex *ex)
{
	return ndv_qp(&ex->qp_base);
}

/* ---- a batch ------------------------------------------------------------------------------ */

static int
check_filled(const struct ndv_qp *qp, const struct ndv_wr *w)
{
	const struct ndv_request *r = &w->request;

	if (qp->base.qp_type == IBV_QPT_UD && !w->addressed)
		return EINVAL;
	if ((r->how & NDSH_WRF_INLINE) && !ndsh_op_is_data(r->op))
		return EINVAL;
	return ndv_request_check(r, w->sge, (int)w->num_sge);
}

/* The request that is filled, if there is one, into its slot. how: ND_POST_*. */
static void
post_filled(struct ndv_qp *qp, uint32_t how)
{
	struct ndv_wr *w = qp->wr;

	if (w->filling && w->error == 0)
		w->error = check_filled(qp, w);
	if (w->filling && w->error == 0) {
		w->request.how |= how;
		w->error = ndv_post_filled(qp, &w->request, w->sge, w->num_sge);
	}
	w->filling = false;
}

static void
wr_start(struct ibv_qp_ex *ex)
{
	struct ndv_qp *qp = qp_of(ex);

	nd_spin_lock(&qp->send_lock);
	qp->wr->error = ndv_check_sends(qp);
	qp->wr->filling = false;
	nd_batch_begin(qp->nd, &qp->wr->batch);
}

/* A request that is alone needs not be held. */
static int
wr_complete(struct ibv_qp_ex *ex)
{
	struct ndv_qp *qp = qp_of(ex);
	struct ndv_wr *w = qp->wr;
	bool alone = qp->nd->sq.next == w->batch.first;
	int err;

	post_filled(qp, alone ? 0 : ND_POST_HELD);
	err = w->error;
	if (err != 0)
		nd_batch_drop(qp->nd, &w->batch);
	else if (!alone)
		nd_batch_show(qp->nd, &w->batch);
	nd_spin_unlock(&qp->send_lock);
	return err;
}

static void
wr_abort(struct ibv_qp_ex *ex)
{
	struct ndv_qp *qp = qp_of(ex);

	nd_batch_drop(qp->nd, &qp->wr->batch);
	nd_spin_unlock(&qp->send_lock);
}

/* ---- operations --------------------------------------------------------------------------- */

/* By ex->wr_id and wr_flags. Inline data have a call of their own here, and no flag. What is
 * written into the result of a request that can't be is of no account. */
static struct ndsh_swr *
begin_request(struct ibv_qp_ex *ex, enum ibv_wr_opcode op)
{
	struct ndv_qp *qp = qp_of(ex);
	struct ndv_wr *w = qp->wr;

	post_filled(qp, ND_POST_HELD);
	if (w->error == 0 && !(w->operations & OPERATION(op)))
		w->error = EINVAL;
	if (w->error == 0)
		w->error = ndv_request_begin(qp, op, ex->wr_id,
			ex->wr_flags & ~(unsigned int)IBV_SEND_INLINE, &w->request);
	w->num_sge = 0;
	w->addressed = false;
	w->filling = true;
	return &w->request.wr;
}

static void
begin_remote(struct ibv_qp_ex *ex, enum ibv_wr_opcode op, uint32_t rkey, uint64_t remote_addr)
{
	struct ndsh_swr *wr = begin_request(ex, op);

	wr->rkey = rkey;
	wr->raddr = remote_addr;
}

static void
wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	begin_remote(ex, IBV_WR_RDMA_WRITE, rkey, remote_addr);
}

static void
wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr, __be32 imm)
{
	begin_remote(ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr);
	qp_of(ex)->wr->request.wr.imm = imm;
}

static void
wr_bind_mw(
	struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	struct ndv_wr *w = qp_of(ex)->wr;

	(void)begin_request(ex, IBV_WR_BIND_MW);
	if (w->error == 0)
		w->error = ndv_request_bind(&w->request, IBV_MW_TYPE_2, mw, rkey, info);
}

static void
wr_local_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	begin_request(ex, IBV_WR_LOCAL_INV)->rkey = rkey;
}

static void
wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	begin_remote(ex, IBV_WR_RDMA_READ, rkey, remote_addr);
}

static void
wr_compare_swap(
	struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr, uint64_t compare, uint64_t swap)
{
	begin_remote(ex, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr);
	qp_of(ex)->wr->request.wr.arg[0] = swap;
	qp_of(ex)->wr->request.wr.arg[1] = compare;
}

static void
wr_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr, uint64_t add)
{
	begin_remote(ex, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr);
	qp_of(ex)->wr->request.wr.arg[0] = add;
}

static void
wr_send(struct ibv_qp_ex *ex)
{
	(void)begin_request(ex, IBV_WR_SEND);
}

static void
wr_send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
	begin_request(ex, IBV_WR_SEND_WITH_IMM)->imm = imm;
}

static void
wr_send_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	begin_request(ex, IBV_WR_SEND_WITH_INV)->rkey = rkey;
}

/* ---- what follows an operation ------------------------------------------------------------ */

/* False: there is none to follow. */
static bool
is_filling(struct ndv_wr *w)
{
	if (!w->filling && w->error == 0)
		w->error = EINVAL;
	return w->error == 0;
}

static void
wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct ndv_wr *w = qp_of(ex)->wr;

	if (is_filling(w))
		w->error = ndv_request_address(&w->request, ah, remote_qpn, remote_qkey);
	w->addressed = true;
}

static void
wr_set_sge_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_sge *list)
{
	struct ndv_wr *w = qp_of(ex)->wr;

	if (!is_filling(w))
		return;
	if (n > NDSH_SGE_MAX) {
		w->error = EINVAL;
		return;
	}
	if (n > 0)
		memcpy(w->sge, list, n * sizeof(*list));
	w->num_sge = (uint32_t)n;
	w->request.how &= ~(uint32_t)NDSH_WRF_INLINE;
}

static void
wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	wr_set_sge_list(ex, 1, &(struct ibv_sge){.addr = addr, .length = length, .lkey = lkey});
}

/* The program's memory is its own again when this returns. */
static void
wr_set_inline_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_data_buf *list)
{
	struct ndv_qp *qp = qp_of(ex);
	struct ndv_wr *w = qp->wr;
	size_t at = 0;

	if (!is_filling(w))
		return;
	for (size_t i = 0; i < n; at += list[i++].length) {
		if (list[i].length > qp->cap.max_inline_data - at) {
			w->error = EINVAL;
			return;
		}
		if (list[i].length > 0)
			memcpy(w->data + at, list[i].addr, list[i].length);
	}
	w->sge[0] = (struct ibv_sge){.addr = (uintptr_t)w->data, .length = (uint32_t)at};
	w->num_sge = 1;
	w->request.how |= NDSH_WRF_INLINE;
}

static void
wr_set_inline(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	wr_set_inline_list(ex, 1, &(struct ibv_data_buf){.addr = addr, .length = length});
}

/* ---- creating ----------------------------------------------------------------------------- */

static void
fill_calls(struct ibv_qp_ex *ex)
{
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	ex->wr_bind_mw = wr_bind_mw;
	ex->wr_local_inv = wr_local_inv;
	ex->wr_rdma_write = wr_rdma_write;
	ex->wr_rdma_write_imm = wr_rdma_write_imm;
	ex->wr_rdma_read = wr_rdma_read;
	ex->wr_atomic_cmp_swp = wr_compare_swap;
	ex->wr_atomic_fetch_add = wr_fetch_add;
	ex->wr_send = wr_send;
	ex->wr_send_imm = wr_send_imm;
	ex->wr_send_inv = wr_send_inv;
	ex->wr_set_ud_addr = wr_set_ud_addr;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline;
	ex->wr_set_inline_data_list = wr_set_inline_list;
}

bool
ndv_wr_prepare(struct ndv_qp *qp, uint64_t operations)
{
	qp->wr = calloc(1, sizeof(*qp->wr));
	if (qp->wr == NULL)
		return false;
	qp->wr->operations = operations;
	fill_calls(&qp->ex);
	return true;
}
