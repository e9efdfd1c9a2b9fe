/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An adapter: the session with the daemon, and what belongs to it.
 *
 * Threads. Each adapter has one control thread: it alone reads the control socket, and the
 * wake-ups of completion queues that have overlapped notifications. Callbacks run in a
 * thread of their own (callbacks.c), memory outside the arena is moved by another (mem/mover.c).
 *
 * Locks. nd_adapter.lock guards lists, connections, listeners and calls under way. A calling thread
 * sends its request and sleeps until the control thread hands it the reply; it holds no lock
 * meanwhile. nd_cq.lock guards the reader's side of one completion queue and is taken inside
 * nd_adapter.lock, never around it. It is a spin lock, so its notifications complete outside it, in
 * order under nd_cq.notify_lock. nd_adapter.windows_lock guards what windows, regions of both kinds
 * and queue pairs know of each other and is taken inside all others.
 */
#ifndef ND_ADAPTER_H
#define ND_ADAPTER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ndclient/mem/admin.h"
#include "ndclient/mem/adopt.h"
#include "ndclient/mem/arena.h"
#include "ndclient/mem/moved.h"
#include "ndclient/ndclient.h"
#include "ndclient/session/callbacks.h"
#include "ndclient/session/control.h"
#include "ndclient/session/event.h"
#include "ndclient/session/object.h"
#include "ndclient/session/spin.h"
#include "ndclient/session/waiters.h"
#include "shm/ndsh_msg.h"
#include "shm/ndsh_ring.h"

#define ND_CONN_BUCKETS 256u
#define ND_MW_BUCKETS	4096u

struct nd_cm;
struct nd_mover;
struct nd_handlers;
struct nd_qp_handles;

struct nd_adapter {
	/* for posts and polls */
	struct ndsh_session_page *page;
	uint64_t max_transfer_bytes;
	int wake_fd;
	uint32_t gone;	    /* the daemon ended the session, atomic */
	uint32_t abi_minor; /* the daemon's */
	uint32_t profile;   /* ND_PROFILE_* */
	struct nd_qp_handles *qps;
	struct nd_mover *mover; /* of memory that is not of the arena, or NULL; atomic */
	_Alignas(NDSH_CACHE_LINE) pthread_mutex_t lock;
	const struct nd_handlers *handlers; /* of what its threads take */
	struct nd_port *port;		    /* where requests go, or NULL; set once, atomic */
	void *port_key;
	int socket, epoll_fd, stop_fd;
	pthread_t thread;
	struct nd_callbacks callbacks;
	uint64_t cookie;
	char why[160]; /* the daemon's words when it ended the session */
	struct nd_adapter_info info;
	uint32_t max_qps, max_cqs, max_mrs; /* of a session, as the daemon is configured */
	struct ndsh_addr address;	    /* opened by */
	struct nd_arena arena;
	struct nd_adoptions adoptions;
	struct nd_admin admin;
	pthread_mutex_t mover_lock;
	uint64_t copies_bytes; /* room for copies at posts, of all queue pairs; atomic */
	struct nd_event_list events;
	struct nd_event_source own_events;
	struct nd_waiters event_waiters;
	bool events_on; /* the daemon does */
	/* NULL, or which of them are events to the face on top of this one. */
	bool (*event_wanted)(const struct nd_event_source *s, enum nd_event_type type);
	struct nd_call_list calls;
	struct nd_object_list objects; /* all; those below are open */
	TAILQ_HEAD(, nd_cq) cqs;
	TAILQ_HEAD(, nd_srq) srqs;
	TAILQ_HEAD(, nd_connector) connectors;
	TAILQ_HEAD(, nd_listener) listeners;
	TAILQ_HEAD(, nd_ah) ahs;
	TAILQ_HEAD(, nd_ud_listener) ud_listeners;
	struct nd_cm *cm;		/* conn/numbers.h, or NULL; set once */
	TAILQ_HEAD(, nd_qp) closed_qps; /* completions may name them still */
	LIST_HEAD(, nd_connector) conns[ND_CONN_BUCKETS];
	struct nd_spin windows_lock;
	SLIST_HEAD(, nd_mr) ended_mrs; /* guarded by windows_lock */
	LIST_HEAD(, nd_mw) mw_by_slot[ND_MW_BUCKETS];
	struct nd_moved moved[ND_MOVED];
};

/* One without a session; NULL: no memory. */
struct nd_adapter *nd_adapter_new(void);
/* ... and its end. */
void nd_adapter_free(struct nd_adapter *a);
/* End it and all that was made from it. The daemon takes its part down when the socket closes. */
void nd_adapter_destroy(struct nd_adapter *a);

/* Has the daemon ended the session? */
static inline bool
nd_gone(const struct nd_adapter *a)
{
	return __atomic_load_n(&a->gone, __ATOMIC_RELAXED) != 0;
}

#endif
