/* SPDX-License-Identifier: BSD-3-Clause */
/* The admin ring: registrations without a message, from the first region on. */
#ifndef ND_ADMIN_H
#define ND_ADMIN_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_ring.h"

struct nd_adopted;

struct nd_mr_request {
	enum ndsh_admin_op op;
	uint32_t access; /* NDSH_ACCESS_* */
	uintptr_t va;
	uint64_t bytes;
	uint64_t iova_offset;	    /* REGISTER: as in the ABI */
	struct nd_adopted *adopted; /* REGISTER: NULL if it is of the arena proper */
	const char *call;	    /* that it is for */
};

STAILQ_HEAD(nd_mr_queue, nd_mr);

struct nd_admin {		   /* of an adapter; lock is taken inside nd_adapter.lock */
	pthread_mutex_t open_lock; /* around the creation, outside all others */
	pthread_mutex_t lock;
	struct nd_cq *cq; /* of its answers, in nd_adapter.cqs; NULL: no ring yet; atomic */
	struct ndsh_admin ring;
	uint32_t answered;	    /* requests, mod 2^32 */
	struct nd_mr_queue waiting; /* for room in the ring, in order */
	struct nd_mr_queue asked;   /* in the ring, in order */
};

/* Make the ring, if there is none yet. */
nd_status nd_admin_open(struct nd_adapter *a);
/* Ask the daemon. ND_PENDING: ov, which was begun, tells the outcome, or has done so. */
nd_status nd_admin_request(
	struct nd_mr *mr, const struct nd_mr_request *what, struct nd_overlapped *ov);
/* When this returns the request of the region, if there was one, is complete: with ND_CANCELED if
 * the daemon had not been asked yet, else with its own outcome (R-OV-10, R-OV-11). */
void nd_admin_cancel(struct nd_mr *mr);
/* Complete what the daemon has answered. */
void nd_admin_take(struct nd_adapter *a);
/* The region is not registered any more: its token is 0 (R-MR-09), and no window fits in (R-MW-03).
 * nd_admin.lock held, so that no thread sees this before the memory is the application's own again.
 */
void nd_admin_blank(struct nd_mr *mr);
/* By the control thread, nd_adapter.lock held: the daemon has answered; is gone. */
void nd_admin_readable(struct nd_adapter *a);
void nd_admin_end(struct nd_adapter *a, nd_status st);
/* The adapter is being closed, its regions are gone. */
void nd_admin_fini(struct nd_adapter *a);

#endif
