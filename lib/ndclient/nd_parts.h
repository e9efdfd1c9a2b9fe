/* SPDX-License-Identifier: BSD-3-Clause */
/* What each file of libndclient offers the others; the second half of nd_int.h. */
#ifndef ND_PARTS_H
#define ND_PARTS_H

#include "nd_int.h"

/* ---- nd_status.c: words -------------------------------------------------------------- */

/* Set nd_last_error(); returns st. */
nd_status nd_fail(nd_status st, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The CQE status of a transport outcome. profile: ND_PROFILE_*. */
nd_status nd_status_of_wc(uint32_t profile, uint8_t wc_status, uint8_t op);

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

/* ---- nd_notify.c, nd_srq.c, nd_modify.c, nd_event.c, nd_conn_event.c, nd_listener.c: by the
 * control thread, locked */

void nd_cq_readable(struct nd_cq *cq);
void nd_cq_end_waiters(struct nd_cq *cq, nd_status st);
void nd_srq_limit(struct nd_adapter *a, const struct ndsh_ev_srq *ev);
void nd_qp_modified(struct nd_adapter *a, const struct ndsh_ev_qp *ev);
void nd_event_async(struct nd_adapter *a, const struct ndsh_ev_async *ev);
void nd_event_srq_limit(struct nd_srq *srq);
/* The session is over. */
void nd_event_removed(struct nd_adapter *a);
/* The object is being closed. */
void nd_event_forget(struct nd_adapter *a, struct nd_event_source *s);
/* What waits for the queue pair's next hop; of all queue pairs. */
void nd_qp_end_modify(struct nd_qp *qp, nd_status st);
void nd_qp_end_modifies(struct nd_adapter *a, nd_status st);
void nd_conn_event(struct nd_adapter *a, const struct ndsh_ev_conn *ev);
void nd_conn_end_waiters(struct nd_connector *c, nd_status st);
void nd_listener_request(struct nd_adapter *a, const struct ndsh_ev_conn *ev);
/* Put a request of the listener into an idle or queued connector, which keeps the listener until it
 * is closed (R-LSN-08). */
void nd_conn_take_request(
	struct nd_listener *l, struct nd_connector *c, const struct ndsh_ev_conn *ev);

/* ---- nd_connector.c ------------------------------------------------------------------ */

void nd_conn_set_id(struct nd_connector *c, uint32_t id);
/* Has it a port of its own? The daemon then knows it by one id for all its attempts. */
static inline bool
nd_conn_has_port(const struct nd_connector *c)
{
	return c->bound && c->endpoint == NULL;
}
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

/* ---- nd_listening.c ------------------------------------------------------------------ */

/* Listen at addr by a message of that type; outcomes as of nd_listener_listen(). */
nd_status nd_listening_start(struct nd_adapter *a, struct nd_listening *l, enum ndsh_msg_type type,
	const struct sockaddr *addr, socklen_t bytes, uint32_t backlog);
nd_status nd_listening_address(struct nd_adapter *a, const struct nd_listening *l,
	struct sockaddr *addr, socklen_t *bytes);

/* ---- nd_segment.c -------------------------------------------------------------------- */

/* A segment of the daemon's, mapped at *base and live; to the daemon it lies at known_as, or where
 * it is mapped if that is NULL. */
bool nd_segment_create(struct nd_adapter *a, uint64_t bytes, const void *known_as, uint32_t *id,
	uint8_t **base, int *fd);
/* Get another segment of at least bytes from the daemon; arena lock held. */
bool nd_segment_grow(struct nd_adapter *a, uint64_t bytes);
void nd_segment_return(struct nd_adapter *a, struct nd_segment *seg);
/* A zeroed block for rings, and where it lies. */
void *nd_block_alloc(struct nd_adapter *a, uint64_t bytes, uint32_t *segment, uint64_t *offset);

/* ---- nd_mover.c ---------------------------------------------------------------------- */

/* May [buf, buf+bytes) be registered, to be written or only read? populate: have its pages made. */
nd_status nd_mover_check(const void *buf, size_t bytes, bool write, bool populate);
/* Make sure that there is one. */
nd_status nd_mover_need(struct nd_adapter *a);
/* All that the daemon has ordered so far is moved when it returns. */
void nd_mover_run(struct nd_mover *m);
/* The same for who has nothing better to do: never waits. */
void nd_mover_help(struct nd_mover *m);
void nd_mover_stop(struct nd_adapter *a);

/* ---- nd_moved.c ---------------------------------------------------------------------- */

/* Posts find the region; no longer. nd_admin.lock held. */
void nd_moved_add(const struct nd_mr *mr);
void nd_moved_remove(const struct nd_mr *mr);
/* May the request's bytes be copied at the post, and is that of use? */
bool nd_moved_fits(const struct nd_qp *qp, enum ndsh_op op, const struct nd_sge *sge, uint32_t n,
	uint32_t flags);

/* ---- nd_cq.c ------------------------------------------------------------------------- */

void nd_result_of(
	uint32_t profile, const struct ndsh_cqe *e, void *qp_context, struct nd_result *r);
void nd_result_ex_of(
	uint32_t profile, const struct ndsh_cqe *e, void *qp_context, struct nd_result_ex *r);
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
/* Is this thread in a callback, of whatever adapter? It is from now on, or is not any more. */
bool nd_in_callback(void);
void nd_callback_mark(bool inside);
/* The object's callback is about to run, with the lock held that guards the object's list; it has
 * returned, and the object may be gone with this call. */
void nd_callback_enter(struct nd_object *o);
void nd_callback_leave(struct nd_object *o);
/* The object was taken from its list: wait until its callback has returned. True: a callback calls,
 * and may not wait; then nd_object_drop() follows when the object's own returns, perhaps before
 * this one does. */
bool nd_callback_outlives(struct nd_object *o);
/* The thread that runs them, from the first one on; nd_adapter.lock held. what: the id of a
 * completion queue, or ND_CALLBACK_SRQ and that of another queue. */
#define ND_CALLBACK_SRQ (2ull << 32)
bool nd_callbacks_start(struct nd_adapter *a);
bool nd_callbacks_watch(struct nd_adapter *a, int fd, uint64_t what);
void nd_callback_run(void (*callback)(void *arg, nd_status st), void *arg, nd_status st);
/* Returns when all callbacks have; none follows. */
void nd_callbacks_stop(struct nd_adapter *a);

/* ---- nd_srq_callback.c: as above; nd_adapter.lock held but in the first -- */

void nd_srq_call_back(struct nd_adapter *a, uint32_t id);
void nd_srq_kick(struct nd_srq *srq);
/* Fewer receives are left than the threshold. */
void nd_srq_due(struct nd_srq *srq);
void nd_srq_callback_off(struct nd_srq *srq);

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

/* ---- nd_offer.c ---------------------------------------------------------------------- */

/* Let the thread have a look, if the listener has a callback; lock held. */
void nd_listener_kick(struct nd_listener *l);
/* Run a callback that is owed; false: none was. By the callbacks' thread. */
bool nd_listener_call_back(struct nd_adapter *a);

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
/* The region is no more, whoever holds it. */
void nd_mr_unbind_all(struct nd_mr *mr);
/* Take down the closed regions whose last window is gone. As nd_object_drop(), and by the thread of
 * nd_arm.c. */
void nd_mr_end_all(struct nd_adapter *a);
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
