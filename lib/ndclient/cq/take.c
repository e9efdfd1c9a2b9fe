/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues: taking results. */
#include "ndclient/cq/cq.h"
#include "ndclient/face/result.h"
#include "ndclient/face/status.h"
#include "ndclient/mem/mover.h"
#include "ndclient/mem/window.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/spin.h"
#include "ndclient/session/verify.h"

#define BATCH 16 /* entries that are read from the ring at a time */

/* Release: a thread that posts into the freed slot has seen that the daemon is done with it. */
static void
free_slots(struct nd_qp *qp, const struct ndsh_cqe *e)
{
	uint32_t *freed = e->op == NDSH_OP_RECV ? &qp->rq_freed : &qp->sq_freed;

	__atomic_store_n(freed, e->slot_count, __ATOMIC_RELEASE);
}

/* One of the three has room for the results. */
struct results {
	struct nd_result *plain;
	struct nd_result_ex *ex;
	struct nd_ud_result *datagram;
};

static inline void
convert_entry(struct nd_adapter *a, const struct ndsh_cqe *e, const struct results *r, uint32_t i)
{
	void *context = NULL;
	struct nd_qp *qp = e->qp < ND_QP_HANDLES
				   ? __atomic_load_n(&a->qp_by_handle[e->qp], __ATOMIC_ACQUIRE)
				   : NULL;

	if (qp != NULL) {
		free_slots(qp, e);
		if (nd_mw_concerns(e))
			nd_mw_see(qp, e);
		context = qp->context;
	}
	if (r->plain != NULL)
		nd_result_of(a->profile, e, context, &r->plain[i]);
	else if (r->ex != NULL)
		nd_result_ex_of(a->profile, e, context, &r->ex[i]);
	else
		nd_ud_result_of(a->profile, e, context, &r->datagram[i]);
}

/* The queue is empty: why? Entries made before a fault stay retrievable (R-CQ-31), so the fault
 * counts only if a second poll, after it was read, finds none. */
static int32_t
cq_judge_empty(struct nd_cq *cq, struct ndsh_cqe *first)
{
	uint32_t fault = __atomic_load_n(&cq->reader.page->fault, __ATOMIC_ACQUIRE);

	if (fault == NDSH_CQ_OK && !nd_gone(cq->adapter))
		return 0;
	if (ndsh_cq_poll(&cq->reader, first, 1) != 0)
		return 1;
	return fault == NDSH_CQ_OK ? ND_DEVICE_REMOVED : nd_status_of_fault(fault);
}

static int32_t
cq_take(struct nd_cq *cq, const struct results *r, uint32_t n)
{
	struct ndsh_cqe e[BATCH];
	uint32_t done = 0;

	if (n > INT32_MAX)
		n = INT32_MAX;
	nd_spin_lock(&cq->lock);
	while (done < n) {
		uint32_t want = n - done < BATCH ? n - done : BATCH;
		uint32_t got = ndsh_cq_poll(&cq->reader, e, want);

		if (got == 0 && done == 0) {
			int32_t st = cq_judge_empty(cq, e);

			if (st <= 0) {
				nd_spin_unlock(&cq->lock);
				return st;
			}
			got = 1;
		}
		for (uint32_t i = 0; i < got; i++)
			convert_entry(cq->adapter, &e[i], r, done + i);
		done += got;
		if (got < want)
			break;
	}
	nd_spin_unlock(&cq->lock);
	return (int32_t)done;
}

/* The bytes that results report are in place before the results are returned (mem/mover.c). */
static int32_t
cq_take_moved(struct nd_cq *cq, const struct results *r, uint32_t n)
{
	int32_t got = cq_take(cq, r, n);
	struct nd_mover *m = __atomic_load_n(&cq->adapter->mover, __ATOMIC_ACQUIRE);

	if (m != NULL && got > 0)
		nd_mover_run(m);
	else if (m != NULL)
		nd_mover_help(m);
	return got;
}

/* The verifier counts the threads that take results. */
static int32_t
cq_take_verified(struct nd_cq *cq, const struct results *r, uint32_t n)
{
	int32_t got;

	if (!nd_verifying())
		return cq_take_moved(cq, r, n);
	__atomic_fetch_add(&cq->inside, 1, __ATOMIC_RELAXED);
	got = cq_take_moved(cq, r, n);
	__atomic_fetch_sub(&cq->inside, 1, __ATOMIC_RELAXED);
	return got;
}

int32_t
nd_cq_get_results(struct nd_cq *cq, struct nd_result *results, uint32_t n)
{
	return cq_take_verified(cq, &(struct results){.plain = results}, n);
}

int32_t
nd_cq_get_results_ex(struct nd_cq *cq, struct nd_result_ex *results, uint32_t n)
{
	return cq_take_verified(cq, &(struct results){.ex = results}, n);
}

int32_t
nd_ud_get_results(struct nd_cq *cq, struct nd_ud_result *results, uint32_t n)
{
	return cq_take_verified(cq, &(struct results){.datagram = results}, n);
}
