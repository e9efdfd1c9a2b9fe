/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues: creating, closing, taking results. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "ndclient/nd_int.h"

#define BATCH	  16 /* entries per look at the ring */
#define DEPTH_MIN 16u

/* Rings are powers of two. Twice what was asked for: programs count on some slack. */
uint32_t
nd_cq_ring_depth(uint32_t asked, uint32_t max)
{
	uint32_t depth = DEPTH_MIN;

	while (depth < 2 * asked && depth < max)
		depth *= 2;
	return depth;
}

static struct nd_cq *
make(struct nd_adapter *a, uint32_t depth, uint32_t *segment, uint64_t *offset)
{
	struct nd_cq *cq = calloc(1, sizeof(*cq));
	void *block;

	if (cq == NULL)
		return NULL;
	block = nd_block_alloc(a, ndsh_cq_bytes(depth), segment, offset);
	if (block == NULL) {
		free(cq);
		return NULL;
	}
	ndsh_cq_reader_view(&cq->reader, block, depth);
	pthread_mutex_init(&cq->resizing, NULL);
	cq->adapter = a;
	pthread_mutex_init(&cq->telling, NULL);
	cq->event_fd = cq->poll_fd = -1;
	return cq;
}

nd_status
nd_cq_create(struct nd_adapter *a, uint32_t depth, struct nd_cq **out)
{
	struct ndsh_cq_create m = {.h.type = NDSH_MSG_CQ_CREATE};
	struct ndsh_id_msg reply;
	struct nd_cq *cq;
	nd_status st;

	if (a == NULL || out == NULL)
		return ND_INVALID_PARAMETER;
	*out = NULL;
	if (depth == 0 || depth > a->info.max_cq_depth)
		return nd_fail(ND_INVALID_PARAMETER_3,
			"completion queue of %u entries, of at most %u", depth,
			a->info.max_cq_depth);
	m.depth = nd_cq_ring_depth(depth, a->info.max_cq_depth);
	cq = make(a, m.depth, &m.segment, &m.offset);
	if (cq == NULL)
		return nd_gone(a) ? ND_DEVICE_REMOVED : ND_INSUFFICIENT_RESOURCES;
	st = nd_control_call(
		a, &(struct nd_request){.h = &m.h, .reply = &reply, .fd = &cq->pipe_fd});
	if (st == ND_SUCCESS && cq->pipe_fd < 0)
		st = ND_INTERNAL_ERROR;
	if (st != ND_SUCCESS) {
		nd_free(a, cq->reader.page);
		free(cq);
		return st;
	}
	cq->id = reply.id;
	cq->depth = depth;
	(void)fcntl(cq->pipe_fd, F_SETFL, O_NONBLOCK);
	nd_object_open(&cq->obj, &nd_cq_class, a);
	pthread_mutex_lock(&a->lock);
	TAILQ_INSERT_TAIL(&a->cqs, cq, link);
	pthread_mutex_unlock(&a->lock);
	*out = cq;
	return ND_SUCCESS;
}

void
nd_cq_close_fds(struct nd_cq *cq)
{
	if (cq->poll_fd >= 0)
		close(cq->poll_fd);
	if (cq->event_fd >= 0)
		close(cq->event_fd);
	nd_moderation_off(cq);
	if (cq->callback != NULL)
		close(cq->kick_fd);
	close(cq->pipe_fd);
}

/* Closed queue pairs can give nothing to this queue any more. */
static void
forget(struct nd_adapter *a, const struct nd_cq *cq)
{
	struct nd_qp *qp;

	TAILQ_FOREACH (qp, &a->closed_qps, closed_link) {
		if (qp->send_cq == cq)
			qp->send_cq = NULL;
		if (qp->recv_cq == cq)
			qp->recv_cq = NULL;
	}
	nd_qp_reap(a);
}

/* Queue pairs may go on filling it, but nobody hears of it any more (R-LIFE-02). */
static bool
quiet(struct nd_object *o)
{
	struct nd_cq *cq = (struct nd_cq *)o;
	struct nd_adapter *a = cq->adapter;

	if (nd_verifying())
		nd_verify_cq_close(cq);
	pthread_mutex_lock(&a->lock);
	TAILQ_REMOVE(&a->cqs, cq, link);
	if (cq->watched)
		(void)nd_control_watch(a, cq, false);
	nd_cq_callback_off(cq);
	forget(a, cq);
	nd_event_forget(a, &cq->events);
	pthread_mutex_unlock(&a->lock);
	nd_cq_end_waiters(cq, ND_CANCELED); /* R-CQ-33 */
	return nd_callback_outlives(o);	    /* R-CQ-26 */
}

static void
destroy(struct nd_object *o)
{
	struct nd_cq *cq = (struct nd_cq *)o;

	if (nd_object_forget(cq->adapter, NDSH_MSG_CQ_DESTROY, cq->id)) {
		nd_free(cq->adapter, cq->reader.page);
		nd_free(cq->adapter, cq->ring);
	}
	nd_cq_close_fds(cq);
	free(cq);
}

const struct nd_class nd_cq_class = {.quiet = quiet, .destroy = destroy};

nd_status
nd_cq_close(struct nd_cq *cq)
{
	return nd_close(cq, NULL);
}

static enum nd_request_type
request_type(uint8_t op)
{
	switch (op) {
	case NDSH_OP_RECV:
		return ND_REQUEST_RECEIVE;
	case NDSH_OP_WRITE:
	case NDSH_OP_WRITE_IMM:
		return ND_REQUEST_WRITE;
	case NDSH_OP_READ:
		return ND_REQUEST_READ;
	case NDSH_OP_CMP_SWAP:
	case NDSH_OP_FETCH_ADD:
		return ND_REQUEST_ATOMIC;
	case NDSH_OP_FAST_REGISTER:
		return ND_REQUEST_FAST_REGISTER;
	case NDSH_OP_BIND:
		return ND_REQUEST_BIND;
	case NDSH_OP_INVALIDATE:
		return ND_REQUEST_INVALIDATE;
	default:
		return ND_REQUEST_SEND;
	}
}

/* Release: who posts into the freed slot has seen that the daemon is done with it. */
static void
free_slots(struct nd_qp *qp, const struct ndsh_cqe *e)
{
	uint32_t *freed = e->op == NDSH_OP_RECV ? &qp->rq_freed : &qp->sq_freed;

	__atomic_store_n(freed, e->slot_count, __ATOMIC_RELEASE);
}

void
nd_result_of(uint32_t profile, const struct ndsh_cqe *e, void *qp_context, struct nd_result *r)
{
	r->status = nd_status_of_wc(profile, e->status, e->op);
	r->bytes_transferred = e->bytes;
	r->qp_context = qp_context;
	r->request_context = (void *)(uintptr_t)e->context;
	r->request_type = request_type(e->op);
	r->detail = e->status == NDSH_WC_SUCCESS ? 0 : e->status | e->syndrome << 8;
}

void
nd_result_ex_of(
	uint32_t profile, const struct ndsh_cqe *e, void *qp_context, struct nd_result_ex *r)
{
	struct nd_result plain;

	nd_result_of(profile, e, qp_context, &plain);
	*r = (struct nd_result_ex){
		.status = plain.status,
		.bytes_transferred = plain.bytes_transferred,
		.qp_context = plain.qp_context,
		.request_context = plain.request_context,
		.request_type = plain.request_type,
		.detail = plain.detail,
	};
	if (e->op == NDSH_OP_RECV && (e->flags & NDSH_CQEF_INV)) { /* R-CR-06 */
		r->request_type = ND_REQUEST_RECEIVE_AND_INVALIDATE;
		r->invalidated_token = htonl(e->data); /* as nd_mw_remote_token() */
	}
	if (e->op == NDSH_OP_RECV && (e->flags & NDSH_CQEF_IMM)) {
		r->request_type = e->flags & NDSH_CQEF_WRITE ? ND_REQUEST_WRITTEN_WITH_IMMEDIATE
							     : ND_REQUEST_RECEIVE_WITH_IMMEDIATE;
		r->immediate = e->data;
	}
}

/* One of the three has room for the results. */
struct results {
	struct nd_result *plain;
	struct nd_result_ex *ex;
	struct nd_ud_result *datagram;
};

static void
ud_result_of(uint32_t profile, const struct ndsh_cqe *e, void *qp_context, struct nd_ud_result *r)
{
	nd_result_ex_of(profile, e, qp_context, &r->result);
	r->source_qp = e->flags & NDSH_CQEF_GRH ? e->syndrome : 0;
	r->reserved = 0;
}

static inline void
convert(struct nd_adapter *a, const struct ndsh_cqe *e, const struct results *r, uint32_t i)
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
		ud_result_of(a->profile, e, context, &r->datagram[i]);
}

/* Nothing is left: can there be more? Entries made before a fault stay retrievable (R-CQ-31), so
 * the fault counts only if a look behind it finds none. */
static int32_t
judge_empty(struct nd_cq *cq, struct ndsh_cqe *first)
{
	uint32_t fault = __atomic_load_n(&cq->reader.page->fault, __ATOMIC_ACQUIRE);

	if (fault == NDSH_CQ_OK && !nd_gone(cq->adapter))
		return 0;
	if (ndsh_cq_poll(&cq->reader, first, 1) != 0)
		return 1;
	if (fault == NDSH_CQ_OK)
		return ND_DEVICE_REMOVED;
	return fault == NDSH_CQ_OVERRUN ? ND_BUFFER_OVERFLOW : ND_INTERNAL_ERROR;
}

static int32_t
take(struct nd_cq *cq, const struct results *r, uint32_t n)
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
			int32_t st = judge_empty(cq, e);

			if (st <= 0) {
				nd_spin_unlock(&cq->lock);
				return st;
			}
			got = 1;
		}
		for (uint32_t i = 0; i < got; i++)
			convert(cq->adapter, &e[i], r, done + i);
		done += got;
		if (got < want)
			break;
	}
	nd_spin_unlock(&cq->lock);
	return (int32_t)done;
}

/* What results report is in its place before they are told (nd_mover.c). */
static int32_t
take_moved(struct nd_cq *cq, const struct results *r, uint32_t n)
{
	int32_t got = take(cq, r, n);
	struct nd_mover *m = __atomic_load_n(&cq->adapter->mover, __ATOMIC_ACQUIRE);

	if (m != NULL && got > 0)
		nd_mover_run(m);
	else if (m != NULL)
		nd_mover_help(m);
	return got;
}

/* The verifier wants to know who is inside. */
static int32_t
take_watched(struct nd_cq *cq, const struct results *r, uint32_t n)
{
	int32_t got;

	if (!nd_verifying())
		return take_moved(cq, r, n);
	__atomic_fetch_add(&cq->inside, 1, __ATOMIC_RELAXED);
	got = take_moved(cq, r, n);
	__atomic_fetch_sub(&cq->inside, 1, __ATOMIC_RELAXED);
	return got;
}

int32_t
nd_cq_get_results(struct nd_cq *cq, struct nd_result *results, uint32_t n)
{
	return take_watched(cq, &(struct results){.plain = results}, n);
}

int32_t
nd_cq_get_results_ex(struct nd_cq *cq, struct nd_result_ex *results, uint32_t n)
{
	return take_watched(cq, &(struct results){.ex = results}, n);
}

int32_t
nd_ud_get_results(struct nd_cq *cq, struct nd_ud_result *results, uint32_t n)
{
	return take_watched(cq, &(struct results){.datagram = results}, n);
}
