/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions. */
#include <errno.h>
#include <stdlib.h>

#include "ndverbs/context.h"
#include "ndverbs/errors.h"
#include "ndverbs/region.h"
#include "ndverbs/object.h"

/* Rights of which the second part has no meaning here: MW_BIND gives nothing by itself, memory of
 * huge pages is as any other. Bits of the optional range may always be ignored. */
#define RIGHTS                                                                                     \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
		IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_HUGETLB |               \
		IBV_ACCESS_OPTIONAL_RANGE)

int
ndv_region_flags(unsigned int access, uint32_t *flags)
{
	if (access & (IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND))
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
	return 0;
}

/* Memory that is not there is EFAULT in verbs. */
static int
register_memory(struct ndv_mr *mr, struct ndv_pd *pd, void *addr, size_t length, uint32_t flags)
{
	nd_status st = nd_mr_create(pd->nd, &mr->nd);

	if (st != ND_SUCCESS)
		return ndv_errno(st);
	st = nd_mr_register(mr->nd, addr, length, flags, NULL);
	if (st == ND_SUCCESS)
		return 0;
	(void)nd_mr_close(mr->nd);
	return st == ND_ACCESS_VIOLATION ? EFAULT : ndv_errno(st);
}

#undef ibv_reg_mr_iova
#undef ibv_reg_mr

struct ibv_mr *
ibv_reg_mr_iova2(struct ibv_pd *base, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	struct ndv_pd *pd = ndv_pd(base);
	uint32_t flags;
	int err = iova == (uintptr_t)addr ? ndv_region_flags(access, &flags) : EOPNOTSUPP;
	struct ndv_mr *mr = err == 0 ? calloc(1, sizeof(*mr)) : NULL;

	if (mr == NULL)
		return ndv_null(err != 0 ? err : ENOMEM);
	err = register_memory(mr, pd, addr, length, flags);
	if (err != 0) {
		free(mr);
		return ndv_null(err);
	}
	ndv_use(&pd->users);
	mr->base = (struct ibv_mr){
		.context = base->context,
		.pd = base,
		.addr = addr,
		.length = length,
		.lkey = nd_mr_local_token(mr->nd),
		.rkey = nd_mr_local_token(mr->nd), /* the same number in the order of the host */
	};
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

int
ibv_dereg_mr(struct ibv_mr *base)
{
	struct ndv_mr *mr = (struct ndv_mr *)base;

	(void)nd_mr_close(mr->nd);
	ndv_unuse(&ndv_pd(base->pd)->users);
	free(mr);
	return 0;
}
