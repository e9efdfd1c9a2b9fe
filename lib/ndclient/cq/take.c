/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues: taking results. */
#include "ndclient/cq/take.h"

#include "base/compiler.h"
#include "ndclient/cq/cq.h"
#include "ndclient/face/result.h"
#include "ndclient/face/status.h"
#include "ndclient/mem/mover.h"
#include "ndclient/mem/window.h"
#include "ndclient/qp/handles.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/spin.h"
#include "ndclient/session/verify.h"
#include "shm/ndsh_mover.h"

#define BATCH 16 /* entries that are read from the ring at a time */

/* Release: a thread that posts into the freed slot has seen that the daemon is done with it. */
static void
free_slots(struct nd_qp *qp, const struct ndsh_cqe *e)
{
	uint32_t *freed = e->op == NDSH_OP_RECV ? &qp->rq_freed : &qp->sq_freed;

	__atomic_store_n(freed, e->slot_count, __ATOMIC_RELEASE);
}

/* What the caller has room for. A constant in each call, so each form has code of its own, which
 * does not ask for each result what it is to be. */
enum form { FORM_PLAIN, FORM_BRIEF, FORM_PLACED, FORM_EXTENDED, FORM_DATAGRAM, FORM_ENTRY };

/* A copy command failed, and the daemon did not know: the completion that the command named has
 * failed, and those behind it are flushed (ndsh_mover.h). */
static void
correct_entry(const struct nd_spoiled *s, uint32_t by, struct ndsh_cqe *e)
{
	int32_t behind = (int32_t)(e->slot_count - s->from);

	if (e->status != NDSH_WC_SUCCESS || behind < 0)
		return;
	e->status =
		behind == 0 && by != NDSH_SPOILS_WRITE ? NDSH_WC_LOC_PROT_ERR : NDSH_WC_FLUSH_ERR;
	e->bytes = 0;
}

/* It is from before the last RESET of its queue pair. */
static inline bool
is_stale(const struct nd_qp *qp, const struct ndsh_cqe *e, uint64_t taken)
{
	return taken < __atomic_load_n(&qp->begun[e->op == NDSH_OP_RECV], __ATOMIC_RELAXED);
}

/* An entry that says more than that a request is done. A failed datagram stops the sending
 * (W-ERR-02), until nd_ud_qp_modify(). */
static __attribute__((noinline)) void
see_entry(struct nd_qp *qp, const struct ndsh_cqe *e, uint64_t taken)
{
	bool datagrams = __atomic_load_n(&qp->state, __ATOMIC_RELAXED) == ND_QP_DATAGRAM;

	if (is_stale(qp, e, taken))
		return;
	if (datagrams && e->op != NDSH_OP_RECV && e->status != NDSH_WC_SUCCESS &&
		e->status != NDSH_WC_FLUSH_ERR)
		__atomic_store_n(&qp->sends_stopped, 1, __ATOMIC_RELEASE);
	nd_mw_see(qp, e);
}

/* Its queue pair's context. taken: how many entries the queue had had before this one. */
static inline void *
settle_entry(struct nd_qp *qp, struct ndsh_cqe *e, uint64_t taken, bool fresh)
{
	const struct nd_spoiled *s = &qp->spoiled[e->op == NDSH_OP_RECV];
	uint32_t by = __atomic_load_n(&s->by, __ATOMIC_ACQUIRE);

	if (base_unlikely(by != NDSH_SPOILS_NONE))
		correct_entry(s, by, e);
	free_slots(qp, e);
	if (nd_mw_concerns(e))
		see_entry(qp, e, taken);
	if (fresh && is_stale(qp, e, taken))
		return NULL;
	return __atomic_load_n(&qp->context, __ATOMIC_RELAXED);
}

/* Into the i-th of results. */
static inline __attribute__((always_inline)) void
convert_entry(const struct nd_adapter *a, struct ndsh_cqe *e, enum form form, void *results,
	uint32_t i, uint64_t taken)
{
	struct nd_qp *qp = nd_qp_of_handle(a->qps, e->qp);
	void *context = qp != NULL ? settle_entry(qp, e, taken, form == FORM_ENTRY) : NULL;

	switch (form) {
	case FORM_PLAIN:
		nd_result_of(a->profile, e, context, &((struct nd_result *)results)[i]);
		break;
	case FORM_BRIEF:
		nd_result_brief_of(a->profile, e, context, &((struct nd_result_brief *)results)[i]);
		break;
	case FORM_PLACED:
		((struct nd_placed_result **)results)[i] = nd_result_placed_of(a->profile, e);
		break;
	case FORM_EXTENDED:
		nd_result_ex_of(a->profile, e, context, &((struct nd_result_ex *)results)[i]);
		break;
	case FORM_DATAGRAM:
		nd_ud_result_of(a->profile, e, context, &((struct nd_ud_result *)results)[i]);
		break;
	case FORM_ENTRY:
		((struct nd_entry *)results)[i] =
			(struct nd_entry){*e, context, qp != NULL ? qp->number : 0};
		break;
	}
}

/* The queue is empty: why? Entries made before a fault stay retrievable (R-CQ-31), so the fault
 * counts only if a second poll, after it was read, finds none. */
static int32_t
cq_judge_empty(struct nd_cq *cq, struct ndsh_cqe *first)
{
	const uint32_t *fault = &cq->reader.page->fault;
	nd_status st;

	if (__atomic_load_n(fault, __ATOMIC_ACQUIRE) == NDSH_CQ_OK && !nd_gone(cq->adapter))
		return 0;
	st = nd_cq_status(cq);
	return ndsh_cq_poll(&cq->reader, first, 1) != 0 ? 1 : st;
}

/* How many of n may be taken, if only those made before number limit may. */
static uint32_t
below_limit(const struct nd_cq *cq, uint32_t n, uint64_t limit)
{
	uint64_t taken = cq->reader.taken;

	return limit <= taken ? 0 : limit - taken < n ? (uint32_t)(limit - taken) : n;
}

/* With the queue's lock. limit: entries from this number on stay there. */
static inline __attribute__((always_inline)) int32_t
take_below(struct nd_cq *cq, enum form form, void *results, uint32_t n, uint64_t limit)
{
	struct ndsh_cqe e[BATCH];
	uint32_t done = 0;

	while (done < n) {
		uint32_t want = below_limit(cq, n - done < BATCH ? n - done : BATCH, limit);
		uint32_t got = ndsh_cq_poll(&cq->reader, e, want);

		if (got == 0 && done == 0) {
			int32_t st = cq_judge_empty(cq, e);

			if (st <= 0)
				return st;
			got = 1;
		}
		for (uint32_t i = 0; i < got; i++)
			convert_entry(cq->adapter, &e[i], form, results, done + i,
				cq->reader.taken - got + i);
		done += got;
		if (got < want || want == 0)
			break;
	}
	return (int32_t)done;
}

/* The bytes that results report are in place before the results are taken, or it is known that they
 * are lost: all copy commands are carried out that were given before those results were published
 * (mem/mover.c). What comes meanwhile is for the next call. */
static __attribute__((noinline)) uint64_t
run_mover(const struct nd_cq *cq, struct nd_mover *m)
{
	const struct ndsh_cq_page *page = cq->reader.page;
	const uint64_t made = __atomic_load_n(&page->produced, __ATOMIC_ACQUIRE);

	if (made != __atomic_load_n(&page->consumer, __ATOMIC_RELAXED))
		nd_mover_run(m);
	else
		nd_mover_help(m);
	return made;
}

/* The verifier counts the threads that take results. */
static inline __attribute__((always_inline)) int32_t
take_results(struct nd_cq *cq, enum form form, void *results, size_t n)
{
	struct nd_mover *m = __atomic_load_n(&cq->adapter->mover, __ATOMIC_ACQUIRE);
	const bool verifying = nd_verifying();
	uint64_t limit = UINT64_MAX;
	int32_t got;

	if (verifying)
		__atomic_fetch_add(&cq->inside, 1, __ATOMIC_RELAXED);
	if (m != NULL)
		limit = run_mover(cq, m);
	nd_spin_lock(&cq->lock);
	got = take_below(cq, form, results, n < INT32_MAX ? (uint32_t)n : INT32_MAX, limit);
	nd_spin_unlock(&cq->lock);
	if (m != NULL && got > 0 && nd_gone(cq->adapter))
		nd_mover_run(m); /* what it gave before it died: no later call will */
	if (verifying)
		__atomic_fetch_sub(&cq->inside, 1, __ATOMIC_RELAXED);
	return got;
}

int32_t
nd_cq_get_results(struct nd_cq *cq, struct nd_result *results, uint32_t n)
{
	return take_results(cq, FORM_PLAIN, results, n);
}

int32_t
nd_cq_get_results_brief(struct nd_cq *cq, struct nd_result_brief *results, uint32_t n)
{
	return take_results(cq, FORM_BRIEF, results, n);
}

int32_t
nd_cq_get_placed_results(struct nd_cq *cq, struct nd_placed_result *results[], size_t n)
{
	return take_results(cq, FORM_PLACED, results, n);
}

int32_t
nd_cq_get_results_ex(struct nd_cq *cq, struct nd_result_ex *results, uint32_t n)
{
	return take_results(cq, FORM_EXTENDED, results, n);
}

int32_t
nd_ud_get_results(struct nd_cq *cq, struct nd_ud_result *results, uint32_t n)
{
	return take_results(cq, FORM_DATAGRAM, results, n);
}

int32_t
nd_cq_take_entries(struct nd_cq *cq, struct nd_entry *entries, uint32_t n)
{
	return take_results(cq, FORM_ENTRY, entries, n);
}

void
nd_qp_forsake(struct nd_qp *qp)
{
	__atomic_store_n(&qp->context, NULL, __ATOMIC_RELAXED);
}
