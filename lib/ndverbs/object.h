/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects: what the program sees, and libndclient's behind it. Each begins with verbs' own
 * structure, which is what programs have pointers to. */
#ifndef NDV_OBJECT_H
#define NDV_OBJECT_H

#include <assert.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "ndclient/ndclient.h"
#include "ndclient/session/spin.h"

struct ndv_td;

struct ndv_pd {
	struct ibv_pd base;
	struct nd_pd *nd;
	uint32_t users; /* regions, windows, queues, handles and parent domains of it; atomic */
	struct ndv_pd *within; /* of a parent domain: whose nd it has; else NULL */
	struct ndv_td *td;     /* of a parent domain, or NULL */
};

struct ndv_mr {
	struct ibv_mr base;
	struct nd_mr *nd;
	unsigned int access; /* IBV_ACCESS_* */
	uint64_t iova;	     /* of base.addr */
};

struct ndv_mw {
	struct ibv_mw base; /* rkey: type 1, of the last bind; type 2, of none */
	struct nd_mw *nd;
};

struct ndv_channel {
	struct ibv_comp_channel base; /* refcnt: completion queues of it */
	pthread_mutex_t lock;
	TAILQ_HEAD(, ndv_cq) due; /* with an event that was not taken */
};

struct ndv_cq {
	union {
		struct ibv_cq base;
		struct ibv_cq_ex ex; /* begins as base does */
	};
	struct nd_cq *nd;
	pthread_mutex_t poll_lock; /* from ibv_start_poll() to ibv_end_poll(): ex is of one entry */
	struct ndv_pd *domain;	   /* a parent domain, or NULL */
	bool single_threaded;	   /* the program said so: poll_lock is not taken */
	struct ibv_wc wc;	   /* that entry */
	uint32_t users;		   /* queue pairs, each twice; atomic */
	uint32_t async_told;	   /* events that ibv_get_async_event() returned, by base.mutex */
	uint32_t told;		   /* events that ibv_get_cq_event() returned; by base.mutex */
	bool is_due;		   /* it is in the channel's list; by the channel's lock */
	TAILQ_ENTRY(ndv_cq) in_due;
	LIST_ENTRY(ndv_cq) in_context;
};

static_assert(offsetof(struct ibv_cq, async_events_completed) ==
		      offsetof(struct ibv_cq_ex, async_events_completed),
	"ibv_cq_ex_to_cq() and back are casts");

struct ndv_srq {
	struct ibv_srq base;
	struct nd_srq *nd;
	struct nd_spin lock; /* of posts; libndclient wants one thread at a time */
	uint32_t users;	     /* queue pairs; atomic */
	uint32_t max_wr, max_sge, limit;
	LIST_ENTRY(ndv_srq) in_context;
	uint32_t told; /* events that ibv_get_async_event() returned, by base.mutex */
};

struct ndv_wr;
struct ndv_membership;

struct ndv_qp {
	union {
		struct ibv_qp base;
		struct ibv_qp_ex ex; /* begins with base */
	};
	struct nd_qp *nd;
	struct ndv_wr *wr; /* of those with calls of ex (wr.h); else NULL */
	struct nd_spin send_lock, receive_lock;
	bool signal_all;
	struct ibv_qp_cap cap;
	uint32_t access;	     /* IBV_ACCESS_*, as it was told last */
	uint32_t q_key, sq_psn;	     /* of datagrams, as the program set them */
	uint32_t told;		     /* events that ibv_get_async_event() returned, by base.mutex */
	pthread_mutex_t modify_lock; /* one change at a time */
	bool blocks_own;	     /* in groups: what it sends itself is not for it */
	LIST_HEAD(, ndv_membership) groups; /* by modify_lock */
	LIST_ENTRY(ndv_qp) in_leaving;	    /* of datagrams (leaving.h) */
};

struct ndv_ah {
	struct ibv_ah base;
	struct nd_ah *nd;
};

static inline struct ndv_pd *
ndv_pd(struct ibv_pd *pd)
{
	return (struct ndv_pd *)pd;
}

static inline struct ndv_cq *
ndv_cq(struct ibv_cq *cq)
{
	return (struct ndv_cq *)cq;
}

static inline struct ndv_srq *
ndv_srq(struct ibv_srq *srq)
{
	return (struct ndv_srq *)srq;
}

static inline struct ndv_qp *
ndv_qp(struct ibv_qp *qp)
{
	return (struct ndv_qp *)qp;
}

static inline struct ndv_channel *
ndv_channel(struct ibv_comp_channel *channel)
{
	return (struct ndv_channel *)channel;
}

/* An object comes to rest on another, or goes. NULL: nothing. */
static inline void
ndv_use(uint32_t *users)
{
	if (users != NULL)
		__atomic_fetch_add(users, 1, __ATOMIC_RELAXED);
}

static inline void
ndv_unuse(uint32_t *users)
{
	if (users != NULL)
		__atomic_fetch_sub(users, 1, __ATOMIC_RELEASE);
}

static inline bool
ndv_in_use(const uint32_t *users)
{
	return __atomic_load_n(users, __ATOMIC_ACQUIRE) != 0;
}

#endif
