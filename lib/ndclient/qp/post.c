/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posting: checks, a descriptor in shared memory, a doorbell. No lock, no system call unless the
 * daemon sleeps.
 */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "ndclient/face/flags.h"
#include "ndclient/mem/moved.h"
#include "ndclient/mem/region.h"
#include "ndclient/mem/window.h"
#include "ndclient/qp/post.h"
#include "ndclient/qp/qp.h"
#include "ndclient/qp/srq.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/verify.h"

/* DEFER has no effect: each request is handed over at once, which costs one barrier as long as the
 * daemon polls the ring anyway. So no chain can be forgotten (R-POST-12, R-POST-13). */
#define ALL_FLAGS	 (ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE | ND_OP_FLAG_DEFER)
#define WRITE_FLAGS	 (ALL_FLAGS | ND_OP_FLAG_INLINE)
#define SEND_FLAGS	 (WRITE_FLAGS | ND_OP_FLAG_SEND_AND_SOLICIT_EVENT)
#define READ_FLAGS	 (ALL_FLAGS | ND_OP_FLAG_READ_LOCAL_INVALIDATE)
#define BIND_FLAGS	 (ALL_FLAGS | ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE)
#define INVALIDATE_FLAGS ALL_FLAGS

/* SGEs are handed over as they stand. */
static_assert(sizeof(struct nd_sge) == sizeof(struct ndsh_sge) &&
		      offsetof(struct nd_sge, buffer) == offsetof(struct ndsh_sge, addr) &&
		      offsetof(struct nd_sge, bytes) == offsetof(struct ndsh_sge, len) &&
		      offsetof(struct nd_sge, token) == offsetof(struct ndsh_sge, key),
	"struct nd_sge is the ABI's");

/* Is the next slot still the daemon's? Completions that were taken tell what is free; silent
 * requests are told by the page alone (R-ORD-04). */
static bool
is_full(uint32_t next, uint32_t depth, const uint32_t *freed, const uint32_t *done)
{
	if (next - __atomic_load_n(freed, __ATOMIC_ACQUIRE) < depth)
		return false;
	return next - __atomic_load_n(done, __ATOMIC_ACQUIRE) >= depth;
}

static bool
send_queue_full(const struct nd_qp *qp)
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
static uint32_t
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

/* Every initiator request needs a daemon and a connection. */
static nd_status
check_connected(const struct nd_qp *qp)
{
	if (nd_gone(qp->adapter))
		return ND_DEVICE_REMOVED;
	if (__atomic_load_n(&qp->state, __ATOMIC_ACQUIRE) != ND_QP_CONNECTED)
		return ND_CONNECTION_INVALID;
	return ND_SUCCESS;
}

static nd_status
check_data(const struct nd_qp *qp, const struct nd_sge *sge, uint32_t n, uint32_t flags)
{
	if (flags & ND_OP_FLAG_INLINE)
		return total_bytes(sge, n) > qp->inline_bytes ? ND_BUFFER_OVERFLOW : ND_SUCCESS;
	if (n > qp->sq_sge)
		return ND_DATA_OVERRUN;
	if (total_bytes(sge, n) > qp->adapter->max_transfer_bytes)
		return ND_BUFFER_OVERFLOW;
	return ND_SUCCESS;
}

static void
ring_doorbell(const struct nd_qp *qp)
{
	struct nd_adapter *a = qp->adapter;

	/* A full socket does as well: the daemon has bytes to read. */
	if (ndsh_doorbell_ring(a->page, qp->page, qp->index))
		(void)send(a->wake_fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The last steps of every initiator request. Nothing can fail any more. */
static void
post_submit(struct nd_qp *qp, const struct ndsh_swr *wr, const struct nd_sge *sge, const void *data)
{
	ndsh_sq_push(&qp->sq, wr, (const struct ndsh_sge *)(const void *)sge, data);
	ring_doorbell(qp);
	nd_post_end(&qp->sq_inside);
}

/* wr has context, address, token and immediate; the queue pair may send. */
static nd_status
post_data(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr, const struct nd_sge *sge,
	uint32_t n, uint32_t flags)
{
	uint8_t data[NDSH_INLINE_MAX];
	uint32_t how;
	nd_status st = check_data(qp, sge, n, flags);

	if (st != ND_SUCCESS)
		return st;
	if (send_queue_full(qp))
		return ND_NO_MORE_ENTRIES;
	nd_post_begin(&qp->sq_inside, "send", qp);
	if (__atomic_load_n(&qp->adapter->mover, __ATOMIC_RELAXED) != NULL &&
		nd_moved_fits(qp, op, sge, n, flags))
		flags |= ND_OP_FLAG_INLINE;
	how = nd_request_flags(flags);
	if (how & NDSH_WRF_INLINE) {
		if (total_bytes(sge, n) < qp->short_below)
			how |= NDSH_WRF_SHORT;
		wr->inline_bytes =
			gather_inline(how & NDSH_WRF_SHORT ? (uint8_t *)wr->data : data, sge, n);
		n = 0;
	}
	wr->ctrl = NDSH_CTRL(op, n, how, 0);
	post_submit(qp, wr, sge, data);
	return ND_SUCCESS;
}

static nd_status
post_initiator(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr, const struct nd_sge *sge,
	uint32_t n, uint32_t flags)
{
	nd_status st = check_connected(qp);

	return st == ND_SUCCESS ? post_data(qp, op, wr, sge, n, flags) : st;
}

nd_status
nd_post_datagram(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr, const struct nd_sge *sge,
	uint32_t n, uint32_t flags)
{
	if (nd_gone(qp->adapter))
		return ND_DEVICE_REMOVED;
	if (qp->state != ND_QP_DATAGRAM)
		return ND_INVALID_DEVICE_REQUEST;
	if (total_bytes(sge, n) > qp->adapter->info.path_mtu)
		return ND_BUFFER_OVERFLOW;
	return post_data(qp, op, wr, sge, n, flags);
}

static nd_status
post_request(struct nd_qp *qp, enum ndsh_op op, void *context, const struct nd_sge *sge, uint32_t n,
	uint64_t raddr, uint32_t rkey, uint32_t flags)
{
	struct ndsh_swr wr = {.context = (uintptr_t)context, .raddr = raddr, .rkey = rkey};

	return post_initiator(qp, op, &wr, sge, n, flags);
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
	return post_initiator(qp, op, wr, sge, n, flags);
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
	if (n > qp->adapter->info.max_read_sge && check_connected(qp) == ND_SUCCESS)
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
	return post_initiator(qp, op, wr, sge, 1, flags);
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

/* ---- without SGEs -------------------------------------------------------------------- */

nd_status
nd_post_check(const struct nd_qp *qp)
{
	nd_status st = check_connected(qp);

	return st == ND_SUCCESS && send_queue_full(qp) ? ND_NO_MORE_ENTRIES : st;
}

void
nd_post_local(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr, uint32_t flags)
{
	nd_post_begin(&qp->sq_inside, "send", qp);
	wr->ctrl = NDSH_CTRL(op, 0, nd_request_flags(flags), 0);
	post_submit(qp, wr, NULL, NULL);
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
		st = check_connected(qp); /* R-MW-11 */
	if (st != ND_SUCCESS)
		return st;
	if (send_queue_full(qp))
		return ND_NO_MORE_ENTRIES;
	if (!nd_mw_bind(mw, mr, qp))
		return ND_INVALID_DEVICE_STATE; /* R-MW-01 */
	nd_post_begin(&qp->sq_inside, "send", qp);
	wr.rkey = mw->token;
	wr.imm = mw->generation;
	wr.arg[0] = bytes;
	wr.arg[1] = nd_window_access(flags) |
		    (uint64_t)__atomic_load_n(&mr->token, __ATOMIC_ACQUIRE) << 32;
	wr.ctrl = NDSH_CTRL(NDSH_OP_BIND, 0, nd_request_flags(flags), 0);
	post_submit(qp, &wr, NULL, NULL);
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
	st = check_connected(qp);
	if (st != ND_SUCCESS)
		return st;
	if (send_queue_full(qp))
		return ND_NO_MORE_ENTRIES;
	nd_post_begin(&qp->sq_inside, "send", qp);
	nd_mw_invalidate(mw, qp);
	wr.rkey = __atomic_load_n(&mw->token, __ATOMIC_RELAXED);
	wr.ctrl = NDSH_CTRL(NDSH_OP_INVALIDATE, 0, nd_request_flags(flags), 0);
	post_submit(qp, &wr, NULL, NULL);
	return ND_SUCCESS;
}

/* ---- receives ------------------------------------------------------------------------ */

/*
 * Legal at any time (R-SR-01). No doorbell: the daemon reads the ring when a message comes. To a
 * queue pair in error none comes; a receive that is posted there is cancelled only if the doorbell
 * rings (R-POST-03, R-FL-06). The barrier is this side's half of the flush: the daemon sees the
 * receive, or this side sees that the queue pair is dead.
 */
nd_status
nd_qp_receive(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n)
{
	if (nd_gone(qp->adapter))
		return ND_DEVICE_REMOVED;
	if (qp->srq != NULL)
		return ND_INVALID_DEVICE_REQUEST; /* R-SRQ-07 */
	if (n > qp->rq_sge)
		return ND_DATA_OVERRUN;
	if (total_bytes(sge, n) > qp->adapter->max_transfer_bytes)
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
