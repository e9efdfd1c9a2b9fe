/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of the ND face: what an entry of a completion queue says, and how the transport's
 * outcomes become statuses. */
#include <arpa/inet.h>

#include "base/compiler.h"
#include "ndclient/face/result.h"
#include "shm/ndsh_op.h"

/* Where ND's pages and Microsoft's own tests disagree, the tests win, unless ND_PROFILE_DOC was
 * asked for. What the pages say then; ND_SUCCESS: the same as the tests. */
static nd_status
status_of_pages(uint8_t wc_status, uint8_t op)
{
	switch (wc_status) {
	case NDSH_WC_LOC_LEN_ERR:
		return op == NDSH_OP_RECV ? ND_BUFFER_OVERFLOW : ND_SUCCESS;
	case NDSH_WC_REM_INV_REQ_ERR:
	case NDSH_WC_REM_ACCESS_ERR:
		return op == NDSH_OP_RECV ? ND_SUCCESS : ND_REMOTE_ERROR;
	default:
		return ND_SUCCESS;
	}
}

nd_status
nd_status_of_wc(uint32_t profile, uint8_t wc_status, uint8_t op)
{
	nd_status st = profile == ND_PROFILE_DOC ? status_of_pages(wc_status, op) : ND_SUCCESS;

	if (st != ND_SUCCESS)
		return st;
	switch (wc_status) {
	case NDSH_WC_SUCCESS:
		return ND_SUCCESS;
	case NDSH_WC_LOC_LEN_ERR: /* R-SR-03: also for a receive that was too small */
		return ND_DATA_OVERRUN;
	case NDSH_WC_LOC_PROT_ERR:
	case NDSH_WC_LOC_ACCESS_ERR:
		return ND_ACCESS_VIOLATION;
	case NDSH_WC_BIND_ERR:
		return op == NDSH_OP_BIND ? ND_ACCESS_VIOLATION : ND_INVALID_DEVICE_REQUEST;
	case NDSH_WC_LOC_QP_OP_ERR: /* R-INV-04; R-FR-06; R-RW-04: a limit of 0 */
		return op == NDSH_OP_INVALIDATE || op == NDSH_OP_FAST_REGISTER ||
				       ndsh_op_is_fetch(op)
			       ? ND_INVALID_DEVICE_REQUEST
			       : ND_INTERNAL_ERROR;
	case NDSH_WC_FLUSH_ERR:
		return ND_CANCELED;
	case NDSH_WC_BAD_RESP_ERR:
	case NDSH_WC_REM_OP_ERR:
		return ND_REMOTE_ERROR;
	case NDSH_WC_REM_INV_REQ_ERR: /* R-INV-09: of a receive, that it came with a bad token */
		return op == NDSH_OP_RECV ? ND_INVALID_DEVICE_REQUEST : ND_DATA_ERROR;
	case NDSH_WC_REM_ACCESS_ERR: /* R-RW-02; R-INV-09: of the request that sent a bad token */
		return op == NDSH_OP_SEND_INV ? ND_REMOTE_ERROR : ND_ACCESS_VIOLATION;
	case NDSH_WC_RETRY_EXC_ERR:
	case NDSH_WC_RNR_RETRY_EXC_ERR: /* R-SR-05 */
		return ND_IO_TIMEOUT;
	case NDSH_WC_REM_ABORT_ERR:
		return ND_CONNECTION_ABORTED;
	default:
		return ND_INTERNAL_ERROR;
	}
}

const char *
nd_detail_name(uint32_t detail)
{
	switch (detail & 0xff) {
	case NDSH_WC_SUCCESS:
		return "success";
	case NDSH_WC_LOC_LEN_ERR:
		return "message longer than the local buffer or the limit";
	case NDSH_WC_LOC_QP_OP_ERR:
		return "operation not possible on this queue pair, or not (or already) bound";
	case NDSH_WC_LOC_PROT_ERR:
		return "local buffer outside its region, or wrong local token";
	case NDSH_WC_FLUSH_ERR:
		return "flushed: the queue pair was in error state";
	case NDSH_WC_BIND_ERR:
		return "window: wrong range, right or domain, or bound already";
	case NDSH_WC_BAD_RESP_ERR:
		return "the peer's response broke the protocol";
	case NDSH_WC_LOC_ACCESS_ERR:
		return "local access right missing";
	case NDSH_WC_REM_INV_REQ_ERR:
		return "invalid request: message longer than the peer's receive, or a bad token to "
		       "invalidate";
	case NDSH_WC_REM_ACCESS_ERR:
		return "the peer refused: remote access (token, range or right)";
	case NDSH_WC_REM_OP_ERR:
		return "the peer could not carry it out";
	case NDSH_WC_RETRY_EXC_ERR:
		return "no acknowledgement: retries exhausted";
	case NDSH_WC_RNR_RETRY_EXC_ERR:
		return "the peer posted no receive: RNR retries exhausted";
	case NDSH_WC_REM_ABORT_ERR:
		return "aborted by the peer";
	case NDSH_WC_FATAL_ERR:
		return "fatal transport error";
	default:
		return "general error";
	}
}

/* Of initiator requests. */
static const uint8_t types[] = {
	[NDSH_OP_SEND] = ND_REQUEST_SEND,
	[NDSH_OP_SEND_INV] = ND_REQUEST_SEND,
	[NDSH_OP_SEND_IMM] = ND_REQUEST_SEND,
	[NDSH_OP_WRITE] = ND_REQUEST_WRITE,
	[NDSH_OP_WRITE_IMM] = ND_REQUEST_WRITE,
	[NDSH_OP_READ] = ND_REQUEST_READ,
	[NDSH_OP_CMP_SWAP] = ND_REQUEST_ATOMIC,
	[NDSH_OP_FETCH_ADD] = ND_REQUEST_ATOMIC,
	[NDSH_OP_BIND] = ND_REQUEST_BIND,
	[NDSH_OP_INVALIDATE] = ND_REQUEST_INVALIDATE,
	[NDSH_OP_FAST_REGISTER] = ND_REQUEST_FAST_REGISTER,
};

static enum nd_request_type
request_type(uint8_t op)
{
	if (op == NDSH_OP_RECV)
		return ND_REQUEST_RECEIVE;
	return op < sizeof(types) ? types[op] : ND_REQUEST_SEND;
}

/* Most requests succeed, and then there is nothing to look up. */
static inline nd_status
result_status(uint32_t profile, const struct ndsh_cqe *e)
{
	return base_likely(e->status == NDSH_WC_SUCCESS)
		       ? ND_SUCCESS
		       : nd_status_of_wc(profile, e->status, e->op);
}

static inline uint32_t
result_detail(const struct ndsh_cqe *e)
{
	return base_likely(e->status == NDSH_WC_SUCCESS) ? 0 : e->status | e->syndrome << 8;
}

/* What all forms say, and what the two longer ones say. */
#define SAID(profile, e, of_qp)                                                                    \
	.status = result_status(profile, e), .bytes_transferred = (e)->bytes,                      \
	.qp_context = (of_qp), .request_context = (void *)(uintptr_t)(e)->context
#define SAID_AT_LENGTH(profile, e, of_qp)                                                          \
	SAID(profile, e, of_qp), .request_type = request_type((e)->op), .detail = result_detail(e)

void
nd_result_brief_of(
	uint32_t profile, const struct ndsh_cqe *e, void *qp_context, struct nd_result_brief *r)
{
	*r = (struct nd_result_brief){SAID(profile, e, qp_context)};
}

void
nd_result_of(uint32_t profile, const struct ndsh_cqe *e, void *qp_context, struct nd_result *r)
{
	*r = (struct nd_result){SAID_AT_LENGTH(profile, e, qp_context)};
}

/* ND's first version has other words for some. */
static nd_status
status_of_first(nd_status st, bool receive)
{
	switch (st) {
	case ND_IO_TIMEOUT:
		return ND_TIMEOUT;
	case ND_DATA_ERROR:
		return ND_REMOTE_ERROR;
	case ND_DATA_OVERRUN:
		return receive ? ND_BUFFER_OVERFLOW : st;
	default:
		return st;
	}
}

struct nd_placed_result *
nd_result_placed_of(uint32_t profile, const struct ndsh_cqe *e)
{
	struct nd_placed_result *r = (struct nd_placed_result *)(uintptr_t)e->context;

	r->bytes_transferred = e->bytes;
	r->status = base_likely(e->status == NDSH_WC_SUCCESS)
			    ? ND_SUCCESS
			    : status_of_first(nd_status_of_wc(profile, e->status, e->op),
				      e->op == NDSH_OP_RECV);
	return r;
}

void
nd_result_place(const struct nd_result_ex *result)
{
	struct nd_placed_result *r = result->request_context;

	*r = (struct nd_placed_result){
		.status =
			status_of_first(result->status, result->request_type == ND_REQUEST_RECEIVE),
		.bytes_transferred = result->bytes_transferred,
	};
}

/* What a receive came with (R-CR-06). */
static void
result_brought(const struct ndsh_cqe *e, struct nd_result_ex *r)
{
	if (e->flags & NDSH_CQEF_INV) {
		r->request_type = ND_REQUEST_RECEIVE_AND_INVALIDATE;
		r->invalidated_token = htonl(e->data); /* as nd_mw_remote_token() */
	}
	if (e->flags & NDSH_CQEF_IMM) {
		r->request_type = e->flags & NDSH_CQEF_WRITE ? ND_REQUEST_WRITTEN_WITH_IMMEDIATE
							     : ND_REQUEST_RECEIVE_WITH_IMMEDIATE;
		r->immediate = e->data;
	}
}

void
nd_result_ex_of(
	uint32_t profile, const struct ndsh_cqe *e, void *qp_context, struct nd_result_ex *r)
{
	*r = (struct nd_result_ex){SAID_AT_LENGTH(profile, e, qp_context)};
	if (e->op == NDSH_OP_RECV && (e->flags & (NDSH_CQEF_INV | NDSH_CQEF_IMM)) != 0)
		result_brought(e, r);
}

void
nd_ud_result_of(
	uint32_t profile, const struct ndsh_cqe *e, void *qp_context, struct nd_ud_result *r)
{
	nd_result_ex_of(profile, e, qp_context, &r->result);
	r->source_qp = e->flags & NDSH_CQEF_GRH ? e->syndrome : 0;
	r->reserved = 0;
}
