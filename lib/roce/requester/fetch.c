/* SPDX-License-Identifier: BSD-3-Clause */
/* From a descriptor in the client's send ring to a request of the shard's own. */
#include "roce/requester/fetch.h"

#include "base/compiler.h"
#include "base/list.h"
#include "roce/qp/error.h"
#include "roce/qp/qp.h"
#include "roce/queue/wqe.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"
#include "shm/ndsh_fetch.h"
#include "shm/ndsh_op.h"

/* The pool has no roce_wqe left. If qp has a request to send, it is among the first to send when
 * the pool has one. */
static inline void
qp_starve(struct roce_shard *s, struct roce_qp *qp)
{
	if (!ndsh_sq_ready(&qp->sq))
		return;
	s->count.wqe_pool_empty++;
	qp->tx_bits |= ROCE_TXB_STARVED;
	base_list_join(&s->starved, &qp->tx_link);
}

static inline void
wqe_set_arguments(struct roce_wqe *w, uint64_t arg0, uint64_t arg1)
{
	if (ndsh_op_is_atomic(w->op)) {
		w->atomic.swap_add = arg0;
		w->atomic.compare = arg1;
	} else if (w->op == NDSH_OP_BIND) {
		w->bind = (struct roce_bind){.bytes = arg0,
			.access = (uint32_t)arg1,
			.region = (uint32_t)(arg1 >> 32),
			.generation = w->imm};
	} else if (w->op == NDSH_OP_FAST_REGISTER) {
		w->frmr = (struct roce_frmr_args){.bytes = arg0,
			.pages = NDSH_FRMR_PAGES(arg1),
			.generation = w->imm,
			.access = (uint8_t)NDSH_FRMR_ACCESS(arg1),
			.list = (uint8_t)NDSH_FRMR_LIST(arg1)};
	}
}

/* Inline data go straight to where they stay until the request is finished. always_inline, across
 * files, into the requester: what one step found, the next one has in registers. */
__attribute__((always_inline)) inline struct roce_wqe *
roce_wqe_fetch(struct roce_shard *s, struct roce_qp *qp)
{
	struct ndsh_send in;
	struct roce_wqe *w;
	enum ndsh_fetch got;

	if (base_unlikely(!roce_wqe_for_send(s))) {
		qp_starve(s, qp);
		return NULL;
	}
	got = ndsh_sq_look(&qp->sq, &in);
	if (got == NDSH_FETCH_EMPTY)
		return NULL;
	if (base_unlikely(got == NDSH_FETCH_BROKEN)) {
		roce_qp_error(s, qp, ROCE_REASON_CLIENT_BREACH, 0);
		return NULL;
	}
	w = roce_wqe_alloc(s, in.num_sge > ROCE_WQE_SGE || in.bytes > ROCE_WQE_INLINE);
	if (base_unlikely(!ndsh_sq_take(&qp->sq, &in, w->ext != NULL ? w->ext->inl : w->inl))) {
		roce_wqe_free(s, w);
		roce_qp_error(s, qp, ROCE_REASON_CLIENT_BREACH, 0);
		return NULL;
	}
	w->context = in.context;
	w->raddr = in.raddr;
	w->rkey = in.rkey;
	w->imm = in.imm;
	w->bytes = in.bytes;
	w->op = in.op;
	w->flags = in.flags;
	w->num_sge = in.num_sge;
	w->bits = 0;
	w->fault = NDSH_WC_SUCCESS;
	if (ndsh_op_has_arguments(in.op))
		wqe_set_arguments(w, in.arg[0], in.arg[1]);
	return w;
}
