/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs. */
#ifndef ND_QP_H
#define ND_QP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ndclient/ndclient.h"
#include "ndclient/ndclient_modify.h"
#include "ndclient/session/event.h"
#include "ndclient/session/object.h"
#include "shm/ndsh_ring.h"

struct nd_copies;
struct nd_mw;
TAILQ_HEAD(nd_mw_list, nd_mw);

/* Initiator requests are legal only in CONNECTED (R-POST-02, R-POST-03), and in ACCEPTING when a
 * message of the peer was taken: that the connection is made may be told later (R-SR-09). A queue
 * pair of datagrams is in DATAGRAM for ever, where nd_ud_send() is the only legal one; one of an
 * unreliable connection is in UNRELIABLE where others are in CONNECTED, and takes SENDs and WRITEs
 * alone. */
enum nd_qp_state {
	ND_QP_UNCONNECTED,
	ND_QP_CONNECTED,
	ND_QP_DISCONNECTED,
	ND_QP_DATAGRAM,
	ND_QP_ACCEPTING,
	ND_QP_UNRELIABLE
};

/* A state that only unreliable connections have (IBTA's SQE): a request has failed, those behind it
 * are canceled, receives go on; ND_QP_STATE_RTS starts the send side again. */
#define ND_QP_STATE_SQE 6u

/* Completions from number from on, up to the next RESET, that the daemon made before it knew of a
 * copy command that failed (ndsh_mover.h); by: enum ndsh_spoils, atomic. */
struct nd_spoiled {
	uint32_t from, by;
};

struct nd_qp {
	struct nd_object obj; /* of a closed one only what completions need is valid */
	/* for posts; written only when created and connected */
	_Alignas(NDSH_CACHE_LINE) struct nd_adapter *adapter;
	struct ndsh_qp_page *page;
	uint32_t index; /* session-local number */
	uint32_t doorbell;
	uint32_t state; /* enum nd_qp_state, atomic */
	uint32_t sq_sge, rq_sge, inline_bytes;
	uint32_t accept_mark; /* rq_freed when it came to ACCEPTING */
	uint32_t short_below; /* inline payloads of fewer bytes go into the descriptor */
	bool unreliable;
	struct nd_srq *srq;	  /* or NULL */
	struct nd_copies *copies; /* of bytes from moved memory, or NULL; atomic */
	/* each line for the thread that posts there */
	_Alignas(NDSH_CACHE_LINE) struct ndsh_sq sq;
	uint32_t sq_inside; /* the verifier's: a thread posts, atomic */
	uint32_t fence;	    /* the newest request with a fence, if fenced */
	bool fenced;	    /* it may not be finished */
	_Alignas(NDSH_CACHE_LINE) struct ndsh_rq rq;
	uint32_t rq_inside;
	/* for threads that take results */
	_Alignas(NDSH_CACHE_LINE) void *context;
	uint32_t sq_freed, rq_freed;  /* requests known to be finished, atomic */
	uint32_t sends_stopped;	      /* of datagrams: a failed one was taken; atomic */
	struct nd_spoiled spoiled[2]; /* of requests; of receives */
	uint64_t begun[2];	      /* in their queues, the first entry since RESET; atomic */
	/* for the rest */
	struct nd_pd *pd;
	LIST_ENTRY(nd_qp) of_pd;	 /* by nd_adapter.lock */
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

extern const struct nd_class nd_qp_class;

/* The slots of the ring of a queue that is to be so deep, which is not 0: a power of two. */
static inline uint32_t
nd_queue_slots(uint32_t depth)
{
	return depth == 1 ? 1 : 1u << (32 - __builtin_clz(depth - 1));
}

/* Is the initiator request that was posted as number index finished? Either word may be behind, as
 * far as results were not taken and silent requests came since, but by less than 2^31: posts move
 * sq_freed (post.c). */
static inline bool
nd_qp_is_done(const struct nd_qp *qp, uint32_t index)
{
	return (int32_t)(index - __atomic_load_n(&qp->sq_freed, __ATOMIC_ACQUIRE)) < 0 ||
	       (int32_t)(index - __atomic_load_n(&qp->page->sq_done, __ATOMIC_ACQUIRE)) < 0;
}

/* As nd_qp_create(), for an unreliable connection (UC), which nd_qp_modify() brings up. ND has no
 * such thing, so this is for other faces alone. ND_NOT_SUPPORTED: the daemon is older than this. */
nd_status nd_uc_qp_create(struct nd_pd *pd, const struct nd_qp_options *opt, struct nd_qp **out);
/* The queue pair is being closed: does a thread still post to it? Only if nd_verifying(). */
void nd_qp_verify_close(const struct nd_qp *qp);
/* Free closed queue pairs with no completion left to take; nd_adapter.lock held. */
void nd_qp_reap(struct nd_adapter *a);

#endif
