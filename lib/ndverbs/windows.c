/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory windows. What is bound is the daemon's to know: a bind that is flushed, or of a batch that
 * is dropped, leaves nothing here to be taken back.
 */
#include "ndverbs/windows.h"

#include <errno.h>
#include <stdlib.h>

#include "ndclient/mem/window.h"
#include "ndverbs/errors.h"
#include "ndverbs/object.h"

struct ibv_mw *
ndv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ndv_mw *mw = type == IBV_MW_TYPE_2 ? calloc(1, sizeof(*mw)) : NULL;
	nd_status st;

	if (mw == NULL)
		return ndv_null(type == IBV_MW_TYPE_2 ? ENOMEM : EOPNOTSUPP);
	st = nd_mw_create_keyed(ndv_pd(pd)->nd, NDSH_MW_TYPE_2, &mw->nd);
	if (st != ND_SUCCESS) {
		free(mw);
		return ndv_null(ndv_errno(st));
	}
	mw->base = (struct ibv_mw){
		.context = pd->context, .pd = pd, .rkey = mw->nd->token, .type = type};
	ndv_use(&ndv_pd(pd)->users);
	return &mw->base;
}

int
ndv_dealloc_mw(struct ibv_mw *base)
{
	struct ndv_mw *mw = (struct ndv_mw *)base;

	(void)nd_mw_close(mw->nd);
	ndv_unuse(&ndv_pd(base->pd)->users);
	free(mw);
	return 0;
}
