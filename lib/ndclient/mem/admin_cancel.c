/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a region's request before its time. What stands in the admin ring is the daemon's, and
 * can't be taken back; it is answered soon. What waits for room there can.
 */
#include "ndclient/mem/admin.h"
#include "ndclient/mem/pd.h"
#include "ndclient/mem/region.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/session/spin.h"

/* Wait until no request of the region is under way, and the last one's outcome is told. */
static void
region_wait(struct nd_mr *mr)
{
	struct nd_adapter *a = mr->pd->adapter;
	unsigned tries = 0;
	bool busy;

	do {
		pthread_mutex_lock(&a->admin.lock);
		busy = mr->state == ND_MR_CHANGING ||
		       __atomic_load_n(&mr->ending, __ATOMIC_ACQUIRE) != 0;
		pthread_mutex_unlock(&a->admin.lock);
		if (busy) {
			nd_admin_take(a);
			nd_back_off(&tries);
		}
	} while (busy);
}

/* A request that waits for room in the ring: the daemon knows nothing of it. NULL: there is none.
 * Lock held. */
static struct nd_overlapped *
region_take_back(struct nd_mr *mr)
{
	struct nd_admin *admin = &mr->pd->adapter->admin;
	struct nd_overlapped *ov = mr->ov;
	struct nd_mr *other;

	STAILQ_FOREACH (other, &admin->waiting, queued)
		if (other == mr)
			break;
	if (other == NULL)
		return NULL;
	STAILQ_REMOVE(&admin->waiting, mr, nd_mr, queued);
	mr->ov = NULL;
	__atomic_fetch_add(&mr->ending, 1, __ATOMIC_RELAXED);
	if (mr->request.op == NDSH_ADMIN_DEREGISTER)
		mr->state = ND_MR_REGISTERED;
	else
		nd_admin_blank(mr);
	return ov;
}

void
nd_admin_cancel(struct nd_mr *mr)
{
	struct nd_admin *admin = &mr->pd->adapter->admin;
	struct nd_overlapped *ov;

	pthread_mutex_lock(&admin->lock);
	ov = region_take_back(mr);
	pthread_mutex_unlock(&admin->lock);
	if (ov != NULL) {
		nd_overlapped_end(ov, ND_CANCELED);
		__atomic_fetch_sub(&mr->ending, 1, __ATOMIC_RELEASE);
	} else {
		region_wait(mr);
	}
}
