/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/face/flags.h"

#include "ndclient/mem/region.h"

uint32_t
nd_region_access(uint32_t flags)
{
	uint32_t access = 0;

	if (flags & ND_MR_FLAG_ALLOW_LOCAL_WRITE)
		access |= NDSH_ACCESS_LOCAL_WRITE;
	if (flags & ND_MR_FLAG_ALLOW_REMOTE_READ)
		access |= NDSH_ACCESS_REMOTE_READ;
	if (flags & (ND_MR_FLAG_ALLOW_REMOTE_WRITE & ~ND_MR_FLAG_ALLOW_LOCAL_WRITE)) /* R-MR-03 */
		access |= NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_LOCAL_WRITE;
	if (flags & (ND_MR_FLAG_ALLOW_REMOTE_ATOMIC & ~ND_MR_FLAG_ALLOW_LOCAL_WRITE))
		access |= NDSH_ACCESS_REMOTE_ATOMIC | NDSH_ACCESS_LOCAL_WRITE;
	if (flags & ND_MR_FLAG_ALLOW_WINDOWS)
		access |= NDSH_ACCESS_WINDOW_BIND;
	return access; /* RDMA_READ_SINK needs nothing here (R-MR-10) */
}

uint32_t
nd_frmr_access(uint32_t flags)
{
	uint32_t access = 0;

	if (flags & ND_OP_FLAG_ALLOW_READ)
		access |= NDSH_ACCESS_REMOTE_READ;
	if (flags & ND_OP_FLAG_ALLOW_WRITE)
		access |= NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_LOCAL_WRITE;
	if (flags & ND_OP_FLAG_ALLOW_LOCAL_WRITE)
		access |= NDSH_ACCESS_LOCAL_WRITE;
	return access;
}

uint64_t
nd_window_access(uint32_t flags)
{
	return (flags & ND_OP_FLAG_ALLOW_READ ? NDSH_ACCESS_REMOTE_READ : 0) |
	       (flags & ND_OP_FLAG_ALLOW_WRITE ? NDSH_ACCESS_REMOTE_WRITE : 0);
}

/* Strength order and numbers of the ABI differ from ND's. */
bool
nd_arm_of(uint32_t type, enum ndsh_arm *arm)
{
	switch (type) {
	case ND_CQ_NOTIFY_ERRORS:
		*arm = NDSH_ARM_ERRORS;
		return true;
	case ND_CQ_NOTIFY_ANY:
		*arm = NDSH_ARM_ANY;
		return true;
	case ND_CQ_NOTIFY_SOLICITED:
		*arm = NDSH_ARM_SOLICITED;
		return true;
	default:
		return false;
	}
}
