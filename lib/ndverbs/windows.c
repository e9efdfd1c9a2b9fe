/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory windows. What is bound is the daemon's to know: a bind that is flushed, or of a batch that
 * is dropped, leaves nothing here to be taken back.
 */
#include "ndverbs/windows.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "ndclient/mem/window.h"
#include "ndverbs/errors.h"
#include "ndverbs/object.h"
#include "ndverbs/post.h"
#include "ndverbs/request.h"

static_assert(
	(int)NDSH_MW_TYPE_1 == (int)IBV_MW_TYPE_1 && (int)NDSH_MW_TYPE_2 == (int)IBV_MW_TYPE_2,
	"one number");

struct ibv_mw *
ndv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	bool known = type == IBV_MW_TYPE_1 || type == IBV_MW_TYPE_2;
	struct ndv_mw *mw = known ? calloc(1, sizeof(*mw)) : NULL;
	nd_status st;

	if (mw == NULL)
		return ndv_null(known ? ENOMEM : EINVAL);
	st = nd_mw_create_keyed(ndv_pd(pd)->nd, (enum ndsh_mw_type)type, &mw->nd);
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

/* Of type 1: every bind has another key, which is chosen here. */
int
ndv_bind_mw(struct ibv_qp *base, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct ndv_qp *qp = ndv_qp(base);
	uint32_t key = ibv_inc_rkey(mw->rkey);
	struct ndv_request r;
	int err = ndv_request_begin(qp, IBV_WR_BIND_MW, bind->wr_id, bind->send_flags, &r);

	if (err == 0)
		err = ndv_request_bind(&r, IBV_MW_TYPE_1, mw, key, &bind->bind_info);
	if (err == 0)
		err = ndv_check_sends(qp);
	if (err != 0)
		return err;
	nd_spin_lock(&qp->send_lock);
	err = ndv_post_filled(qp, &r, NULL, 0);
	nd_spin_unlock(&qp->send_lock);
	if (err == 0)
		mw->rkey = key;
	return err;
}
