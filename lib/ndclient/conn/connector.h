/* SPDX-License-Identifier: BSD-3-Clause */
/* Connectors. */
#ifndef ND_CONNECTOR_H
#define ND_CONNECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ndclient/ndclient.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/object.h"
#include "ndclient/session/waiters.h"
#include "shm/ndsh_msg.h"

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
	bool vanished; /* the peer gave its request up before we accepted (R-CONN-21) */
	bool ended;    /* the end was told before the reply to our disconnect */
	uint32_t id;
	uint32_t calls; /* of overlapped requests, that the daemon has not yet answered */
	uint32_t reject_reason;
	struct nd_endpoint *endpoint; /* that lends it its address, or NULL */
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

extern const struct nd_class nd_connector_class;

/* The daemon knows the connector by that id; nd_adapter.lock held, also in the next four. */
void nd_conn_set_id(struct nd_connector *c, uint32_t id);
/* Has it a port of its own? The daemon then knows it by one id for all its attempts. */
static inline bool
nd_conn_has_port(const struct nd_connector *c)
{
	return c->bound && c->endpoint == NULL;
}
/* The connection does not need its queue pair any more. */
void nd_conn_release_qp(struct nd_connector *c, enum nd_qp_state state);
/* The disconnect that is under way is over, as end_status says. */
void nd_conn_disconnected(struct nd_connector *c);
/* The peer of a request has gone. */
void nd_conn_vanish(struct nd_connector *c);
/* Complete what is under way with that status. */
void nd_conn_end_waiters(struct nd_connector *c, nd_status st);
/* Forget the daemon's connection, if there is one. Lock not held. */
void nd_conn_drop_id(struct nd_connector *c);

#endif
