/* SPDX-License-Identifier: BSD-3-Clause */
/* Flags and rights of the ND face, as the ABI has them. */
#ifndef ND_FLAGS_H
#define ND_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_ring.h"

/* The ABI's flags are its own; only silent and fence happen to have ND's bits. */
static inline uint32_t
nd_request_flags(uint32_t flags)
{
	uint32_t f = 0;

	if (flags & ND_OP_FLAG_SILENT_SUCCESS)
		f |= NDSH_WRF_SILENT;
	if (flags & ND_OP_FLAG_READ_FENCE)
		f |= NDSH_WRF_FENCE;
	if (flags & ND_OP_FLAG_SEND_AND_SOLICIT_EVENT)
		f |= NDSH_WRF_SOLICIT;
	if (flags & ND_OP_FLAG_INLINE)
		f |= NDSH_WRF_INLINE;
	if (flags & ND_OP_FLAG_READ_LOCAL_INVALIDATE)
		f |= NDSH_WRF_LOCAL_INV;
	return f;
}

/* NDSH_ACCESS_* of a region with ND_MR_FLAG_*, of a fast registration and of a window with
 * ND_OP_FLAG_ALLOW_*. */
uint32_t nd_region_access(uint32_t flags);
uint32_t nd_frmr_access(uint32_t flags);
uint64_t nd_window_access(uint32_t flags);
/* The ABI's number of ND_CQ_NOTIFY_*; false: it is none of them. */
bool nd_arm_of(uint32_t type, enum ndsh_arm *arm);

#endif
