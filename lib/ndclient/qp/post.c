/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posting: checks, a descriptor in shared memory, a doorbell. No lock, no system call unless the
 * daemon sleeps. The calls of initiator requests are in face/post.c.
 */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/compiler.h"
#include "ndclient/mem/copies.h"
#include "ndclient/mem/moved.h"
#include "ndclient/qp/post.h"
#include "ndclient/qp/qp.h"
#include "ndclient/qp/srq.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/fd.h"
#include "ndclient/session/verify.h"
#include "shm/ndsh_op.h"

/* SGEs are handed over as they stand. */
static_assert(sizeof(struct nd_sge) == sizeof(struct ndsh_sge) &&
		      offsetof(struct nd_sge, buffer) == offsetof(struct ndsh_sge, addr) &&
		      offsetof(struct nd_sge, bytes) == offsetof(struct ndsh_sge, len) &&
		      offsetof(struct nd_sge, token) == offsetof(struct ndsh_sge, key),
	"struct nd_sge is the ABI's");

/* Does the daemon still use the next slot? Completions that were taken tell which slots are free;
 * of silent requests only the shared page tells (R-ORD-04). Its word is kept as what is freed,
 * which would be behind by any number otherwise, and once by 2^32. A thread that takes completions
 * may put an older one there again. */
BASE_INLINE bool
is_full(uint32_t next, uint32_t depth, uint32_t *freed, const uint32_t *done)
{
	uint32_t told;

	if (next - __atomic_load_n(freed, __ATOMIC_ACQUIRE) < depth)
		return false;
	told = __atomic_load_n(done, __ATOMIC_ACQUIRE);
	if (next - told >= depth)
		return true;
	__atomic_store_n(freed, told, __ATOMIC_RELEASE);
	return false;
}

static bool
send_queue_full(struct nd_qp *qp)
{
	return is_full(qp->sq.next, qp->sq.depth, &qp->sq_freed, &qp->page->sq_done);
}

static uint64_t
total_bytes(const struct nd_sge *sge, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += sge[i].bytes;
	return sum;
}

/* Inline data may come in more pieces than the queue takes SGEs (R-POST-09). */
static __attribute__((noinline)) uint32_t
gather_inline(uint8_t *to, const struct nd_sge *sge, uint32_t n)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (sge[i].bytes != 0)
			memcpy(to + at, sge[i].buffer, sge[i].bytes);
		at += sge[i].bytes;
	}
	return at;
}

/* A receive was taken since Accept, and it was no flush: the peer has completed its side. */
static bool
peer_was_heard(const struct nd_qp *qp)
{
	return __atomic_load_n(&qp->rq_freed, __ATOMIC_ACQUIRE) != qp->accept_mark &&
	       __atomic_load_n(&qp->page->dead, __ATOMIC_ACQUIRE) == 0;
}

nd_status
nd_post_check_connected(const struct nd_qp *qp)
{
	uint32_t state;

	if (nd_gone(qp->adapter))
		return ND_DEVICE_REMOVED;
	state = __atomic_load_n(&qp->state, __ATOMIC_ACQUIRE);
	if (state == ND_QP_CONNECTED || (state == ND_QP_ACCEPTING && peer_was_heard(qp)))
		return ND_SUCCESS;
	return ND_CONNECTION_INVALID;
}

/* Of all SGEs, if they are no more than most: what is beyond is not looked at. */
BASE_INLINE nd_status
sum_bytes(const struct nd_sge *sge, uint32_t n, uint32_t most, uint64_t *bytes)
{
	if (n > most)
		return ND_DATA_OVERRUN;
	*bytes = total_bytes(sge, n);
	return ND_SUCCESS;
}

/* Inline data may come in more pieces than the queue takes SGEs. */
static uint32_t
most_pieces(const struct nd_qp *qp, uint32_t how)
{
	return how & NDSH_WRF_INLINE ? UINT32_MAX : qp->sq_sge;
}

static void
ring_doorbell(const struct nd_qp *qp)
{
	struct nd_adapter *a = qp->adapter;

	if (ndsh_doorbell_ring(a->page, qp->page, qp->doorbell))
		nd_fd_wake(a->wake_fd);
}

/* The last steps of every initiator request. Nothing can fail any more. */
BASE_INLINE void
post_submit(struct nd_qp *qp, const struct ndsh_swr *wr, const struct nd_sge *sge, const void *data,
	uint32_t how)
{
	if (how & NDSH_WRF_FENCE) {
		qp->fence = qp->sq.next;
		qp->fenced = true;
	}
	ndsh_sq_push(&qp->sq, wr, (const struct ndsh_sge *)(const void *)sge, data);
	if (!(how & ND_POST_UNTOLD))
		ring_doorbell(qp);
	nd_post_end(&qp->sq_inside);
}

/* A request starts behind one that waits for reads, and is to send what these bring (R-ORD-05). */
static bool
is_behind_fence(struct nd_qp *qp)
{
	if (qp->fenced && nd_qp_is_done(qp, qp->fence))
		qp->fenced = false;
	return qp->fenced;
}

/* Bytes that the mover would have to bring are copied here and now, if they are few: inline (the
 * return value is the new how, and *sge where they lie), or elsewhere, which *sge then names. Both
 * in own, of NDSH_SGE_MAX. */
static __attribute__((noinline)) uint32_t
copy_moved(struct nd_qp *qp, enum ndsh_op op, const struct nd_sge **sge, uint32_t *n, uint32_t how,
	struct nd_sge *own)
{
	uint32_t bytes = nd_moved_bytes(qp, op, *sge, *n, how, own);

	if (bytes == ND_MOVED_NOT || is_behind_fence(qp))
		return how;
	if (bytes <= qp->inline_bytes && nd_copies_readable(own, *n)) {
		*sge = own;
		return how | NDSH_WRF_INLINE;
	}
	if (bytes > qp->inline_bytes && nd_copies_take(qp, own, *n, bytes, own)) {
		*sge = own;
		*n = 1;
	}
	return how;
}

/* wr has context, address, token and immediate; the queue pair may send. */
static __attribute__((flatten)) nd_status
post_data(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr, const struct nd_sge *sge,
	uint32_t n, uint32_t how)
{
	uint8_t data[NDSH_INLINE_MAX];
	struct nd_sge own[NDSH_SGE_MAX];
	uint64_t bytes = wr->data[0];

	if (!(how & ND_POST_SUMMED) &&
		sum_bytes(sge, n, most_pieces(qp, how), &bytes) != ND_SUCCESS)
		return ND_DATA_OVERRUN;
	if (bytes > (how & NDSH_WRF_INLINE ? qp->inline_bytes : qp->adapter->max_transfer_bytes))
		return ND_BUFFER_OVERFLOW;
	if (send_queue_full(qp))
		return ND_NO_MORE_ENTRIES;
	nd_post_begin(&qp->sq_inside, "send", qp);
	if (__atomic_load_n(&qp->adapter->mover, __ATOMIC_RELAXED) != NULL)
		how = copy_moved(qp, op, &sge, &n, how, own);
	if (how & NDSH_WRF_INLINE) {
		if (bytes < qp->short_below)
			how |= NDSH_WRF_SHORT;
		wr->inline_bytes =
			gather_inline(how & NDSH_WRF_SHORT ? (uint8_t *)wr->data : data, sge, n);
		n = 0;
	}
	wr->ctrl = NDSH_CTRL(op, n, how & NDSH_WRF_MASK, 0) | (how & NDSH_CTRL_PHASE);
	post_submit(qp, wr, sge, data, how);
	return ND_SUCCESS;
}

/* A reliable connection is not there: is it an unreliable one? */
__attribute__((noinline)) static nd_status
post_unreliable(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr, const struct nd_sge *sge,
	uint32_t n, uint32_t how)
{
	if (nd_gone(qp->adapter))
		return ND_DEVICE_REMOVED;
	if (__atomic_load_n(&qp->state, __ATOMIC_ACQUIRE) != ND_QP_UNRELIABLE)
		return ND_CONNECTION_INVALID;
	if (!ndsh_op_is_data(op) || op == NDSH_OP_SEND_INV)
		return ND_INVALID_DEVICE_REQUEST;
	return post_data(qp, op, wr, sge, n, how);
}

nd_status
nd_post_request(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr, const struct nd_sge *sge,
	uint32_t n, uint32_t how)
{
	nd_status st = nd_post_check_connected(qp);

	if (base_unlikely(st != ND_SUCCESS))
		return post_unreliable(qp, op, wr, sge, n, how);
	return post_data(qp, op, wr, sge, n, how);
}

nd_status
nd_post_datagram(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr, const struct nd_sge *sge,
	uint32_t n, uint32_t how)
{
	uint64_t bytes;
	nd_status st;

	if (nd_gone(qp->adapter))
		return ND_DEVICE_REMOVED;
	if (qp->state != ND_QP_DATAGRAM)
		return ND_INVALID_DEVICE_REQUEST;
	st = sum_bytes(sge, n, most_pieces(qp, how), &bytes);
	if (st != ND_SUCCESS)
		return st;
	if (bytes > qp->adapter->info.path_mtu)
		return ND_BUFFER_OVERFLOW;
	wr->data[0] = bytes;
	return post_data(qp, op, wr, sge, n, how | ND_POST_SUMMED);
}

void
nd_post_tell(const struct nd_qp *qp)
{
	ring_doorbell(qp);
}

nd_status
nd_post_check(struct nd_qp *qp)
{
	nd_status st = nd_post_check_connected(qp);

	return st == ND_SUCCESS && send_queue_full(qp) ? ND_NO_MORE_ENTRIES : st;
}

void
nd_post_local(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr, uint32_t how)
{
	nd_post_begin(&qp->sq_inside, "send", qp);
	wr->ctrl = NDSH_CTRL(op, 0, how, 0);
	post_submit(qp, wr, NULL, NULL, how);
}

/* ---- receives ------------------------------------------------------------------------ */

/*
 * Legal at any time (R-SR-01). No doorbell: the daemon reads the ring when a message comes. To a
 * queue pair in error none comes; a receive that is posted there is cancelled only if the doorbell
 * rings (R-POST-03, R-FL-06). The barrier is this side's half of the flush: the daemon sees the
 * receive, or this side sees that the queue pair is dead.
 */
BASE_INLINE nd_status
check_receive(const struct nd_qp *qp)
{
	if (nd_gone(qp->adapter))
		return ND_DEVICE_REMOVED;
	return qp->srq == NULL ? ND_SUCCESS : ND_INVALID_DEVICE_REQUEST; /* R-SRQ-07 */
}

BASE_INLINE nd_status
post_receive(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n, uint64_t bytes)
{
	if (bytes > qp->adapter->max_transfer_bytes)
		return ND_BUFFER_OVERFLOW;
	if (is_full(qp->rq.next, qp->rq.depth, &qp->rq_freed, &qp->page->rq_done))
		return ND_NO_MORE_ENTRIES;
	nd_post_begin(&qp->rq_inside, "receive", qp);
	ndsh_rq_push(&qp->rq, (uintptr_t)context, (const struct ndsh_sge *)(const void *)sge, n);
	ndsh_full_barrier();
	if (__atomic_load_n(&qp->page->dead, __ATOMIC_ACQUIRE) != 0)
		ring_doorbell(qp);
	nd_post_end(&qp->rq_inside);
	return ND_SUCCESS;
}

nd_status
nd_qp_receive(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n)
{
	uint64_t bytes;
	nd_status st = check_receive(qp);

	if (st == ND_SUCCESS)
		st = sum_bytes(sge, n, qp->rq_sge, &bytes);
	return st == ND_SUCCESS ? post_receive(qp, context, sge, n, bytes) : st;
}

nd_status
nd_post_receive(
	struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n, uint64_t bytes)
{
	nd_status st = check_receive(qp);

	return st == ND_SUCCESS ? post_receive(qp, context, sge, n, bytes) : st;
}

/* The daemon reads the ring when a message comes to any of the queue pairs; the end of one of them
 * leaves the receives here as they are (R-FL-08). So there is no barrier and no doorbell. */
nd_status
nd_srq_receive(struct nd_srq *srq, void *context, const struct nd_sge *sge, uint32_t n)
{
	if (nd_gone(srq->adapter))
		return ND_DEVICE_REMOVED;
	if (n > srq->sge)
		return ND_DATA_OVERRUN;
	if (total_bytes(sge, n) > srq->adapter->max_transfer_bytes)
		return ND_BUFFER_OVERFLOW;
	if (srq->rq.next - __atomic_load_n(&srq->page->taken, __ATOMIC_ACQUIRE) >= srq->depth)
		return ND_NO_MORE_ENTRIES;
	ndsh_rq_push(&srq->rq, (uintptr_t)context, (const struct ndsh_sge *)(const void *)sge, n);
	return ND_SUCCESS;
}
