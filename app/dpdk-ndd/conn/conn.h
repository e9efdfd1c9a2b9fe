/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections: where the CM's exchange, a queue pair on a shard, the next hop and the client's
 * connector meet. shm/ndsh_msg_conn.h says which events the client gets, and how often.
 */
#ifndef NDD_CONN_H
#define NDD_CONN_H

#include <sys/queue.h>

#include "cm/cm.h"
#include "conn/ports.h"
#include "conn/sidr_user.h"
#include "hostnet/follower.h"
#include "lcore/caught_up.h"
#include "net/net.h"
#include "session/reply.h"

struct ndd;
struct ndd_qp;

enum ndd_conn_state {
	NDD_CONN_BOUND,	      /* active: has a local port */
	NDD_CONN_RESOLVING,   /* active: the next hop is being resolved */
	NDD_CONN_REQUESTED,   /* active: REQ sent */
	NDD_CONN_REPLIED,     /* active: REP came, the client is to complete */
	NDD_CONN_OFFERED,     /* passive: the client has the request */
	NDD_CONN_ACCEPTING,   /* passive: accepted, the next hop is being resolved */
	NDD_CONN_ACCEPTED,    /* passive: REP sent */
	NDD_CONN_ESTABLISHED, /* data flows */
	/* it ends here, when what its peer has sent is received (R-DISC-09, R-DISC-17) */
	NDD_CONN_LEAVING,
	NDD_CONN_CLOSING, /* our DREQ is under way */
	/* the peer's DREQ came: late acknowledgements have a moment left; with NDSH_OPEN_NO_FLUSH,
	 * as long as the client does not disconnect */
	NDD_CONN_FLUSHING,
	NDD_CONN_OVER,
};

struct ndd_conn {
	struct ndd_sidr_user sidr;    /* of datagrams */
	struct ndd_follower follower; /* but for LEAVING */
	TAILQ_ENTRY(ndd_conn) next_leaving;
	struct ndd_session *session;
	struct ndd_qp *qp;	 /* NULL until given, and when it is over */
	struct roce_cm_conn *cm; /* NULL: the CM knows nothing of it (yet, or any more) */
	uint32_t id, listener;
	enum ndd_conn_state state;
	struct ndd_moment left; /* LEAVING: since when */
	bool peer_left;		/* LEAVING: its DREQ has come */
	bool end_notified;	/* the client knows that it is over */
	bool bound;		/* by BIND: after a failure it may connect again */
	bool brought_up;	/* the queue pair went beyond INIT for it */
	bool by_numbers;	/* its client brings the queue pair up (conn/numbers.h) */
	bool datagrams;		/* a lookup of a service, or a request for one (conn/services.h) */
	struct ndd_port port;	/* local: from BIND, CONNECT or ACCEPT on, until it is destroyed */
	struct roce_cm_addr local, remote;
	uint32_t nic; /* passive: the port that has the local address */
	struct net_nexthop hop;
	struct roce_cm_qp_params peer;
	uint32_t peer_q_key;	      /* of datagrams */
	struct roce_cm_qp_params own; /* by_numbers: what its REQ or REP says of this side */
	struct ndsh_cm_permit permit; /* to say so */
	uint32_t flow_label;
	uint8_t tos, hop_limit, mtu_code, ack_timeout;
	uint8_t ecn;			    /* enum ndsh_ecn: tos is without it */
	uint8_t inbound, outbound;	    /* reads, seen from here */
	uint32_t keepalive_ms;		    /* from ESTABLISHED on */
	uint8_t priv[NDSH_CALLEE_DATA_MAX]; /* of our REQ or REP, while the hop is resolved */
	uint32_t priv_bytes;
};

/* A new entry of the session's table; NULL: no room. */
struct ndd_conn *ndd_conn_new(struct ndd_session *s, enum ndd_conn_state state);
void ndd_conn_free(struct ndd_session *s, void *conn);
/* The queue pair is this connection's until it is over. */
void ndd_conn_take_qp(struct ndd_conn *c, struct ndd_qp *qp);
/* Resolve the next hop from now on, for a bounded time: ndd_followers_tick() goes on, so that the
 * reply to the client's request leaves before any event. */
void ndd_conn_resolve_later(struct ndd_conn *c);
/* End it in the way that its state asks for; the client gets the one event that it waits for. */
void ndd_conn_fail(struct ndd_conn *c, enum ndsh_status status, const struct roce_cm_event *ev);
/* Over, for the CM too; the queue pair is free of it. */
void ndd_conn_over(struct ndd_conn *c);

ndd_handler ndd_conn_disconnect;

/* ---- what the CM and the engine report ---- */

/* How a Connect or a lookup fails that has had no answer. */
enum ndsh_status ndd_conn_unanswered(const struct roce_cm_event *ev);
void ndd_conn_on_rejected(struct ndd *d, const struct roce_cm_event *ev);
void ndd_conn_on_unreachable(struct ndd *d, const struct roce_cm_event *ev);
void ndd_conn_on_disconnected(struct ndd *d, const struct roce_cm_event *ev);

#endif
