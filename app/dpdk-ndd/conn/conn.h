/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections: where the CM's exchange, a queue pair on a shard, the next hop and the client's
 * connector meet. The rules for what the client is told, and how often, are in shm/ndsh_msg.h.
 */
#ifndef NDD_CONN_H
#define NDD_CONN_H

#include "session/session.h"

enum ndd_conn_state {
	NDD_CONN_BOUND,	      /* active: has a local port */
	NDD_CONN_RESOLVING,   /* active: asking for the next hop */
	NDD_CONN_REQUESTED,   /* active: REQ sent */
	NDD_CONN_REPLIED,     /* active: REP came, the client is to complete */
	NDD_CONN_OFFERED,     /* passive: the client has the request */
	NDD_CONN_ANSWERING,   /* passive: accepted, asking for the next hop */
	NDD_CONN_ACCEPTED,    /* passive: REP sent */
	NDD_CONN_ESTABLISHED, /* data flows */
	NDD_CONN_CLOSING,     /* our DREQ is under way */
	/* the peer's DREQ came: late acknowledgements have a moment left; with NDSH_OPEN_NO_FLUSH,
	 * as long as the client does not disconnect */
	NDD_CONN_FLUSHING,
	NDD_CONN_OVER,
};

struct ndd_conn {
	TAILQ_ENTRY(ndd_conn) next;
	struct ndd_session *session;
	struct ndd_qp *qp;	 /* NULL until given, and when it is over */
	struct roce_cm_conn *cm; /* NULL: the CM knows nothing of it (yet, or any more) */
	uint32_t id, listener;
	enum ndd_conn_state state;
	bool told_end;	      /* the client knows that it is over */
	bool bound;	      /* by BIND: after a failure it may connect again */
	bool brought_up;      /* the queue pair went beyond INIT for it */
	struct ndd_port port; /* local: from BIND, CONNECT or ACCEPT on, until it is destroyed */
	struct roce_cm_addr local, remote;
	struct net_nexthop hop;
	struct roce_cm_qp_params peer;
	uint64_t deadline_ns; /* RESOLVING, ANSWERING, FLUSHING; UINT64_MAX: none */
	bool fresh;	      /* the next hop was not yet asked for */
	uint32_t flow_label;
	uint8_t tos, hop_limit, mtu_code, ack_timeout;
	uint8_t ecn;			    /* enum ndsh_ecn: tos is without */
	uint8_t inbound, outbound;	    /* reads, seen from here */
	uint32_t keepalive_ms;		    /* from ESTABLISHED on */
	uint8_t priv[NDSH_CALLEE_DATA_MAX]; /* of our REQ or REP, while the next hop is asked for */
	uint32_t priv_bytes;
};

/* ---- conn.c ---- */

/* Ask for the next hop from now on, for a bounded time. */
void ndd_conn_ask(struct ndd_conn *c);
/* A new entry of the session's table; NULL: no room. */
struct ndd_conn *ndd_conn_new(struct ndd_session *s, enum ndd_conn_state state);
/* Tell the client; ev (may be NULL) has private data and reason. */
void ndd_conn_tell(
	struct ndd_conn *c, uint16_t type, enum ndsh_status status, const struct roce_cm_event *ev);
/* End it in whatever way its state asks for; the client gets the one event that it waits for. */
void ndd_conn_fail(struct ndd_conn *c, enum ndsh_status status, const struct roce_cm_event *ev);
/* Over, for the CM too; the queue pair is free of it. */
void ndd_conn_over(struct ndd_conn *c);
/* Deadlines, and changes of next hops. */
void ndd_conn_tick(struct ndd *d, uint64_t now_ns);
/* What the CM and the engine report. */
void ndd_conn_cm_event(struct ndd *d, const struct roce_cm_event *ev);
void ndd_conn_shard_event(struct ndd *d, const struct ndd_event *ev);

/* ---- endpoint.c ---- */

/* What a client says of a local address; the wildcard is that of its adapter. False: not of this
 * host. */
bool ndd_local_address(
	const struct ndd_session *s, const struct ndsh_addr *from, struct roce_cm_addr *to);
bool ndd_is_destination(const struct ndsh_addr *addr);
void ndd_local_told(const struct roce_cm_addr *addr, struct ndsh_bind_reply *r);

/* ---- conn_qp.c ---- */

uint8_t ndd_mtu_code(uint32_t bytes);
/* How often the peer is to try again when no receive is posted here. */
uint8_t ndd_conn_rnr_retry(const struct ndd_conn *c);
/* Table 3.5: the queue pair to RTR and RTS, acknowledged by its shard. */
bool ndd_conn_bring_up(struct ndd_conn *c);
/* Passive: the active side is ready. */
void ndd_conn_start_keepalive(struct ndd_conn *c);
/* Ask for the next hop. NDSH_PENDING: not known yet. */
enum ndsh_status ndd_conn_resolve(struct ndd_conn *c, uint64_t now_ns);
/* The next hop has another address now. */
void ndd_conn_refresh(struct ndd_conn *c, uint64_t now_ns);
/* A path's hop (ndd_path_hop()), and its source port by its flow label, else by both queue pairs
 * (W-CM-71). */
void ndd_path_via(
	struct roce_path *path, const struct net_nexthop *hop, uint32_t qpn, uint32_t peer_qpn);
/* The queue pair's next hop is now hop; *old becomes it. */
void ndd_path_moved(struct ndd_session *s, struct ndd_qp *qp, struct net_nexthop *old,
	const struct net_nexthop *hop);

/* ---- conn_active.c, conn_passive.c ---- */

void ndd_conn_send_request(struct ndd_conn *c, uint64_t now_ns);
void ndd_conn_replied(struct ndd_conn *c, const struct roce_cm_event *ev);
void ndd_conn_requested(struct ndd *d, const struct roce_cm_event *ev);
void ndd_conn_send_reply(struct ndd_conn *c, uint64_t now_ns);

#endif
