/* SPDX-License-Identifier: BSD-3-Clause */
#include <time.h>

#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndverbs/leaving.h"

#define LEAVE_STEPS   1000 /* 100 ms at most */
#define LEAVE_STEP_NS 100000

static pthread_mutex_t leaving_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, ndv_qp) of_datagrams; /* by leaving_lock */

/* The domain that queue pair and handle have in common, if one of them has a parent domain. */
static const struct ndv_pd *
domain_of(const struct ndv_pd *pd)
{
	return pd->within != NULL ? pd->within : pd;
}

static uint32_t
posted_so_far(struct ndv_qp *qp)
{
	uint32_t posted;

	nd_spin_lock(&qp->send_lock);
	posted = qp->nd->sq.next;
	nd_spin_unlock(&qp->send_lock);
	return posted;
}

/* Later requests are not waited for. */
static void
let_leave(struct ndv_qp *qp)
{
	const struct timespec step = {.tv_nsec = LEAVE_STEP_NS};
	const struct nd_qp *nd = qp->nd;
	const uint32_t posted = posted_so_far(qp);

	if (posted == 0)
		return;
	for (int i = 0; i < LEAVE_STEPS && !nd_gone(nd->adapter); i++) {
		if (nd_qp_is_done(nd, posted - 1))
			break;
		(void)nanosleep(&step, NULL);
	}
}

void
ndv_leaving_begin(struct ndv_qp *qp)
{
	pthread_mutex_lock(&leaving_lock);
	LIST_INSERT_HEAD(&of_datagrams, qp, in_leaving);
	pthread_mutex_unlock(&leaving_lock);
}

void
ndv_leaving_end(struct ndv_qp *qp)
{
	let_leave(qp);
	pthread_mutex_lock(&leaving_lock);
	LIST_REMOVE(qp, in_leaving);
	pthread_mutex_unlock(&leaving_lock);
}

void
ndv_leaving_wait(const struct ndv_pd *pd)
{
	struct ndv_qp *qp;

	pthread_mutex_lock(&leaving_lock);
	LIST_FOREACH (qp, &of_datagrams, in_leaving)
		if (domain_of(ndv_pd(qp->base.pd)) == domain_of(pd))
			let_leave(qp);
	pthread_mutex_unlock(&leaving_lock);
}
