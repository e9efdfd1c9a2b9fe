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
 * nd_adapter.windows guards what windows, regions and queue pairs know of each other and is taken
 * inside all others.
 */
#ifndef ND_INT_H
#define ND_INT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nd_arena.h"
#include "nd_object.h"
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
enum nd_qp_state { ND_QP_UNCONNECTED, ND_QP_CONNECTED, ND_QP_DISCONNECTED };

struct nd_qp {
	struct nd_object obj; /* of a closed one only what completions need is valid */
	/* for posts; written only when created and connected */
	_Alignas(NDSH_CACHE_LINE) struct nd_adapter *adapter;
	struct ndsh_qp_page *page;
	uint32_t index; /* session-local: doorbell bit */
	uint32_t state; /* enum nd_qp_state, atomic */
	uint32_t sq_sge, rq_sge, inline_bytes;
	struct nd_srq *srq; /* or NULL */
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
	struct nd_connector *connector;	 /* guarded by nd_adapter.lock */
	struct nd_mw_list bound, invalidating;
	uint32_t handle, number;
	uint64_t send_mark, recv_mark; /* closed: what the queues had made by then */
	TAILQ_ENTRY(nd_qp) closed_link;
};
TAILQ_HEAD(nd_qp_list, nd_qp);

struct nd_moderation { /* guarded by nd_cq.lock */
	uint32_t us;	   /* 0: none */
	uint64_t count;	   /* 0, 1: none; UINT64_MAX: time alone */
	uint64_t from;	   /* entries up to here were old when the callback was armed for */
	bool due;	   /* it is held back since due_ns */
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
	int kick_fd;	      /* with a callback: wakes its thread */
	struct nd_moderation moderation;
	uint32_t in_callback; /* it runs; futex */
	bool closed_inside;   /* closed by a callback, while its own runs */
	uint32_t id;
	uint32_t depth;	 /* that the application asked for */
	uint32_t inside; /* the verifier's: threads that take results, atomic */
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
	int kick_fd;	      /* with a callback: wakes its thread */
	bool armed, due;      /* for the callback, since the daemon answered; it is to be run */
	bool closed_inside;   /* closed by a callback, while its own runs */
	uint32_t in_callback; /* it runs; futex */
	TAILQ_ENTRY(nd_srq) link;
};
TAILQ_HEAD(nd_srq_list, nd_srq);

/* CHANGING: the daemon was asked to register or deregister it. */
struct nd_mr_request {
	enum ndsh_admin_op op;
	uint32_t access; /* NDSH_ACCESS_* */
	uintptr_t va;
	uint64_t bytes;
	const char *call; /* that it is for */
};
enum nd_mr_state { ND_MR_IDLE, ND_MR_CHANGING, ND_MR_REGISTERED };

struct nd_mr {
	struct nd_object obj;
	struct nd_pd *pd;
	enum nd_mr_state state; /* this and the next two are guarded by nd_admin.lock */
	struct nd_mr_request request;
	struct nd_overlapped *ov; /* CHANGING */
	STAILQ_ENTRY(nd_mr) queued;
	uint32_t token;	 /* 0: not registered; atomic */
	uint32_t access; /* NDSH_ACCESS_* */
	uintptr_t va;
	uint64_t bytes;
	struct nd_mw_bucket windows; /* that are bound to it */
};
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
	struct nd_qp *qp;
	struct nd_listener *listener; /* QUEUED */
	struct nd_overlapped *op;     /* connect, accept, get_request or disconnect */
	struct nd_waiters disconnect; /* of nd_connector_notify_disconnect() */
	struct ndsh_addr local, peer;
	nd_status end_status;
	uint32_t priv_bytes;
	uint8_t inbound_reads, outbound_reads;
	uint8_t priv[sizeof(((struct ndsh_ev_conn *)0)->priv)];
	TAILQ_ENTRY(nd_connector) link;
	LIST_ENTRY(nd_connector) hash;
	TAILQ_ENTRY(nd_connector) queued; /* QUEUED: in the listener's list */
};
TAILQ_HEAD(nd_connector_list, nd_connector);
LIST_HEAD(nd_conn_bucket, nd_connector);

struct nd_conn_request { /* one that nobody has asked for yet */
	STAILQ_ENTRY(nd_conn_request) next;
	struct ndsh_ev_conn ev;
};
STAILQ_HEAD(nd_conn_request_list, nd_conn_request);

struct nd_listener { /* guarded by nd_adapter.lock */
	struct nd_object obj;
	struct nd_adapter *adapter;
	bool busy, listening;
	uint32_t id;
	struct ndsh_addr local;
	struct nd_conn_request_list requests; /* one of the two is empty */
	struct nd_connector_list waiting;
	TAILQ_ENTRY(nd_listener) link;
};
TAILQ_HEAD(nd_listener_list, nd_listener);

/* The thread that runs callbacks, from the first one on. */
struct nd_callbacks {
	pthread_t thread;
	int epoll_fd, stop_fd;
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

struct nd_call;
LIST_HEAD(nd_call_list, nd_call);

struct nd_adapter {
	/* for posts and polls */
	struct ndsh_session_page *page;
	uint64_t max_transfer_bytes;
	int wake_fd;
	uint32_t gone;	    /* the daemon ended the session, atomic */
	uint32_t abi_minor; /* the daemon's */
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
	struct nd_admin admin;
	struct nd_call_list calls;
	struct nd_object_list objects; /* all; those below are open */
	struct nd_cq_list cqs;
	struct nd_srq_list srqs;
	struct nd_connector_list connectors;
	struct nd_listener_list listeners;
	struct nd_qp_list closed_qps; /* completions may name them still */
	struct nd_conn_bucket conns[ND_CONN_BUCKETS];
	struct nd_spin windows;
	struct nd_mw_bucket mw_by_slot[ND_MW_BUCKETS];
	struct nd_qp *qp_by_handle[ND_QP_HANDLES]; /* atomic */
};

extern const struct nd_class nd_pd_class, nd_mr_class, nd_mw_class, nd_cq_class, nd_srq_class,
	nd_qp_class, nd_connector_class, nd_listener_class;

static inline bool
nd_gone(const struct nd_adapter *a)
{
	return __atomic_load_n(&a->gone, __ATOMIC_RELAXED) != 0;
}

/* ---- nd_status.c: words -------------------------------------------------------------- */

/* Set nd_last_error(); returns st. */
nd_status nd_fail(nd_status st, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The CQE status of a transport outcome (2.2 of the semantics; what ND's own tests want). */
nd_status nd_status_of_wc(uint8_t wc_status, uint8_t op);

/* ---- nd_overlapped.c ----------------------------------------------------------------- */

/* Make it pending: first of all in a call, which then ends with nd_overlapped_issued(). a: of the
 * object it is made of. ND_INVALID_PARAMETER: it is under way already; ND_NO_MEMORY. */
nd_status nd_overlapped_begin(const struct nd_adapter *a, struct nd_overlapped *ov,
	const char *call) __attribute__((warn_unused_result));
/* It was begun, but the call returns an error: nobody is told (R-OV-03). */
void nd_overlapped_refuse(struct nd_overlapped *ov, nd_status st);
/* What the call returns. With ND_PENDING it may be over already, and is not touched. */
static inline nd_status
nd_overlapped_issued(struct nd_overlapped *ov, nd_status st)
{
	if (st != ND_PENDING)
		nd_overlapped_refuse(ov, st);
	return st;
}
/* Complete it and tell who waits. It must not be touched afterwards. */
void nd_overlapped_end(struct nd_overlapped *ov, nd_status st);
/* A pending request becomes the last of the waiters. */
void nd_waiters_add(struct nd_waiters *w, struct nd_overlapped *ov);
/* All of from, behind those of to. */
void nd_waiters_move(struct nd_waiters *to, struct nd_waiters *from);
/* Complete them all. */
void nd_waiters_end(struct nd_waiters *w, nd_status st);
/* Sleep until *word differs from value (may return early). deadline_ns: CLOCK_MONOTONIC or
 * UINT64_MAX. False: the deadline has passed. */
bool nd_futex_wait(const void *word, uint32_t value, uint64_t deadline_ns);
void nd_futex_wake(const void *word);
uint64_t nd_now_ns(void); /* CLOCK_MONOTONIC */

void nd_spin_wait(struct nd_spin *s);
static inline void
nd_spin_lock(struct nd_spin *s)
{
	if (__atomic_exchange_n(&s->held, 1, __ATOMIC_ACQUIRE) != 0)
		nd_spin_wait(s);
}
static inline void
nd_spin_unlock(struct nd_spin *s)
{
	__atomic_store_n(&s->held, 0, __ATOMIC_RELEASE);
}

/* ---- nd_port.c ----------------------------------------------------------------------- */

/* Something may still come to the port; or has come, or will not. */
void nd_port_hold(struct nd_port *port);
void nd_port_release(struct nd_port *port);
/* What will come to the port when a request has its outcome; NULL: no memory. */
struct nd_packet;
struct nd_packet *nd_packet_make(struct nd_port *port, void *key, struct nd_overlapped *ov);
void nd_packet_deliver(struct nd_packet *p, nd_status st);
void nd_packet_drop(struct nd_packet *p);

/* ---- nd_socket.c --------------------------------------------------------------------- */

/* A connected socket after HELLO; *reply has the daemon's answer. */
nd_status nd_socket_open(
	const struct nd_open_options *opt, int *sock, struct ndsh_hello_reply *reply);
/* Send a request and wait for its reply; before there is a control thread. *fd may be NULL. */
nd_status nd_socket_exchange(int sock, struct ndsh_msg_hdr *request, void *reply, int *fd);
/* One datagram: its bytes, 0 at the end, -1 with errno. *fd: what came along, or -1. */
ssize_t nd_socket_receive(int sock, void *buf, size_t room, int *fd, int flags);

/* ---- nd_control.c -------------------------------------------------------------------- */

/* Runs once per call with nd_adapter.lock held: in the control thread before any later message is
 * looked at, or in the caller if nothing was sent. reply is NULL with ND_DEVICE_REMOVED. The status
 * it returns becomes the call's. */
typedef nd_status nd_reply_hook(void *arg, nd_status st, const void *reply);
struct nd_request {
	struct ndsh_msg_hdr *h; /* of the request, type set */
	void *reply;		/* room of reply_bytes, or NULL */
	int *fd;		/* room for a file descriptor, or NULL */
	nd_reply_hook *hook;	/* or NULL */
	void *arg;
};
/* Send and wait. Not with a lock held, not from the control thread. */
nd_status nd_control_call(struct nd_adapter *a, const struct nd_request *r);
/* The same for requests that only name an object. */
nd_status nd_control_id(struct nd_adapter *a, enum ndsh_msg_type type, uint32_t id);
/* A thread for which the application's signals are not. */
bool nd_thread_start(pthread_t *thread, void *(*run)(void *), void *arg);
nd_status nd_control_start(struct nd_adapter *a);
/* Stop the thread; then nothing completes any more. */
void nd_control_stop(struct nd_adapter *a);
/* Let the control thread read the queue's pipe, or leave it to nd_cq_fd(). */
nd_status nd_control_watch(struct nd_adapter *a, struct nd_cq *cq, bool on);

/* ---- nd_notify.c, nd_srq.c, nd_conn_event.c, nd_listener.c: by the control thread, locked */

void nd_cq_readable(struct nd_cq *cq);
void nd_cq_end_waiters(struct nd_cq *cq, nd_status st);
void nd_srq_limit(struct nd_adapter *a, const struct ndsh_ev_srq *ev);
void nd_conn_event(struct nd_adapter *a, const struct ndsh_ev_conn *ev);
void nd_conn_end_waiters(struct nd_connector *c, nd_status st);
void nd_listener_request(struct nd_adapter *a, const struct ndsh_ev_conn *ev);
/* Put a request into an idle or queued connector. */
void nd_conn_take_request(struct nd_connector *c, const struct ndsh_ev_conn *ev);

/* ---- nd_connector.c ------------------------------------------------------------------ */

void nd_conn_set_id(struct nd_connector *c, uint32_t id);
/* The connection does not need its queue pair any more. */
void nd_conn_release_qp(struct nd_connector *c, enum nd_qp_state state);
/* Forget the daemon's connection, if there is one. Lock not held. */
void nd_conn_drop_id(struct nd_connector *c);

/* ---- nd_address.c -------------------------------------------------------------------- */

/* False: not an IPv4 or IPv6 address of that size. */
bool nd_address_from(struct ndsh_addr *to, const struct sockaddr *from, socklen_t bytes);
/* Fill *to (zeroed first); returns its size. */
socklen_t nd_address_to(struct sockaddr_storage *to, const struct ndsh_addr *from);
/* ND's rule of sizes (R-CONN-19): ND_BUFFER_OVERFLOW leaves addr untouched. */
nd_status nd_address_give(const struct ndsh_addr *from, struct sockaddr *addr, socklen_t *bytes);
bool nd_address_is_any(const struct ndsh_addr *a);
/* How many leading bits two addresses share; -1: not of one family. */
int nd_address_common_bits(const struct ndsh_addr *a, const struct ndsh_addr *b);

/* ---- nd_segment.c -------------------------------------------------------------------- */

/* Get another segment of at least bytes from the daemon; arena lock held. */
bool nd_segment_grow(struct nd_adapter *a, uint64_t bytes);
void nd_segment_return(struct nd_adapter *a, struct nd_segment *seg);
/* A zeroed block for rings, and where it lies. */
void *nd_block_alloc(struct nd_adapter *a, uint64_t bytes, uint32_t *segment, uint64_t *offset);

/* ---- nd_cq.c ------------------------------------------------------------------------- */

void nd_result_of(const struct ndsh_cqe *e, void *qp_context, struct nd_result *r);
void nd_result_ex_of(const struct ndsh_cqe *e, void *qp_context, struct nd_result_ex *r);
void nd_cq_close_fds(struct nd_cq *cq);
/* Of the ring for so many entries that were asked for. */
uint32_t nd_cq_ring_depth(uint32_t asked, uint32_t max);

/* ---- nd_notify.c: for nd_arm.c too --------------------------------------------------- */

bool nd_arm_of(uint32_t type, enum ndsh_arm *arm);
nd_status nd_cq_fault(const struct nd_cq *cq);
/* False: the other end is closed. */
bool nd_drain(int fd);

/* ---- nd_arm.c ------------------------------------------------------------------------ */

/* Run the queue's callback, if it is owed one. */
bool nd_cq_call_back(struct nd_adapter *a, uint32_t id);
/* Let the thread have a look, if the queue is armed; nd_cq.lock held. */
void nd_cq_kick(struct nd_cq *cq);
/* No callback is entered any more; the queue was taken from its list. nd_adapter.lock held. */
void nd_cq_callback_off(struct nd_cq *cq);
/* Is this thread in a callback, of whatever adapter? */
bool nd_in_callback(void);
/* Wait until the callback has returned. True: a callback calls, and may not wait; then
 * nd_object_drop() follows when the queue's own returns. */
bool nd_cq_outlives_callback(struct nd_cq *cq);
/* The thread that runs them, from the first one on; nd_adapter.lock held. what: the id of a
 * completion queue, or ND_CALLBACK_SRQ and that of another queue. */
#define ND_CALLBACK_SRQ (2ull << 32)
bool nd_callbacks_start(struct nd_adapter *a);
bool nd_callbacks_watch(struct nd_adapter *a, int fd, uint64_t what);
void nd_callback_run(
	void (*callback)(void *context, nd_status st), void *context, nd_status st);
/* Returns when all callbacks have; none follows. */
void nd_callbacks_stop(struct nd_adapter *a);

/* ---- nd_srq_callback.c: as above; nd_adapter.lock held but in the first and the last -- */

void nd_srq_call_back(struct nd_adapter *a, uint32_t id);
void nd_srq_kick(struct nd_srq *srq);
/* Fewer receives are left than the threshold. */
void nd_srq_due(struct nd_srq *srq);
void nd_srq_callback_off(struct nd_srq *srq);
bool nd_srq_outlives_callback(struct nd_srq *srq);

/* ---- nd_moderate.c: nd_cq.lock held -------------------------------------------------- */

/* The callback is being armed for, and was not before. */
void nd_moderation_begin(struct nd_cq *cq);
/* The callback is due. Has it to wait? Then it is looked at again when that may have ended. */
bool nd_moderation_holds(struct nd_cq *cq);
/* No callback comes any more; the lock need not be held. */
void nd_moderation_off(struct nd_cq *cq);

/* ---- nd_admin.c ---------------------------------------------------------------------- */

/* Make the ring, if there is none yet. */
nd_status nd_admin_open(struct nd_adapter *a);
/* Ask the daemon. ND_PENDING: ov, which was begun, tells the outcome, or has done so. */
nd_status nd_admin_request(
	struct nd_mr *mr, const struct nd_mr_request *what, struct nd_overlapped *ov);
/* Wait until no request of the region is under way. */
void nd_admin_settle(struct nd_mr *mr);
/* By the control thread, nd_adapter.lock held: the daemon has answered; is gone. */
void nd_admin_readable(struct nd_adapter *a);
void nd_admin_end(struct nd_adapter *a, nd_status st);
/* The adapter is being closed, its regions are gone. */
void nd_admin_fini(struct nd_adapter *a);

/* ---- nd_window.c --------------------------------------------------------------------- */

/* Bind the window, as far as this side is concerned, and give it the token of its next generation.
 * False: it is bound (R-MW-01). */
bool nd_mw_bind(struct nd_mw *mw, struct nd_mr *mr, struct nd_qp *qp);
/* An Invalidate of it is about to be posted, as the queue pair's next request. */
void nd_mw_invalidate(struct nd_mw *mw, struct nd_qp *qp);
/* May this entry have changed the state of a window? Then tell nd_mw_see(). */
static inline bool
nd_mw_concerns(const struct ndsh_cqe *e)
{
	return e->op == NDSH_OP_INVALIDATE || (e->flags & NDSH_CQEF_INV) != 0 ||
	       e->status != NDSH_WC_SUCCESS;
}
void nd_mw_see(struct nd_qp *qp, const struct ndsh_cqe *e);
/* The queue pair is no more: neither are its windows' bindings (R-MW-10). */
void nd_mw_unbind_all(struct nd_qp *qp);
/* The region is no more. */
void nd_mr_unbind_all(struct nd_mr *mr);
/* Is a window bound to the region? */
bool nd_mr_is_bound(struct nd_mr *mr);
bool nd_mw_is_invalidating(struct nd_mw *mw);

/* ---- nd_verify.c --------------------------------------------------------------------- */

extern uint32_t nd_verify_on; /* atomic; never off again */
static inline bool
nd_verifying(void)
{
	return __builtin_expect(__atomic_load_n(&nd_verify_on, __ATOMIC_RELAXED) != 0, 0);
}
/* An adapter is being opened: is the verifier wanted? */
void nd_verify_setup(const struct nd_open_options *opt);
void nd_breach(const char *rule, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Behind nd_verifying(). */
void nd_verify_post(uint32_t *inside, const char *queue, const struct nd_qp *qp);
void nd_verify_qp_close(const struct nd_qp *qp);
void nd_verify_cq_close(const struct nd_cq *cq);
void nd_verify_mw_close(struct nd_mw *mw);

static inline void
nd_post_begin(uint32_t *inside, const char *queue, const struct nd_qp *qp)
{
	if (nd_verifying())
		nd_verify_post(inside, queue, qp);
}
static inline void
nd_post_end(uint32_t *inside)
{
	if (nd_verifying())
		__atomic_store_n(inside, 0, __ATOMIC_RELEASE);
}

/* ---- nd_qp.c ------------------------------------------------------------------------- */

/* Free closed queue pairs whose completions were all taken; lock held. */
void nd_qp_reap(struct nd_adapter *a);

#endif
