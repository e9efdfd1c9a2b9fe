/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs: creating, closing, flushing. Posting is in post.c. */
#include <stdlib.h>
#include <string.h>

#include "ndclient/conn/connector.h"
#include "ndclient/cq/cq.h"
#include "ndclient/mem/copies.h"
#include "ndclient/mem/fast_register.h"
#include "ndclient/mem/mover.h"
#include "ndclient/mem/pd.h"
#include "ndclient/mem/segment.h"
#include "ndclient/mem/window.h"
#include "ndclient/qp/handles.h"
#include "ndclient/qp/modify.h"
#include "ndclient/qp/qp.h"
#include "ndclient/qp/srq.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/event.h"
#include "ndclient/session/object.h"
#include "ndclient/session/spin.h"
#include "ndclient/session/verify.h"
#include "ndclient/ud/ud.h"

#define COPIED	64u /* bytes */
#define SGE_MIN 2u  /* granted even if fewer are asked for: programs count on it */

static uint32_t
grant_sge(uint32_t asked, uint32_t max)
{
	uint32_t least = SGE_MIN < max ? SGE_MIN : max;

	return asked < least ? least : asked;
}

/* The numbers in the statuses are those of ND's CreateQueuePair. */
static nd_status
qp_check_options(const struct nd_pd *pd, const struct nd_qp_options *opt)
{
	const struct nd_adapter *a = pd->adapter;
	const struct nd_adapter_info *i = &a->info;

	if (opt->receive_cq == NULL || opt->receive_cq->adapter != a)
		return nd_fail(ND_INVALID_PARAMETER_2, "receive queue: not a CQ of this adapter");
	if (opt->initiator_cq == NULL || opt->initiator_cq->adapter != a)
		return nd_fail(ND_INVALID_PARAMETER_3, "initiator queue: not a CQ of this adapter");
	if (opt->srq != NULL && opt->srq->pd != pd)
		return nd_fail(ND_INVALID_PARAMETER_4, "receive queue of another domain");
	if (opt->srq == NULL &&
		(opt->receive_depth == 0 || opt->receive_depth > i->max_receive_depth))
		return nd_fail(ND_INVALID_PARAMETER_5, "receive depth %u, of at most %u",
			opt->receive_depth, i->max_receive_depth);
	if (opt->initiator_depth == 0 || opt->initiator_depth > i->max_initiator_depth)
		return nd_fail(ND_INVALID_PARAMETER_6, "initiator depth %u, of at most %u",
			opt->initiator_depth, i->max_initiator_depth);
	if (opt->srq == NULL && opt->max_receive_sge > i->max_receive_sge)
		return nd_fail(ND_INVALID_PARAMETER_7, "%u SGEs per receive, of at most %u",
			opt->max_receive_sge, i->max_receive_sge);
	if (opt->max_initiator_sge > i->max_initiator_sge)
		return nd_fail(ND_INVALID_PARAMETER_8, "%u SGEs per request, of at most %u",
			opt->max_initiator_sge, i->max_initiator_sge);
	if (opt->inline_bytes > i->max_inline_bytes)
		return nd_fail(ND_INVALID_PARAMETER_9, "%u inline bytes, of at most %u",
			opt->inline_bytes, i->max_inline_bytes);
	return ND_SUCCESS;
}

/* With moved memory, queue pairs get room to copy small requests into (mem/moved.c). */
static uint32_t
grant_inline(const struct nd_adapter *a, uint32_t asked)
{
	uint32_t least = __atomic_load_n(&a->mover, __ATOMIC_RELAXED) != NULL ? COPIED : 0;

	if (least > a->info.max_inline_bytes)
		least = a->info.max_inline_bytes;
	return asked > least ? asked : least;
}

static struct nd_qp *
qp_make(struct nd_pd *pd, const struct nd_qp_options *opt, struct ndsh_qp_create *m)
{
	struct nd_adapter *a = pd->adapter;
	struct ndsh_qp_dims dims = {
		.sq_depth = nd_queue_slots(opt->initiator_depth),
		.rq_depth = opt->srq == NULL ? nd_queue_slots(opt->receive_depth) : 1,
		.sq_sge = grant_sge(opt->max_initiator_sge, a->info.max_initiator_sge),
		.rq_sge = opt->srq == NULL
				  ? grant_sge(opt->max_receive_sge, a->info.max_receive_sge)
				  : 1,
		.inline_bytes = grant_inline(a, opt->inline_bytes),
	};
	struct ndsh_qp_layout layout;
	struct nd_qp *qp;

	qp = aligned_alloc(NDSH_CACHE_LINE, sizeof(*qp));
	if (qp == NULL || !ndsh_qp_layout(&dims, &layout)) {
		free(qp);
		return NULL;
	}
	memset(qp, 0, sizeof(*qp));
	qp->page = nd_block_alloc(a, layout.total_bytes, &m->segment, &m->offset);
	if (qp->page == NULL) {
		free(qp);
		return NULL;
	}
	ndsh_sq_view(&qp->sq, qp->page, &dims);
	ndsh_rq_view(&qp->rq, qp->page, &dims);
	TAILQ_INIT(&qp->bound);
	TAILQ_INIT(&qp->invalidating);
	qp->adapter = a;
	qp->sq_sge = dims.sq_sge;
	qp->rq_sge = dims.rq_sge;
	qp->inline_bytes = dims.inline_bytes;
	qp->short_below = a->abi_minor >= NDSH_MINOR_SHORT ? NDSH_SHORT_MAX + 1 : 0;
	qp->context = opt->context;
	qp->pd = pd;
	qp->send_cq = opt->initiator_cq;
	qp->recv_cq = opt->receive_cq;
	qp->srq = opt->srq;
	m->has_srq = opt->srq != NULL;
	m->srq = opt->srq != NULL ? opt->srq->id : 0;
	m->pd = pd->id;
	m->recv_cq = opt->receive_cq->id;
	m->send_cq = opt->initiator_cq->id;
	m->sq_depth = dims.sq_depth;
	m->rq_depth = dims.rq_depth;
	m->sq_sge = dims.sq_sge;
	m->rq_sge = dims.rq_sge;
	m->inline_bytes = dims.inline_bytes;
	return qp;
}

/* The handle is taken before the daemon is asked: completions may name it at once. */
static bool
qp_enlist(struct nd_qp *qp)
{
	struct nd_adapter *a = qp->adapter;
	bool ok;

	pthread_mutex_lock(&a->lock);
	nd_qp_reap(a);
	ok = nd_qp_handle_take(a->qps, qp);
	pthread_mutex_unlock(&a->lock);
	return ok;
}

static void
qp_discard(struct nd_qp *qp, bool enlisted)
{
	struct nd_adapter *a = qp->adapter;

	if (enlisted) {
		pthread_mutex_lock(&a->lock);
		nd_qp_handle_give(a->qps, qp);
		pthread_mutex_unlock(&a->lock);
	}
	nd_free(a, qp->page);
	free(qp);
}

/* m: the message, which says of which kind the queue pair is; that of a connected one is the first
 * part of that of datagrams. */
static nd_status
qp_create(struct nd_pd *pd, const struct nd_qp_options *opt, struct ndsh_ud_qp_create *m,
	struct nd_qp **out)
{
	struct ndsh_qp_create_reply reply;
	struct nd_qp *qp;
	nd_status st = qp_check_options(pd, opt);

	if (st != ND_SUCCESS)
		return st;
	qp = qp_make(pd, opt, &m->q);
	if (qp == NULL)
		return nd_gone(pd->adapter) ? ND_DEVICE_REMOVED : ND_INSUFFICIENT_RESOURCES;
	if (!qp_enlist(qp)) {
		qp_discard(qp, false);
		return nd_fail(ND_INSUFFICIENT_RESOURCES, "too many queue pairs");
	}
	m->q.handle = qp->handle;
	st = nd_control_call(pd->adapter, &(struct nd_request){.h = &m->q.h, .reply = &reply});
	if (st != ND_SUCCESS) {
		qp_discard(qp, true);
		return st;
	}
	qp->index = reply.qp;
	qp->doorbell = ndsh_doorbell_of(reply.qp);
	qp->number = reply.qpn;
	nd_object_open(&qp->obj, &nd_qp_class, qp->adapter);
	nd_object_rest(&qp->obj, &pd->obj);
	nd_object_rest(&qp->obj, &qp->send_cq->obj);
	nd_object_rest(&qp->obj, &qp->recv_cq->obj);
	nd_object_rest(&qp->obj, qp->srq != NULL ? &qp->srq->obj : NULL);
	pthread_mutex_lock(&pd->adapter->lock);
	LIST_INSERT_HEAD(&pd->qps, qp, of_pd);
	nd_qp_index_take(pd->adapter->qps, qp);
	pthread_mutex_unlock(&pd->adapter->lock);
	nd_copies_offer(qp);
	*out = qp;
	return ND_SUCCESS;
}

nd_status
nd_qp_create(struct nd_pd *pd, const struct nd_qp_options *opt, struct nd_qp **out)
{
	struct ndsh_ud_qp_create m = {.q.h.type = NDSH_MSG_QP_CREATE};

	if (pd == NULL || opt == NULL || out == NULL)
		return ND_INVALID_PARAMETER;
	*out = NULL;
	return qp_create(pd, opt, &m, out);
}

nd_status
nd_uc_qp_create(struct nd_pd *pd, const struct nd_qp_options *opt, struct nd_qp **out)
{
	struct ndsh_ud_qp_create m = {.q.h.type = NDSH_MSG_UC_QP_CREATE};
	nd_status st;

	*out = NULL;
	if (pd->adapter->abi_minor < NDSH_MINOR_UC)
		return nd_fail(
			ND_NOT_SUPPORTED, "the daemon is too old for unreliable connections");
	st = qp_create(pd, opt, &m, out);
	if (st == ND_SUCCESS)
		(*out)->unreliable = true;
	return st;
}

nd_status
nd_ud_qp_create(
	struct nd_pd *pd, const struct nd_qp_options *opt, uint32_t q_key, struct nd_qp **out)
{
	struct ndsh_ud_qp_create m = {.q.h.type = NDSH_MSG_UD_QP_CREATE, .q_key = q_key};
	nd_status st;

	if (pd == NULL || opt == NULL || out == NULL)
		return ND_INVALID_PARAMETER;
	*out = NULL;
	st = nd_ud_supported(pd->adapter, __func__);
	if (st == ND_SUCCESS)
		st = qp_create(pd, opt, &m, out);
	if (st == ND_SUCCESS)
		(*out)->state = ND_QP_DATAGRAM;
	return st;
}

/* Entries that a queue had made when the daemon had forgotten the queue pair: the last it may hold.
 */
static uint64_t
entries_produced(const struct nd_cq *cq)
{
	return __atomic_load_n(&cq->reader.page->produced, __ATOMIC_ACQUIRE);
}

static bool
is_drained(struct nd_cq *cq, uint64_t mark)
{
	bool yes;

	if (cq == NULL)
		return true;
	nd_spin_lock(&cq->lock);
	yes = cq->reader.taken >= mark;
	nd_spin_unlock(&cq->lock);
	return yes;
}

void
nd_qp_reap(struct nd_adapter *a)
{
	struct nd_qp *qp, *next;

	for (qp = TAILQ_FIRST(&a->closed_qps); qp != NULL; qp = next) {
		next = TAILQ_NEXT(qp, closed_link);
		if (!is_drained(qp->send_cq, qp->send_mark) ||
			!is_drained(qp->recv_cq, qp->recv_mark))
			continue;
		TAILQ_REMOVE(&a->closed_qps, qp, closed_link);
		nd_qp_handle_give(a->qps, qp);
		free(qp);
	}
}

/* The structure stays while completions may name it (R-CR-04): from queues that are not closed.
 * Lock held. */
static void
qp_linger(struct nd_qp *qp)
{
	if (qp->send_cq->obj.closed)
		qp->send_cq = NULL;
	else
		qp->send_mark = entries_produced(qp->send_cq);
	if (qp->recv_cq->obj.closed)
		qp->recv_cq = NULL;
	else
		qp->recv_mark = entries_produced(qp->recv_cq);
	TAILQ_INSERT_TAIL(&qp->adapter->closed_qps, qp, closed_link);
	nd_qp_reap(qp->adapter);
}

void
nd_qp_verify_close(const struct nd_qp *qp)
{
	if (__atomic_load_n(&qp->sq_inside, __ATOMIC_RELAXED) != 0 ||
		__atomic_load_n(&qp->rq_inside, __ATOMIC_RELAXED) != 0)
		nd_breach("R-LIFE-11", "queue pair %#x is closed while a thread posts to it",
			qp->number);
}

static bool
qp_stop(struct nd_object *o)
{
	if (nd_verifying())
		nd_qp_verify_close((struct nd_qp *)o);
	pthread_mutex_lock(&o->adapter->lock);
	nd_qp_end_modify((struct nd_qp *)o, ND_CANCELED);
	nd_event_forget(o->adapter, &((struct nd_qp *)o)->events);
	nd_qp_index_give(o->adapter->qps, (struct nd_qp *)o);
	pthread_mutex_unlock(&o->adapter->lock);
	return false;
}

static void
qp_destroy(struct nd_object *o)
{
	struct nd_qp *qp = (struct nd_qp *)o;
	struct nd_adapter *a = qp->adapter;
	struct nd_copies *copies = qp->copies;
	void *block = qp->page;
	bool returned;

	pthread_mutex_lock(&a->lock);
	LIST_REMOVE(qp, of_pd);
	if (qp->connector != NULL) {
		qp->connector->qp = NULL;
		qp->connector = NULL;
	}
	pthread_mutex_unlock(&a->lock);
	returned = nd_object_forget(a, NDSH_MSG_QP_DESTROY, qp->index);
	nd_mover_settle(a);
	nd_mw_unbind_all(qp);
	nd_mr_end_all(a);
	pthread_mutex_lock(&a->lock);
	nd_frmr_release_lists(qp);
	qp_linger(qp);
	pthread_mutex_unlock(&a->lock);
	if (returned)
		nd_free(a, block);
	nd_copies_free(a, copies, returned);
}

const struct nd_class nd_qp_class = {.stop = qp_stop, .destroy = qp_destroy};

nd_status
nd_qp_close(struct nd_qp *qp)
{
	return nd_close(qp, NULL);
}

nd_status
nd_qp_flush(struct nd_qp *qp)
{
	return nd_control_id(qp->adapter, NDSH_MSG_QP_FLUSH, qp->index);
}

uint32_t
nd_qp_number(const struct nd_qp *qp)
{
	return qp->number;
}
