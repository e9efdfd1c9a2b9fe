/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flags of requests as NDK writes them. Two bits have another meaning in ND: 0x10 is its right to
 * write remotely, which is NDK's right to write locally; 0x20 is INLINE, which is one of the two
 * bits of NDK's right to write remotely.
 */
#include "ndclient/session/error.h"

#define REMOTE_WRITE (NDK_OP_FLAG_ALLOW_REMOTE_WRITE & ~NDK_OP_FLAG_ALLOW_LOCAL_WRITE)

/* The same bits here and there, and all that most requests have. */
#define SAME                                                                                       \
	(uint32_t)(NDK_OP_FLAG_SILENT_SUCCESS | NDK_OP_FLAG_READ_FENCE |                           \
		   NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT)
_Static_assert(NDK_OP_FLAG_SILENT_SUCCESS == ND_OP_FLAG_SILENT_SUCCESS &&
		       NDK_OP_FLAG_READ_FENCE == ND_OP_FLAG_READ_FENCE &&
		       NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT == ND_OP_FLAG_SEND_AND_SOLICIT_EVENT,
	"the same bits");

/* The other bits: NDK's, and what it is here; 0: nothing. */
static const struct {
	uint32_t ndk, nd;
} pairs[] = {
	{NDK_OP_FLAG_ALLOW_REMOTE_READ, ND_OP_FLAG_ALLOW_READ},
	{NDK_OP_FLAG_ALLOW_LOCAL_WRITE, ND_OP_FLAG_ALLOW_LOCAL_WRITE},
	{REMOTE_WRITE, ND_OP_FLAG_ALLOW_WRITE},
	{NDK_OP_FLAG_INLINE, ND_OP_FLAG_INLINE},
	{NDK_OP_FLAG_RDMA_READ_SINK, 0},
	{NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE, ND_OP_FLAG_READ_LOCAL_INVALIDATE},
	{NDK_OP_FLAG_DEFER, ND_OP_FLAG_DEFER},
};

#define ALL_REQUESTS (NDK_OP_FLAG_SILENT_SUCCESS | NDK_OP_FLAG_READ_FENCE | NDK_OP_FLAG_DEFER)

/* What each request may have (R-POST-05). */
static uint32_t
legal_flags(uint32_t type)
{
	switch (type) {
	case ND_REQUEST_SEND:
		return ALL_REQUESTS | NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT | NDK_OP_FLAG_INLINE;
	case ND_REQUEST_WRITE:
		return ALL_REQUESTS | NDK_OP_FLAG_INLINE;
	case ND_REQUEST_READ:
		return ALL_REQUESTS | NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE;
	case ND_REQUEST_BIND:
		return ALL_REQUESTS | NDK_OP_FLAG_ALLOW_REMOTE_READ |
		       NDK_OP_FLAG_ALLOW_REMOTE_WRITE;
	case ND_REQUEST_FAST_REGISTER:
		return ALL_REQUESTS | NDK_OP_FLAG_ALLOW_REMOTE_READ |
		       NDK_OP_FLAG_ALLOW_REMOTE_WRITE | NDK_OP_FLAG_RDMA_READ_SINK;
	case ND_REQUEST_INVALIDATE:
		return ALL_REQUESTS;
	default:
		return 0;
	}
}

nd_status
nd_flags_of_ndk(uint32_t type, uint32_t ndk, uint32_t *flags)
{
	uint32_t f = ndk & SAME;

	if (flags == NULL)
		return ND_INVALID_PARAMETER;
	*flags = 0;
	if (ndk & ~legal_flags(type))
		return nd_fail(ND_INVALID_PARAMETER, "flags that this request does not have");
	if (f == ndk) {
		*flags = f;
		return ND_SUCCESS;
	}
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (ndk & pairs[i].ndk)
			f |= pairs[i].nd;
	if (type == ND_REQUEST_BIND) { /* the local right is the region's, a window has none */
		if ((f & ND_OP_FLAG_ALLOW_LOCAL_WRITE) && !(f & ND_OP_FLAG_ALLOW_WRITE))
			return nd_fail(ND_INVALID_PARAMETER, "a window grants no local right");
		f &= ~ND_OP_FLAG_ALLOW_LOCAL_WRITE;
	}
	*flags = f;
	return ND_SUCCESS;
}
