/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of libndclient know of each other.
 *
 * Threads. Callbacks run in a thread of their own (nd_arm.c).
 * Each adapter has one control thread: it alone reads the control socket, and the
 * notification fds of completion queues that have overlapped notifications. nd_adapter.lock guards
 * lists, connections, listeners and calls under way. A calling thread sends its request and sleeps
 * until the control thread hands it the reply; it holds no lock meanwhile. nd_cq.lock guards the
 * reader's side of one completion queue and is taken inside nd_adapter.lock, never around it. It is
 * a spin lock, so its notifications complete outside it, in order under nd_cq.telling.
 * nd_adapter.windows guards what windows, regions of both kinds and queue pairs know of each other
 * and is taken inside all others.
 */
#ifndef ND_INT_H
#define ND_INT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ndclient/mem/adopt.h"
#include "ndclient/mem/arena.h"
#include "ndclient/session/event.h"
#include "ndclient/session/object.h"
#include "ndclient.h"
#include "shm/ndsh_msg.h"
#include "shm/ndsh_ring.h"

/* Queue pairs, and closed ones whose completions have not all been taken. */
#define ND_QP_HANDLES	(2u * NDSH_QP_PER_SESSION_MAX)
#define ND_CONN_BUCKETS 256u
#define ND_MW_BUCKETS	4096u

/* Overlapped requests that one event completes, in order of issue. */
struct nd_waiters {
	struct nd_overlapped *first, *last;
	uint32_t count;
};

/* ---- objects ------------------------------------------------------------------------- */

struct nd_mw;
TAILQ_HEAD(nd_mw_list, nd_mw);
LIST_HEAD(nd_mw_bucket, nd_mw);

/* Held for a few dozen instructions. */
struct nd_spin {
	uint32_t held;
};

/* Initiator requests are legal only in CONNECTED (R-POST-02, R-POST-03). */
/* DATAGRAM: for ever, and nothing but nd_ud_send() is. */
enum nd_qp_state { ND_QP_UNCONNECTED, ND_QP_CONNECTED, ND_QP_DISCONNECTED, ND_QP_DATAGRAM };

struct nd_qp {
	struct nd_object obj; /* of a closed one only what completions need is valid */
	/* for posts; written only when created and connected */
	_Alignas(NDSH_CACHE_LINE) struct nd_adapter *adapter;
	struct ndsh_qp_page *page;
	uint32_t index; /* session-local: doorbell bit */
	uint32_t state; /* enum nd_qp_state, atomic */
	uint32_t sq_sge, rq_sge, inline_bytes;
	uint32_t short_below; /* inline payloads of fewer bytes go into the descriptor */
	struct nd_srq *srq;   /* or NULL */
	/* each line for the thread that posts there */
	_Alignas(NDSH_CACHE_LINE) struct ndsh_sq sq;
	uint32_t sq_inside; /* the verifier's: a thread posts, atomic */
	_Alignas(NDSH_CACHE_LINE) struct ndsh_rq rq;
	uint32_t rq_inside;
	/* for who takes results */
	_Alignas(NDSH_CACHE_LINE) void *context;
	uint32_t sq_freed, rq_freed; /* requests known to be finished, atomic */
	/* for the rest */
	struct nd_pd *pd;
	struct nd_cq *send_cq, *recv_cq; /* of a closed one: NULL once they are closed */
	struct nd_connector *connector;	 /* this and what follows, by nd_adapter.lock */
	struct nd_overlapped *modify;	 /* that waits for the daemon's word, or NULL */
	uint32_t modify_state;		 /* where that leads */
	bool modifying;			 /* one is under way */
	struct nd_event_source events;
	struct nd_mw_list bound, invalidating;
	uint32_t handle, number;
	uint64_t send_mark, recv_mark; /* closed: what the queues had made by then */
	TAILQ_ENTRY(nd_qp) closed_link;
};
TAILQ_HEAD(nd_qp_list, nd_qp);

struct nd_moderation {	       /* guarded by nd_cq.lock */
	uint32_t us;	       /* 0: none */
	uint64_t count;	       /* 0, 1: none; UINT64_MAX: time alone */
	uint64_t from;	       /* entries up to here were old when the callback was armed for */
	bool due;	       /* it is held back since due_ns */
	uint64_t due_ns, seen; /* entries up to seen are no reason to end that */
	bool has_timer;
	int timer_fd;
};

struct nd_cq {
	struct nd_object obj;
	struct nd_spin lock;	 /* reader, waiters, armed_*, callback */
	pthread_mutex_t telling; /* around lock: who takes waiters out of it completes them */
	struct nd_adapter *adapter;
	struct ndsh_cq_reader reader;
	pthread_mutex_t resizing; /* one at a time; taken outside of all other locks */
	void *ring;		  /* block of the reader's ring; NULL: behind the page */
	struct nd_waiters waiters;
	bool armed_fd;		 /* by nd_cq_arm(), not acknowledged */
	bool armed_callback;	 /* by nd_cq_arm_callback(), the callback not entered */
	bool watched;		 /* pipe_fd is in the control thread's epoll */
	int pipe_fd;		 /* from the daemon */
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
TAILQ_HEAD(nd_cq_list, nd_cq);

struct nd_pd {
	struct nd_object obj;
	struct nd_adapter *adapter;
	uint32_t id;
};

struct nd_srq {
	struct nd_object obj;
	/* for posts */
	struct nd_adapter *adapter;
	struct ndsh_srq_page *page;
	uint32_t sge;
	uint32_t depth; /* that the application asked for; the ring is of max_srq_depth */
	struct ndsh_rq rq;
	/* for the rest */
	struct nd_pd *pd;
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
TAILQ_HEAD(nd_srq_list, nd_srq);

/* CHANGING: the daemon was asked to register or deregister it. */
struct nd_mr_request {
	enum ndsh_admin_op op;
	uint32_t access; /* NDSH_ACCESS_* */
	uintptr_t va;
	uint64_t bytes;
	struct nd_adopted *adopted; /* REGISTER: NULL if it is of the arena proper */
	const char *call;	    /* that it is for */
};
enum nd_mr_state { ND_MR_IDLE, ND_MR_CHANGING, ND_MR_REGISTERED };

struct nd_mr {
	struct nd_object obj;
	struct nd_pd *pd;
	enum nd_mr_state state; /* this and the next two are guarded by nd_admin.lock */
	struct nd_mr_request request;
	struct nd_overlapped *ov;   /* CHANGING */
	struct nd_adopted *adopted; /* what it uses, or NULL; guarded as these */
	STAILQ_ENTRY(nd_mr) queued;
	uint32_t token;	 /* 0: not registered; atomic */
	uint32_t access; /* NDSH_ACCESS_* */
	uintptr_t va;
	uint64_t bytes;
	struct nd_mw_bucket windows; /* that are bound to it: each holds it */
	SLIST_ENTRY(nd_mr) ended;    /* closed, and nobody holds it any more */
};
SLIST_HEAD(nd_mr_list, nd_mr);
STAILQ_HEAD(nd_mr_queue, nd_mr);

/* As the application can know it: from its own posts, from completions it took, and from the words
 * that the daemon shares. The daemon may know more, never less. */
enum nd_mw_state { ND_MW_UNBOUND, ND_MW_BOUND, ND_MW_INVALIDATING };

struct nd_mw { /* guarded by nd_adapter.windows */
	struct nd_object obj;
	struct nd_pd *pd;
	struct nd_mr *mr; /* NULL if unbound */
	struct nd_qp *qp; /* NULL if unbound */
	enum nd_mw_state state;
	uint32_t index; /* INVALIDATING: the request's, in the send queue */
	uint32_t id, slot, generation;
	uint32_t token; /* of the last bind, 0: there was none; atomic */
	uint64_t secret;
	LIST_ENTRY(nd_mw) of_mr, hash;
	TAILQ_ENTRY(nd_mw) of_qp;
};

/* Rows of the state table (R-CONN). */
enum nd_conn_state {
	ND_CONN_IDLE,
	ND_CONN_BOUND,
	ND_CONN_CONNECTING,
	ND_CONN_REP_RECEIVED,
	ND_CONN_QUEUED, /* with a listener's get_request */
	ND_CONN_REQ_RECEIVED,
	ND_CONN_REP_SENT,
	ND_CONN_CONNECTED,
	ND_CONN_PASSIVE_DISC, /* the peer was first */
	ND_CONN_ACTIVE_DISC,  /* our disconnect is under way */
	ND_CONN_DISCONNECTED,
};

struct nd_connector { /* guarded by nd_adapter.lock */
	struct nd_object obj;
	struct nd_adapter *adapter;
	enum nd_conn_state state;
	bool bound;    /* by nd_connector_bind() */
	bool has_id;   /* the daemon knows it as id */
	bool has_peer; /* peer and limits are valid */
	bool has_priv; /* private data are, a reject's too */
	bool ended;    /* the end was told before the reply to our disconnect */
	uint32_t id;
	uint32_t calls; /* of overlapped requests, that the daemon has not yet answered */
	uint32_t reject_reason;
	struct nd_endpoint *endpoint; /* whose address it has, or NULL */
	struct nd_qp *qp;
	struct nd_listener *listener; /* QUEUED */
	struct nd_overlapped *op;     /* connect, accept, get_request or disconnect */
	struct nd_waiters disconnect; /* of nd_connector_notify_disconnect() */
	struct ndsh_addr local, peer;
	nd_status end_status;
	uint32_t priv_bytes;
	uint8_t inbound_reads, outbound_reads;
	uint8_t dscp; /* of our Connect */
	uint8_t ecn;  /* ND_ECN_*, of our Connect or Accept */
	uint8_t priv[sizeof(((struct ndsh_ev_conn *)0)->priv)];
	TAILQ_ENTRY(nd_connector) link;
	LIST_ENTRY(nd_connector) hash;
	TAILQ_ENTRY(nd_connector) queued; /* QUEUED: in the listener's list */
};
TAILQ_HEAD(nd_connector_list, nd_connector);
LIST_HEAD(nd_conn_bucket, nd_connector);

struct nd_endpoint {
	struct nd_object obj;
	uint32_t id;
	struct ndsh_addr local;
};

struct nd_conn_request { /* one that nobody has asked for yet */
	STAILQ_ENTRY(nd_conn_request) next;
	struct ndsh_ev_conn ev;
};
STAILQ_HEAD(nd_conn_request_list, nd_conn_request);

struct nd_listening {  /* guarded by nd_adapter.lock */
	bool busy, on; /* busy: is about to */
	uint32_t id;
	struct ndsh_addr local;
};

struct nd_listener { /* guarded by nd_adapter.lock */
	struct nd_object obj;
	struct nd_adapter *adapter;
	struct nd_listening at;
	nd_connect_callback callback; /* or NULL; set once */
	void *callback_context;
	struct nd_conn_request_list requests; /* one of the two is empty */
	struct nd_connector_list waiting;
	TAILQ_ENTRY(nd_listener) link;
};
TAILQ_HEAD(nd_listener_list, nd_listener);

/* The thread that runs callbacks, from the first one on. */
struct nd_callbacks {
	pthread_t thread;
	int epoll_fd, stop_fd;
	int offer_fd; /* a listener with a callback has a request */
	int end_fd;   /* a region is to be taken down, -1: no thread; guarded by windows */
	bool running; /* guarded by nd_adapter.lock */
};

/* The admin ring, from the first region on (nd_admin.c). lock is taken inside nd_adapter.lock. */
struct nd_admin {
	pthread_mutex_t opening; /* around the creation, outside all others */
	pthread_mutex_t lock;
	struct nd_cq *cq; /* of its answers, in nd_adapter.cqs; NULL: no ring yet; atomic */
	struct ndsh_admin ring;
	uint32_t answered;	    /* requests, mod 2^32 */
	struct nd_mr_queue waiting; /* for room in the ring, in order */
	struct nd_mr_queue asked;   /* in the ring, in order */
};

#define ND_MOVED 256u
struct nd_moved {	/* a region as posts see it (nd_moved.c); all atomic */
	uint32_t token; /* 0: none */
	uint32_t pd;
	uintptr_t va;
	uint64_t bytes;
};

TAILQ_HEAD(nd_ah_list, nd_ah);
TAILQ_HEAD(nd_ud_listener_list, nd_ud_listener);

struct nd_call;
LIST_HEAD(nd_call_list, nd_call);

struct nd_adapter {
	/* for posts and polls */
	struct ndsh_session_page *page;
	uint64_t max_transfer_bytes;
	int wake_fd;
	uint32_t gone;		/* the daemon ended the session, atomic */
	uint32_t abi_minor;	/* the daemon's */
	uint32_t profile;	/* ND_PROFILE_* */
	struct nd_mover *mover; /* of memory that is not of the arena, or NULL; atomic */
	_Alignas(NDSH_CACHE_LINE) pthread_mutex_t lock;
	struct nd_port *port; /* where requests go, or NULL; set once, atomic */
	void *port_key;
	int socket, epoll_fd, stop_fd;
	pthread_t thread;
	struct nd_callbacks callbacks;
	uint64_t cookie;
	char why[160]; /* the daemon's words when it ended the session */
	struct nd_adapter_info info;
	struct ndsh_addr address; /* opened by */
	struct nd_arena arena;
	struct nd_adoptions adoptions;
	struct nd_admin admin;
	pthread_mutex_t mover_making;
	struct nd_event_list events;
	struct nd_event_source own_events;
	struct nd_waiters event_waiters;
	bool tells_events; /* the daemon does */
	struct nd_call_list calls;
	struct nd_object_list objects; /* all; those below are open */
	struct nd_cq_list cqs;
	struct nd_srq_list srqs;
	struct nd_connector_list connectors;
	struct nd_listener_list listeners;
	struct nd_ah_list ahs; /* nd_ud.h */
	struct nd_ud_listener_list ud_listeners;
	struct nd_qp_list closed_qps; /* completions may name them still */
	struct nd_conn_bucket conns[ND_CONN_BUCKETS];
	struct nd_spin windows;
	struct nd_mr_list ended_mrs; /* guarded by windows */
	struct nd_mw_bucket mw_by_slot[ND_MW_BUCKETS];
	struct nd_moved moved[ND_MOVED];
	struct nd_qp *qp_by_handle[ND_QP_HANDLES]; /* atomic */
};

extern const struct nd_class nd_pd_class, nd_mr_class, nd_mw_class, nd_fr_class, nd_cq_class,
	nd_srq_class, nd_qp_class, nd_connector_class, nd_listener_class, nd_endpoint_class,
	nd_ah_class, nd_ud_listener_class;

static inline bool
nd_gone(const struct nd_adapter *a)
{
	return __atomic_load_n(&a->gone, __ATOMIC_RELAXED) != 0;
}

#include "nd_parts.h"

#endif
