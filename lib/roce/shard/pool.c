/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of a shard: requests in flight, and their extensions. */
#include "roce/shard/pool.h"

#include "base/compiler.h"
#include "roce/qp/error.h"
#include "roce/qp/qp.h"
#include "roce/queue/wqe.h"
#include "roce/shard/shard.h"
#include "roce/tx.h"
#include "shm/ndsh_fetch.h"
#include "shm/ndsh_op.h"

/*
 * Requests to send leave some of both pools to receives: if they could take all, two peers might
 * wait for ever, each for the other to have a roce_wqe for its receive. Both pools are checked,
 * because before the fetch it is not known whether a descriptor needs an extension.
 */
bool
roce_wqe_for_send(const struct roce_shard *s)
{
	return s->usage.wqes < s->wqes_for_sends && s->exts_left > s->exts_for_recvs;
}

void
roce_wqe_free(struct roce_shard *s, struct roce_wqe *w)
{
	if (w->ext != NULL) {
		w->ext->next = s->ext_free;
		s->ext_free = w->ext;
		s->exts_left++;
	}
	w->next = s->wqe_free;
	s->wqe_free = w;
	s->usage.wqes--;
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
		roce_tx_starve(s, qp);
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

struct roce_wqe *
roce_wqe_for_probe(struct roce_shard *s)
{
	struct roce_wqe *w = roce_wqe_alloc(s, false);

	*w = (struct roce_wqe){
		.op = NDSH_OP_WRITE, .flags = NDSH_WRF_SILENT, .bits = ROCE_WQB_PROBE};
	return w;
}
