/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protection domains; thread domains and parent domains. A program that puts objects into a parent
 * domain with a thread domain promises that one thread at a time uses them. The locks of the queues
 * stay all the same: nobody waits for them then.
 */
#include <errno.h>
#include <stdlib.h>

#include "ndverbs/context.h"
#include "ndverbs/domain.h"
#include "ndverbs/errors.h"
#include "ndverbs/object.h"

struct ndv_td {
	struct ibv_td base;
	uint32_t users; /* parent domains; atomic */
};

struct ibv_pd *
ibv_alloc_pd(struct ibv_context *context)
{
	struct ndv_context *c;
	struct ndv_pd *pd;
	int err = ndv_session(context, &c);
	nd_status st;

	if (err != 0)
		return ndv_null(err);
	pd = calloc(1, sizeof(*pd));
	if (pd == NULL)
		return ndv_null(ENOMEM);
	st = nd_pd_create(c->adapter, &pd->nd);
	if (st != ND_SUCCESS) {
		free(pd);
		return ndv_null(ndv_errno(st));
	}
	pd->base.context = context;
	return &pd->base;
}

static void
parent_release(struct ndv_pd *pd)
{
	ndv_unuse(&pd->within->users);
	ndv_unuse(pd->td != NULL ? &pd->td->users : NULL);
}

int
ibv_dealloc_pd(struct ibv_pd *base)
{
	struct ndv_pd *pd = ndv_pd(base);

	if (ndv_in_use(&pd->users))
		return EBUSY;
	if (pd->within == NULL)
		(void)nd_pd_close(pd->nd);
	else
		parent_release(pd);
	free(pd);
	return 0;
}

/* ---- thread domains and parent domains ---------------------------------------------------- */

struct ibv_td *
ndv_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *init)
{
	struct ndv_td *td = init->comp_mask == 0 ? calloc(1, sizeof(*td)) : NULL;

	if (td == NULL)
		return ndv_null(init->comp_mask == 0 ? ENOMEM : EOPNOTSUPP);
	td->base.context = context;
	return &td->base;
}

int
ndv_dealloc_td(struct ibv_td *base)
{
	struct ndv_td *td = (struct ndv_td *)base;

	if (ndv_in_use(&td->users))
		return EBUSY;
	free(td);
	return 0;
}

/* Memory of queues is the daemon's, so no function of the program allocates it. */
static int
check_parent(const struct ibv_context *context, const struct ibv_parent_domain_init_attr *a)
{
	if ((a->comp_mask & ~(uint32_t)IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT) != 0)
		return EOPNOTSUPP;
	if (a->pd == NULL || a->pd->context != context || ndv_pd(a->pd)->within != NULL)
		return EINVAL;
	return a->td != NULL && a->td->context != context ? EINVAL : 0;
}

struct ibv_pd *
ndv_alloc_parent_domain(struct ibv_context *context, struct ibv_parent_domain_init_attr *a)
{
	int err = check_parent(context, a);
	struct ndv_pd *pd = err == 0 ? calloc(1, sizeof(*pd)) : NULL;

	if (pd == NULL)
		return ndv_null(err != 0 ? err : ENOMEM);
	pd->base.context = context;
	pd->within = ndv_pd(a->pd);
	pd->nd = pd->within->nd;
	pd->td = (struct ndv_td *)a->td;
	ndv_use(&pd->within->users);
	ndv_use(pd->td != NULL ? &pd->td->users : NULL);
	return &pd->base;
}
