/* SPDX-License-Identifier: BSD-3-Clause */
/* From a descriptor in the client's send ring to a request of the shard's own. */
#include "roce/requester/fetch.h"

#include "base/compiler.h"
#include "base/list.h"
#include "roce/qp/error.h"
#include "roce/qp/qp.h"
#include "roce/queue/cq.h"
#include "roce/queue/wqe.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"
#include "shm/ndsh_fetch.h"
#include "shm/ndsh_op.h"

/* A pool has no room for the next request of qp. It is among the first of its principal to send
 * when there is some. */
static void
qp_starve(struct roce_shard *s, struct roce_qp *qp, struct roce_principal *p,
	enum roce_pool_kind full)
{
	roce_pool_refused(s, p, full);
	qp->tx_bits |= ROCE_TXB_STARVED;
	base_list_join(&p->starved[full], &qp->tx_link);
	base_list_join(&s->starving, &p->starving);
}

/* There is no w, or no room in it for what the descriptor has: where that goes. NULL: nowhere; w is
 * free, and qp waits. */
__attribute__((noinline)) static void *
data_elsewhere(
	struct roce_shard *s, struct roce_qp *qp, struct roce_principal *p, struct roce_wqe *w)
{
	if (w == NULL) {
		qp_starve(s, qp, p, ROCE_POOL_WQES);
		return NULL;
	}
	if (roce_ext_alloc(s, p, ROCE_SIDE_SEND, w))
		return w->ext;
	roce_wqe_free(s, p, ROCE_SIDE_SEND, w);
	qp_starve(s, qp, p, ROCE_POOL_EXTS);
	return NULL;
}

/*
 * Is a descriptor that stands in the ring one too many? A client may use a slot again when sq_done
 * or a completion says that its request is finished, and both are told after qp->sq_done was moved
 * here. So an honest client never has more in flight than its ring has slots. A probe is none of
 * its requests.
 */
static bool
ring_is_overfull(const struct roce_qp *qp)
{
	uint32_t probes = qp->wq_head != NULL && (qp->wq_head->bits & ROCE_WQB_PROBE);

	return qp->sq.next - qp->sq_done - probes >= qp->sq.depth;
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
	struct roce_principal *p = roce_cq_principal(qp->send_cq);
	struct ndsh_send in;
	struct roce_wqe *w;
	void *data;
	enum ndsh_fetch got = ndsh_sq_look(&qp->sq, &in);

	if (got == NDSH_FETCH_EMPTY)
		return NULL;
	if (base_unlikely(got == NDSH_FETCH_BROKEN ||
			  (qp->sq.next - qp->sq_done >= qp->sq.depth && ring_is_overfull(qp)))) {
		roce_qp_error(s, qp, ROCE_REASON_CLIENT_BREACH, 0);
		return NULL;
	}
	w = roce_wqe_alloc(s, p, ROCE_SIDE_SEND);
	if (base_likely(w != NULL && in.num_sge <= ROCE_WQE_SGE && in.bytes <= ROCE_WQE_INLINE))
		data = w->inl;
	else if ((data = data_elsewhere(s, qp, p, w)) == NULL)
		return NULL;
	if (base_unlikely(!ndsh_sq_take(&qp->sq, &in, data))) {
		roce_wqe_free(s, p, ROCE_SIDE_SEND, w);
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
