/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners. */
#ifndef ND_LISTENER_H
#define ND_LISTENER_H

#include <sys/queue.h>

#include "ndclient/conn/listening.h"
#include "ndclient/ndclient.h"
#include "ndclient/session/object.h"
#include "shm/ndsh_msg.h"

struct nd_conn_request { /* one that the application has not asked for yet */
	STAILQ_ENTRY(nd_conn_request) next;
	struct ndsh_ev_conn ev;
	bool vanished; /* its peer has given it up */
};

struct nd_listener { /* guarded by nd_adapter.lock */
	struct nd_object obj;
	struct nd_adapter *adapter;
	struct nd_listening at;
	nd_connect_callback callback; /* or NULL; set once */
	void *callback_context;
	STAILQ_HEAD(, nd_conn_request) requests; /* one of the two is empty */
	TAILQ_HEAD(, nd_connector) waiting;
	TAILQ_ENTRY(nd_listener) link;
};

extern const struct nd_class nd_listener_class;

/* The daemon tells of a request to connect; by the control thread, nd_adapter.lock held. */
void nd_listener_request(struct nd_adapter *a, const struct ndsh_ev_conn *ev);
/* ... or that the peer has given that request up. It stays, and its connector says so. */
void nd_listener_request_vanished(struct nd_adapter *a, uint32_t conn);

#endif
