/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues. */
#ifndef ND_CQ_H
#define ND_CQ_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ndclient/cq/moderate.h"
#include "ndclient/ndclient.h"
#include "ndclient/session/event.h"
#include "ndclient/session/object.h"
#include "ndclient/session/spin.h"
#include "ndclient/session/waiters.h"
#include "shm/ndsh_ring.h"

struct nd_cq {
	struct nd_object obj;
	struct nd_spin lock; /* reader, waiters, armed_*, callback */
	/* Taken around lock: the thread that takes waiters out of the queue completes them. */
	pthread_mutex_t notify_lock;
	struct nd_adapter *adapter;
	struct ndsh_cq_reader reader;
	pthread_mutex_t resize_lock; /* one at a time; taken outside of all other locks */
	void *ring;		     /* block of the reader's ring; NULL: behind the page */
	struct nd_waiters waiters;
	bool armed_fd;		 /* by nd_cq_arm(), not acknowledged */
	bool armed_callback;	 /* by nd_cq_arm_callback(), the callback not entered */
	bool watched;		 /* notify_fd is in the control thread's epoll */
	int notify_fd;		 /* from the daemon */
	int event_fd, poll_fd;	 /* of nd_cq_fd(), -1 until it was asked for */
	nd_cq_callback callback; /* or NULL */
	void *callback_context;
	int kick_fd; /* with a callback: wakes its thread */
	struct nd_moderation moderation;
	uint32_t id;
	uint32_t depth;		       /* that the application asked for */
	uint32_t inside;	       /* the verifier's: threads that take results, atomic */
	struct nd_event_source events; /* guarded by nd_adapter.lock, as link */
	TAILQ_ENTRY(nd_cq) link;
};

extern const struct nd_class nd_cq_class;

/* The queue is being closed: does a thread still take results? Only if nd_verifying(). */
void nd_cq_verify_close(const struct nd_cq *cq);
void nd_cq_close_fds(struct nd_cq *cq);
/* The entries of the ring for so many entries that were asked for. */
uint32_t nd_cq_ring_depth(uint32_t asked, uint32_t max);

#endif
