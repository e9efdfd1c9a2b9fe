/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libndclient: requests whose lists name each region by the place of its token, and results that
 * are written to where their requests say. For programs that have a record of their own for each
 * region and each request: their lists are handed over as they stand, which are those of
 * NetworkDirect's first version. Part of ndclient.h.
 */
#ifndef NDCLIENT_BUFFERS_H
#define NDCLIENT_BUFFERS_H

#include "ndclient.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nd_cq;
struct nd_qp;
struct nd_result_ex;

struct nd_buffer { /* as struct nd_sge */
	void *buffer;
	size_t bytes; /* ND_BUFFER_OVERFLOW: 2^32 or more */
	/* Where the local token of its region stands, which is read once, atomically, as the
	 * request is posted. A token of 0 names no memory: the result is ND_ACCESS_VIOLATION. NULL:
	 * no region. Of a send or write that makes the whole request inline (ND_OP_FLAG_INLINE),
	 * elsewhere it is as a token of 0. */
	const uint32_t *token;
};

/*
 * Each as the call without _buffers, which tells statuses and rules, but:
 *   ND_INVALID_PARAMETER_2  list is NULL, and n is not 0
 *   ND_DATA_OVERRUN         more entries than the queue pair takes SGEs, also of an inline request
 * These, and ND_BUFFER_OVERFLOW of one buffer, come before what is wrong with the connection. Flags
 * are SILENT_SUCCESS, READ_FENCE and, of the sends, SEND_AND_SOLICIT_EVENT: INLINE follows from the
 * list. One thread at a time per queue.
 */
nd_status nd_qp_send_buffers(
	struct nd_qp *qp, void *context, const struct nd_buffer *list, size_t n, uint32_t flags);
nd_status nd_qp_send_and_invalidate_buffers(struct nd_qp *qp, void *context,
	const struct nd_buffer *list, size_t n, uint32_t remote_token, uint32_t flags);
nd_status nd_qp_receive_buffers(
	struct nd_qp *qp, void *context, const struct nd_buffer *list, size_t n);
nd_status nd_qp_write_buffers(struct nd_qp *qp, void *context, const struct nd_buffer *list,
	size_t n, uint64_t remote_address, uint32_t remote_token, uint32_t flags);
nd_status nd_qp_read_buffers(struct nd_qp *qp, void *context, const struct nd_buffer *list,
	size_t n, uint64_t remote_address, uint32_t remote_token, uint32_t flags);

/* A result that lies where its request's context points: until it is taken from the queue, also
 * behind nd_qp_close() and a step to RESET, which leave those there that were made before. */
struct nd_placed_result {
	nd_status status;
	size_t bytes_transferred;
};

/*
 * As nd_cq_get_results(), for queues all of whose requests have the address of a struct
 * nd_placed_result as their context: each is filled, and results[i] points to it. Statuses are of
 * ND's first version, where it has others: ND_TIMEOUT for ND_IO_TIMEOUT, ND_REMOTE_ERROR for
 * ND_DATA_ERROR, and, of a receive, ND_BUFFER_OVERFLOW for ND_DATA_OVERRUN. Any thread.
 */
int32_t nd_cq_get_placed_results(struct nd_cq *cq, struct nd_placed_result *results[], size_t n);
/* The same with one that was taken by nd_cq_get_results_ex(). */
void nd_result_place(const struct nd_result_ex *result);

#ifdef __cplusplus
}
#endif

#endif
