/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues. */
#ifndef ND_SRQ_H
#define ND_SRQ_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ndclient/ndclient.h"
#include "ndclient/session/event.h"
#include "ndclient/session/object.h"
#include "ndclient/session/waiters.h"
#include "shm/ndsh_msg.h"
#include "shm/ndsh_ring.h"

struct nd_srq {
	struct nd_object obj;
	/* for posts */
	struct nd_adapter *adapter;
	struct ndsh_srq_page *page;
	uint32_t sge;
	uint32_t depth; /* that the application asked for; the ring has that many slots or more */
	struct ndsh_rq rq;
	/* for the rest */
	struct nd_pd *pd;
	pthread_mutex_t modify_lock; /* one at a time; taken outside of nd_adapter.lock */
	uint32_t id;
	uint32_t threshold; /* this and what follows is guarded by nd_adapter.lock */
	struct nd_waiters waiters;
	nd_srq_callback callback; /* or NULL */
	void *callback_context;
	int kick_fd;	 /* with a callback: wakes its thread */
	bool armed, due; /* by nd_srq_modify(), since the daemon answered; the callback is to run */
	struct nd_event_source events;
	TAILQ_ENTRY(nd_srq) link;
};

extern const struct nd_class nd_srq_class;

/* Fewer receives are left than the threshold. By the control thread, nd_adapter.lock held. */
void nd_srq_limit(struct nd_adapter *a, const struct ndsh_ev_srq *ev);
/* The session is over; nd_adapter.lock held. */
void nd_srq_removed(struct nd_srq *srq);

#endif
