/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses: their names, their words, and how the transport's outcomes become ND's. */
#include <stdarg.h>
#include <stdio.h>

#include "ndclient/nd_int.h"
#include "shm/ndsh_op.h"

#define NAME(s)                                                                                    \
	{                                                                                          \
		ND_##s, "ND_" #s                                                                   \
	}

static const struct {
	nd_status status;
	const char *name;
} names[] = {
	NAME(SUCCESS),
	NAME(TIMEOUT),
	NAME(PENDING),
	NAME(BUFFER_OVERFLOW),
	NAME(DEVICE_BUSY),
	NAME(NO_MORE_ENTRIES),
	NAME(UNSUCCESSFUL),
	NAME(ACCESS_VIOLATION),
	NAME(INVALID_HANDLE),
	NAME(INVALID_PARAMETER),
	NAME(INVALID_DEVICE_REQUEST),
	NAME(NO_MEMORY),
	NAME(INVALID_PARAMETER_MIX),
	NAME(DATA_OVERRUN),
	NAME(DATA_ERROR),
	NAME(SHARING_VIOLATION),
	NAME(INSUFFICIENT_RESOURCES),
	NAME(DEVICE_NOT_READY),
	NAME(IO_TIMEOUT),
	NAME(NOT_SUPPORTED),
	NAME(BAD_NETWORK_NAME),
	NAME(INTERNAL_ERROR),
	NAME(INVALID_PARAMETER_1),
	NAME(INVALID_PARAMETER_2),
	NAME(INVALID_PARAMETER_3),
	NAME(INVALID_PARAMETER_4),
	NAME(INVALID_PARAMETER_5),
	NAME(INVALID_PARAMETER_6),
	NAME(INVALID_PARAMETER_7),
	NAME(INVALID_PARAMETER_8),
	NAME(INVALID_PARAMETER_9),
	NAME(INVALID_PARAMETER_10),
	NAME(CANCELED),
	NAME(REMOTE_ERROR),
	NAME(INVALID_ADDRESS),
	NAME(INVALID_DEVICE_STATE),
	NAME(INVALID_BUFFER_SIZE),
	NAME(TOO_MANY_ADDRESSES),
	NAME(ADDRESS_ALREADY_EXISTS),
	NAME(CONNECTION_DISCONNECTED),
	NAME(CONNECTION_REFUSED),
	NAME(ADDRESS_ALREADY_ASSOCIATED),
	NAME(ADDRESS_NOT_ASSOCIATED),
	NAME(CONNECTION_INVALID),
	NAME(CONNECTION_ACTIVE),
	NAME(NETWORK_UNREACHABLE),
	NAME(HOST_UNREACHABLE),
	NAME(CONNECTION_ABORTED),
	NAME(DEVICE_REMOVED),
	NAME(IMPLEMENTATION_LIMIT),
};

const char *
nd_status_name(nd_status status)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].status == status)
			return names[i].name;
	return "unknown ND status";
}

static __thread char last_error[256];

nd_status
nd_fail(nd_status st, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(last_error, sizeof(last_error), fmt, args);
	va_end(args);
	return st;
}

const char *
nd_last_error(void)
{
	return last_error;
}

/* Where ND's pages and Microsoft's own tests disagree, the tests win (the "test profile"). */
/* Where the pages say something else than the test programs; ND_SUCCESS: they do not. */
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
	case NDSH_WC_REM_ACCESS_ERR: /* R-RW-02; R-INV-09 for who sent the bad token */
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
