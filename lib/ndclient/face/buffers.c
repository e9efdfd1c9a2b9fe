/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of the ND face whose lists have places of tokens. */
#include <arpa/inet.h>

#include "base/compiler.h"
#include "ndclient/face/flags.h"
#include "ndclient/qp/post.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"

#define TRANSFER_FLAGS (ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE)
#define SEND_FLAGS     (TRANSFER_FLAGS | ND_OP_FLAG_SEND_AND_SOLICIT_EVENT)

/* ---- lists --------------------------------------------------------------------------------- */

/* Most lists are one buffer of some region, and not long: these are taken without a loop. */
BASE_INLINE bool
list_is_plain(const struct nd_buffer from[], size_t n)
{
	return n == 1 && from != NULL && from->token != NULL && from->bytes <= UINT32_MAX;
}

BASE_INLINE struct nd_sge
sge_of(const struct nd_buffer *b)
{
	return (struct nd_sge){.buffer = b->buffer,
		.bytes = (uint32_t)b->bytes,
		.token = b->token != NULL ? __atomic_load_n(b->token, __ATOMIC_ACQUIRE) : 0};
}

/* most: what the queue pair takes, at most NDSH_SGE_MAX, as to has. *bytes: the sum; *loose: a
 * buffer is of no region. */
static nd_status
list_take(struct nd_sge to[], const struct nd_buffer from[], size_t n, uint32_t most,
	uint64_t *bytes, bool *loose)
{
	*bytes = 0;
	*loose = false;
	if (n > most)
		return ND_DATA_OVERRUN;
	if (from == NULL && n != 0)
		return ND_INVALID_PARAMETER_2;
	for (size_t i = 0; i < n; i++) {
		if (from[i].bytes > UINT32_MAX)
			return ND_BUFFER_OVERFLOW;
		*bytes += from[i].bytes;
		*loose |= from[i].token == NULL;
		to[i] = sge_of(&from[i]);
	}
	return ND_SUCCESS;
}

/* ---- initiator requests -------------------------------------------------------------------- */

static __attribute__((noinline)) nd_status
post_list(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr, const struct nd_buffer *from,
	size_t n, uint32_t how)
{
	struct nd_sge sge[NDSH_SGE_MAX];
	bool loose;
	nd_status st = list_take(sge, from, n, qp->sq_sge, &wr->data[0], &loose);

	if (st != ND_SUCCESS)
		return st;
	if (op != NDSH_OP_READ && loose)
		how |= NDSH_WRF_INLINE;
	return nd_post_request(qp, op, wr, sge, (uint32_t)n, how);
}

/* flags: legal ones alone. */
BASE_INLINE nd_status
post_buffers(struct nd_qp *qp, enum ndsh_op op, void *context, const struct nd_buffer *from,
	size_t n, uint64_t raddr, uint32_t rkey, uint32_t flags)
{
	struct ndsh_swr wr = {.context = (uintptr_t)context, .raddr = raddr, .rkey = rkey};
	const uint32_t how = nd_request_flags(flags) | ND_POST_SUMMED;
	struct nd_sge sge;

	if (base_unlikely(!list_is_plain(from, n)))
		return post_list(qp, op, &wr, from, n, how);
	sge = sge_of(from);
	wr.data[0] = sge.bytes;
	return nd_post_request(qp, op, &wr, &sge, 1, how);
}

nd_status
nd_qp_send_buffers(
	struct nd_qp *qp, void *context, const struct nd_buffer *list, size_t n, uint32_t flags)
{
	if (base_unlikely(flags & ~SEND_FLAGS))
		return ND_INVALID_PARAMETER_4;
	return post_buffers(qp, NDSH_OP_SEND, context, list, n, 0, 0, flags);
}

nd_status
nd_qp_send_and_invalidate_buffers(struct nd_qp *qp, void *context, const struct nd_buffer *list,
	size_t n, uint32_t remote_token, uint32_t flags)
{
	if (base_unlikely(flags & ~SEND_FLAGS))
		return ND_INVALID_PARAMETER_4;
	return post_buffers(qp, NDSH_OP_SEND_INV, context, list, n, 0, ntohl(remote_token), flags);
}

nd_status
nd_qp_write_buffers(struct nd_qp *qp, void *context, const struct nd_buffer *list, size_t n,
	uint64_t remote_address, uint32_t remote_token, uint32_t flags)
{
	if (base_unlikely(flags & ~TRANSFER_FLAGS))
		return ND_INVALID_PARAMETER_6;
	return post_buffers(
		qp, NDSH_OP_WRITE, context, list, n, remote_address, ntohl(remote_token), flags);
}

nd_status
nd_qp_read_buffers(struct nd_qp *qp, void *context, const struct nd_buffer *list, size_t n,
	uint64_t remote_address, uint32_t remote_token, uint32_t flags)
{
	if (base_unlikely(flags & ~TRANSFER_FLAGS))
		return ND_INVALID_PARAMETER_6;
	if (n > qp->adapter->info.max_read_sge && nd_post_check_connected(qp) == ND_SUCCESS)
		return ND_DATA_OVERRUN; /* R-RW-07 */
	return post_buffers(
		qp, NDSH_OP_READ, context, list, n, remote_address, ntohl(remote_token), flags);
}

/* ---- receives ------------------------------------------------------------------------------ */

static __attribute__((noinline)) nd_status
receive_list(struct nd_qp *qp, void *context, const struct nd_buffer *from, size_t n)
{
	struct nd_sge sge[NDSH_SGE_MAX];
	uint64_t bytes;
	bool loose; /* its token is one of no memory */
	nd_status st = list_take(sge, from, n, qp->rq_sge, &bytes, &loose);

	return st == ND_SUCCESS ? nd_post_receive(qp, context, sge, (uint32_t)n, bytes) : st;
}

nd_status
nd_qp_receive_buffers(struct nd_qp *qp, void *context, const struct nd_buffer *from, size_t n)
{
	struct nd_sge sge;

	if (base_unlikely(!list_is_plain(from, n)))
		return receive_list(qp, context, from, n);
	sge = sge_of(from);
	return nd_post_receive(qp, context, &sge, 1, sge.bytes);
}
