/* SPDX-License-Identifier: BSD-3-Clause */
/* libndclient: completion queues, their results and notifications. Part of ndclient.h. */
#ifndef NDCLIENT_CQ_H
#define NDCLIENT_CQ_H

#include "ndclient.h"

#ifdef __cplusplus
extern "C" {
#endif

enum nd_request_type {
	ND_REQUEST_RECEIVE = 0,
	ND_REQUEST_SEND = 1,
	ND_REQUEST_BIND = 2,
	ND_REQUEST_INVALIDATE = 3,
	ND_REQUEST_READ = 4,
	ND_REQUEST_WRITE = 5,
	ND_REQUEST_RECEIVE_AND_INVALIDATE = 6, /* nd_cq_get_results_ex() only, and so the next */
	ND_REQUEST_RECEIVE_WITH_IMMEDIATE = 7,
	ND_REQUEST_WRITTEN_WITH_IMMEDIATE = 8, /* a receive that a write took, with nothing in it */
	ND_REQUEST_FAST_REGISTER = 9,
	ND_REQUEST_ATOMIC = 10,
};
struct nd_result { /* the layout of ND2_RESULT */
	/*
	 * ND_SUCCESS; ND_CANCELED (flushed); ND_ACCESS_VIOLATION (local token or range, a bind that
	 * does not fit its region, or the peer refused our token or range); ND_DATA_OVERRUN (local
	 * length; a receive shorter than its message); ND_DATA_ERROR (the peer called the request
	 * invalid: a send longer than its receive); ND_IO_TIMEOUT (no acknowledgement, or no
	 * receive posted in time); ND_REMOTE_ERROR; ND_CONNECTION_ABORTED;
	 * ND_INVALID_DEVICE_REQUEST (invalidate: the window is not bound to this queue pair,
	 * R-INV-04; receive: it came with a bad token to invalidate, R-INV-09); ND_INTERNAL_ERROR.
	 */
	nd_status status;
	uint32_t bytes_transferred; /* receive: of the message (R-CR-05); 0 on failure */
	void *qp_context;	    /* also if the queue pair was closed meanwhile (R-CR-04) */
	void *request_context;
	enum nd_request_type request_type;
	uint32_t detail; /* transport's word on a failure, for people: nd_detail_name() */
};
struct nd_result_brief { /* the layout of NDK_RESULT; the beginning of nd_result */
	nd_status status;
	uint32_t bytes_transferred;
	void *qp_context;
	void *request_context;
};
struct nd_result_ex { /* as nd_result, and what the receive did */
	nd_status status;
	uint32_t bytes_transferred;
	void *qp_context;
	void *request_context;
	enum nd_request_type request_type;
	uint32_t detail;
	uint32_t invalidated_token; /* RECEIVE_AND_INVALIDATE: as nd_mw_remote_token(); else 0 */
	uint32_t immediate; /* WITH_IMMEDIATE: the peer's four bytes as they stand; else 0 */
};
/* "no acknowledgement: retries exhausted" and the like; a static string, never NULL. */
const char *nd_detail_name(uint32_t detail);

/* ND_INVALID_PARAMETER_3: depth is 0 or above max_cq_depth. ND_INSUFFICIENT_RESOURCES: no memory
 * (32 bytes for each entry), or no more completion queues. At least depth entries are granted. */
nd_status nd_cq_create(struct nd_adapter *a, uint32_t depth, struct nd_cq **cq);
/*
 * The same, with a wish for the CPUs whose threads will wait for the queue: those of mask in a
 * group of 64, mask 0: none. The wish is taken and has no effect: the adapter's lcore makes the
 * results of all its queues (nd_cq_get_affinity()). ND_INVALID_PARAMETER_4: this machine has no CPU
 * of that group; up to 64 CPUs are group 0 alone.
 */
nd_status nd_cq_create_near(
	struct nd_adapter *a, uint32_t depth, uint16_t group, uint64_t mask, struct nd_cq **cq);
/* Pending notifications complete with ND_CANCELED. Waits for the queue's callback if that runs;
 * none follows (R-CQ-26). ND_PENDING: queue pairs use it; they go on, and their results are lost
 * (R-LIFE-02). Or the close is made in a callback, which waits for none, while the queue's callback
 * runs (it is this one, or another adapter's): the queue is gone when that returns. */
nd_status nd_cq_close(struct nd_cq *cq);
/*
 * Give the queue another depth, of which at least so much is granted. At any time, from any thread,
 * also in a callback: nothing has to rest meanwhile. No result is lost or given twice, results that
 * others take meanwhile included; what is armed stays armed, requests that wait go on waiting
 * (R-RSZ-01). A queue that overran stays dead. ND_BUFFER_OVERFLOW: more than depth results lie
 * there, not yet taken; ND_INVALID_PARAMETER: depth is 0 or above max_cq_depth; ND_NOT_SUPPORTED:
 * the adapter has not ND_ADAPTER_FLAG_CQ_RESIZE; after each of these, and if memory is short,
 * nothing changed. The memory that the queue was created with stays with it until it is closed.
 */
nd_status nd_cq_resize(struct nd_cq *cq, uint32_t depth);
/*
 * The CPU of the daemon's lcore that makes the queue's results and wakes the threads that wait for
 * them: CPU 64 * *group + k for the only bit k of *mask (ND's GetNotifyAffinity). A thread that
 * waits for the queue is woken quickest by a CPU near that one; on it, it would compete with the
 * lcore. The CPU follows from the adapter's shard (nd_open_options.placement) and is the same for
 * all its queues. ND_INVALID_PARAMETER: group or mask is NULL; ND_NOT_SUPPORTED: an older daemon,
 * or its lcore is tied to no CPU. Any thread.
 */
nd_status nd_cq_get_affinity(struct nd_cq *cq, uint16_t *group, uint64_t *mask);
/*
 * Is the queue alive? ND_SUCCESS, or what killed it: ND_BUFFER_OVERFLOW (it overran: R-CQ-31),
 * ND_INTERNAL_ERROR; ND_DEVICE_REMOVED. The first of these stays, whatever follows, and so every
 * later call that takes results, or asks for a notification, has it, too (R-CQ-08). Results that
 * were made before may still lie there. Never blocks. Any thread.
 */
nd_status nd_cq_status(const struct nd_cq *cq);
/*
 * Take up to n results, oldest first; never blocks. Several threads may take from one queue: each
 * result is returned once. Returns their number; fewer than n means that the queue was empty. When
 * none is left and the queue can make no more: what nd_cq_status() says, which is negative, at this
 * and each later call.
 */
int32_t nd_cq_get_results(struct nd_cq *cq, struct nd_result *results, uint32_t n);
/* The same, for programs whose request_context says what the request was. */
int32_t nd_cq_get_results_brief(struct nd_cq *cq, struct nd_result_brief *results, uint32_t n);
/* The same, and says which receives came with a token that they invalidated, or with an immediate,
 * and which. The plain call returns them as receives; their windows are invalidated all the same
 * (R-CR-07). */
int32_t nd_cq_get_results_ex(struct nd_cq *cq, struct nd_result_ex *results, uint32_t n);

struct nd_ud_result {
	struct nd_result_ex result;
	uint32_t source_qp; /* of a successful receive of a datagram: its sender; else 0 */
	uint32_t reserved;
};
/* The same, with the sending queue pair of each received datagram (ndclient_ud.h). */
int32_t nd_ud_get_results(struct nd_cq *cq, struct nd_ud_result *results, uint32_t n);

/*
 * Notifications. Without asking for one nothing is ever signalled. Asking (arming) is for one
 * notification: the next result of that type, or at once if a result lies there that is newer than
 * the last notification and was not taken (R-CQ-12). So the order is: take results until fewer come
 * than asked for, then arm, then sleep; on waking, again from the start. Asking again while one is
 * outstanding joins with it, the stronger type wins (R-CQ-18). A notification is the queue's, not a
 * thread's: of several threads that wait on one queue, each that wakes has to take results; one
 * that asks again without it hides from the others what it was woken for (R-CQ-11, R-CQ-16).
 *
 * Three styles. Overlapped (nd_cq_notify) and for event loops (nd_cq_fd, nd_cq_arm, nd_cq_ack), not
 * to be mixed on one queue at a time; by callback (nd_cq_set_callback, nd_cq_arm_callback), which a
 * queue keeps once it has it.
 */
#define ND_CQ_NOTIFY_ERRORS    0u /* only faults of the queue itself */
#define ND_CQ_NOTIFY_ANY       1u /* any result */
#define ND_CQ_NOTIFY_SOLICITED 2u /* a receive whose send asked for it, or any failed result */

/* Requests of nd_cq_notify() that one queue keeps. */
#define ND_CQ_NOTIFY_MAX 1024u
/*
 * Arm, and complete ov at the notification. Several may be outstanding: the next event completes
 * them all, in order of issue (R-CQ-20). Always ND_PENDING if it succeeds. ov's outcome:
 * ND_SUCCESS; ND_BUFFER_OVERFLOW or ND_INTERNAL_ERROR, the queue is dead (R-CQ-08); ND_CANCELED.
 * ND_INVALID_PARAMETER_1: type; ND_INVALID_PARAMETER_2: ov is NULL; ND_INVALID_DEVICE_STATE: armed
 * by nd_cq_arm() and not acknowledged, or the queue has a callback; ND_INSUFFICIENT_RESOURCES:
 * ND_CQ_NOTIFY_MAX are outstanding, the arm is as it was (R-CQ-35).
 */
nd_status nd_cq_notify(struct nd_cq *cq, uint32_t type, struct nd_overlapped *ov);
/*
 * Take the arm back, of either style; ND_SUCCESS. Pending notifications complete with ND_CANCELED,
 * or with their outcome if the event was faster. It does not count as a notification (R-CQ-34).
 */
nd_status nd_cq_cancel(struct nd_cq *cq);
/* A file descriptor for poll(), select() or epoll, readable after a notification of nd_cq_arm(),
 * and for good when the daemon is gone. It is the queue's: don't read it or close it. -1: out of
 * descriptors. */
int nd_cq_fd(struct nd_cq *cq);
/*
 * Arm, and make nd_cq_fd() readable at the notification; also, at once, if there is a reason
 * already (R-CQ-12). ND_SUCCESS in both cases: poll() tells. ND_BUFFER_OVERFLOW, ND_INTERNAL_ERROR:
 * the queue is dead (the fd is readable then, too). ND_INVALID_PARAMETER_1: type;
 * ND_INVALID_DEVICE_STATE: an nd_cq_notify() is pending, or the queue has a callback.
 */
nd_status nd_cq_arm(struct nd_cq *cq, uint32_t type);
/* Make the fd unreadable again. Call it after poll() said readable and before taking results: a
 * notification that comes later makes the fd readable anew. After nd_cq_cancel() the fd may become
 * readable once without a new result. */
void nd_cq_ack(struct nd_cq *cq);

/* status: ND_SUCCESS, there are new results; else the queue is dead, as nd_cq_status() says
 * (R-CQ-29). */
typedef void (*nd_cq_callback)(void *context, nd_status status);
/*
 * Give the queue its callback, for good; nothing is armed by it. Callbacks of an adapter's queues
 * run one at a time in a thread of the library (R-CQ-23), with the signals of the application
 * blocked. In a callback every call is legal, also taking results, posting, arming anew and closing
 * the queue, but nd_adapter_close(), which is refused (R-LIFE-10).
 * ND_INVALID_PARAMETER_2: callback is NULL; ND_INVALID_DEVICE_STATE: it has one, or is armed in
 * another style; ND_INSUFFICIENT_RESOURCES: out of descriptors or threads.
 */
nd_status nd_cq_set_callback(struct nd_cq *cq, nd_cq_callback callback, void *context);
/*
 * Arm for one callback. Never runs it by itself: if there is a reason already (R-CQ-12), or the
 * queue is dead, the callback comes from its thread at once. One that is due but not entered yet
 * serves this arm, too (R-CQ-25). nd_cq_cancel() takes the arm back, if the event was not faster.
 * ND_INVALID_PARAMETER_1: type; ND_INVALID_DEVICE_STATE: no callback was set; ND_DEVICE_REMOVED.
 */
nd_status nd_cq_arm_callback(struct nd_cq *cq, uint32_t type);
/*
 * Moderation: once its arm is satisfied a callback waits for more, at most us microseconds, and no
 * longer than until count results were made since it was armed for. It comes at once for a fault or
 * a failed result (R-MOD-02). Results can be taken meanwhile, and notifications of other styles are
 * not delayed (R-MOD-01). us 0, or count 0 or 1: no moderation, as a queue begins; us 0xffffffff:
 * count alone decides; count from the queue's depth on: time alone. The last setting holds, also
 * for a callback that waits already. ND_INVALID_PARAMETER_MIX: neither would ever end the waiting.
 */
nd_status nd_cq_moderate(struct nd_cq *cq, uint32_t us, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
