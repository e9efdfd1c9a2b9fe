/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions. */
#include <errno.h>
#include <stdlib.h>

#include "ndclient/mem/region.h"
#include "ndverbs/context.h"
#include "ndverbs/errors.h"
#include "ndverbs/region.h"
#include "ndverbs/object.h"

/* Memory of huge pages is as any other. Bits of the optional range may always be ignored. */
#define RIGHTS                                                                                     \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
		IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED |            \
		IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE)

/* W-MEM-05: no window is bound to a region that is zero based. */
int
ndv_region_flags(unsigned int access, uint32_t *flags)
{
	if (access & IBV_ACCESS_ON_DEMAND)
		return EOPNOTSUPP;
	if ((access & ~(unsigned int)RIGHTS) != 0)
		return EINVAL;
	if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
		!(access & IBV_ACCESS_LOCAL_WRITE))
		return EINVAL;
	*flags = 0;
	if (access & IBV_ACCESS_LOCAL_WRITE)
		*flags |= ND_MR_FLAG_ALLOW_LOCAL_WRITE;
	if (access & IBV_ACCESS_REMOTE_WRITE)
		*flags |= ND_MR_FLAG_ALLOW_REMOTE_WRITE;
	if (access & IBV_ACCESS_REMOTE_READ)
		*flags |= ND_MR_FLAG_ALLOW_REMOTE_READ;
	if (access & IBV_ACCESS_REMOTE_ATOMIC)
		*flags |= ND_MR_FLAG_ALLOW_REMOTE_ATOMIC;
	if ((access & IBV_ACCESS_MW_BIND) && !(access & IBV_ACCESS_ZERO_BASED))
		*flags |= ND_MR_FLAG_ALLOW_WINDOWS;
	return 0;
}

/* The host does not go through windows: its right to write is accepted, and means nothing. */
bool
ndv_window_rights(unsigned int access, uint32_t *rights)
{
	*rights = 0;
	if (access & IBV_ACCESS_REMOTE_READ)
		*rights |= NDSH_ACCESS_REMOTE_READ;
	if (access & IBV_ACCESS_REMOTE_WRITE)
		*rights |= NDSH_ACCESS_REMOTE_WRITE;
	if (access & IBV_ACCESS_REMOTE_ATOMIC)
		*rights |= NDSH_ACCESS_REMOTE_ATOMIC;
	return (access & ~(unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
					 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) == 0;
}

/* That of a zero-based region is 0; the program says 0, or, by ibv_reg_mr(), nothing. */
static int
correct_iova(unsigned int access, const void *addr, uint64_t *iova)
{
	if (!(access & IBV_ACCESS_ZERO_BASED))
		return 0;
	if (*iova != 0 && *iova != (uintptr_t)addr)
		return EINVAL;
	*iova = 0;
	return 0;
}

/* Memory that is not there is EFAULT in verbs. *iova is corrected. */
static int
register_memory(struct nd_mr **mr, const struct ndv_pd *pd, void *addr, size_t length,
	uint64_t *iova, unsigned int access)
{
	uint32_t flags;
	int err = ndv_region_flags(access, &flags);
	nd_status st;

	if (err == 0)
		err = correct_iova(access, addr, iova);
	if (err != 0)
		return err;
	st = nd_mr_create(pd->nd, mr);
	if (st != ND_SUCCESS)
		return ndv_errno(st);
	st = nd_mr_register_iova(*mr, addr, length, *iova, flags);
	if (st == ND_SUCCESS)
		return 0;
	(void)nd_mr_close(*mr);
	return st == ND_ACCESS_VIOLATION ? EFAULT : ndv_errno(st);
}

/* It is this region now, which rests on pd. The keys are the same number in the order of the host.
 */
static void
fill_region(struct ndv_mr *mr, struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
	unsigned int access)
{
	ndv_use(&ndv_pd(pd)->users);
	mr->access = access;
	mr->iova = iova;
	mr->base = (struct ibv_mr){
		.context = pd->context,
		.pd = pd,
		.addr = addr,
		.length = length,
		.lkey = nd_mr_local_token(mr->nd),
		.rkey = nd_mr_local_token(mr->nd),
	};
}

#undef ibv_reg_mr_iova
#undef ibv_reg_mr

struct ibv_mr *
ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	struct ndv_mr *mr = calloc(1, sizeof(*mr));
	int err = ENOMEM;

	if (mr != NULL)
		err = register_memory(&mr->nd, ndv_pd(pd), addr, length, &iova, access);
	if (err != 0) {
		free(mr);
		return ndv_null(err);
	}
	fill_region(mr, pd, addr, length, iova, access);
	return &mr->base;
}

struct ibv_mr *
ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
}

struct ibv_mr *
ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned int)access);
}

/* W-MEM-03: the daemon knows whether windows are bound to it. */
static bool
is_busy(struct nd_mr *mr)
{
	return nd_mr_deregister(mr, NULL) == ND_DEVICE_BUSY;
}

int
ibv_dereg_mr(struct ibv_mr *base)
{
	struct ndv_mr *mr = (struct ndv_mr *)base;

	if (is_busy(mr->nd))
		return EBUSY;
	(void)nd_mr_close(mr->nd);
	ndv_unuse(&ndv_pd(base->pd)->users);
	free(mr);
	return 0;
}

/* A right does not move the region: it is zero based before, or with another place. */
static int
check_change(const struct ndv_mr *mr, int flags, const struct ibv_pd *pd, const void *addr,
	size_t length, int access)
{
	if ((flags & IBV_REREG_MR_CHANGE_ACCESS) && (access & IBV_ACCESS_ZERO_BASED) &&
		!(flags & IBV_REREG_MR_CHANGE_TRANSLATION) && mr->iova != 0)
		return EINVAL;
	if (flags == 0 || (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED) != 0)
		return EINVAL;
	if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) && (addr == NULL || length == 0))
		return EINVAL;
	if ((flags & IBV_REREG_MR_CHANGE_PD) && (pd == NULL || pd->context != mr->base.context))
		return EINVAL;
	return 0;
}

/*
 * Another region takes the place of the one before, with keys of its own: who has the old ones
 * reaches nothing any more. It is made first, so that after a failure all is as it was, which
 * IBV_REREG_MR_ERR_INPUT says.
 */
int
ibv_rereg_mr(
	struct ibv_mr *base, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct ndv_mr *mr = (struct ndv_mr *)base;
	struct nd_mr *before = mr->nd, *after = NULL;
	struct ibv_pd *pd_before = base->pd;
	int err = check_change(mr, flags, pd, addr, length, access);
	uint64_t iova = (uintptr_t)addr;

	if (!(flags & IBV_REREG_MR_CHANGE_PD))
		pd = base->pd;
	if (!(flags & IBV_REREG_MR_CHANGE_TRANSLATION)) {
		addr = base->addr;
		length = base->length;
		iova = mr->iova;
	}
	if (!(flags & IBV_REREG_MR_CHANGE_ACCESS))
		access = (int)mr->access;
	if (err == 0)
		err = register_memory(
			&after, ndv_pd(pd), addr, length, &iova, (unsigned int)access);
	if (err == 0 && is_busy(before)) {
		(void)nd_mr_close(after);
		err = EBUSY;
	}
	if (err != 0) {
		errno = err;
		return IBV_REREG_MR_ERR_INPUT;
	}
	mr->nd = after;
	fill_region(mr, pd, addr, length, iova, (unsigned int)access);
	(void)nd_mr_close(before);
	ndv_unuse(&ndv_pd(pd_before)->users);
	return 0;
}
