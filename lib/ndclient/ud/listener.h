/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners of datagram services. */
#ifndef ND_UD_LISTENER_H
#define ND_UD_LISTENER_H

#include <sys/queue.h>

#include "ndclient/conn/listening.h"
#include "ndclient/ndclient.h"
#include "ndclient/session/object.h"
#include "shm/ndsh_msg.h"

/* A question that the application has not asked for yet, or a request for one. */
struct nd_ud_wait {
	STAILQ_ENTRY(nd_ud_wait) next;
	struct nd_overlapped *ov;
	struct nd_ud_question *question; /* the application's */
	struct ndsh_ev_ud_question ev;
};
STAILQ_HEAD(nd_ud_wait_list, nd_ud_wait);

struct nd_ud_listener { /* guarded by nd_adapter.lock */
	struct nd_object obj;
	struct nd_adapter *adapter;
	struct nd_listening at;
	struct nd_ud_wait_list questions, waiting; /* one of the two is empty */
	TAILQ_ENTRY(nd_ud_listener) link;
};

extern const struct nd_class nd_ud_listener_class;

/* The daemon tells of a question; by the control thread, nd_adapter.lock held. */
void nd_ud_question_event(struct nd_adapter *a, const struct ndsh_ev_ud_question *ev);
/* Complete the requests that wait for a question, in all listeners; nd_adapter.lock held. */
void nd_ud_listeners_end_waiters(struct nd_adapter *a, nd_status st);

#endif
