/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages about listeners and connections.
 *
 * Connections. A connection has an id from the reply to BIND or CONNECT, or from EV_CONN_REQUEST;
 * the id is good until the client's CONN_DESTROY, whatever becomes of the connection. CONN_DESTROY
 * at any time ends it in the way that fits its state (reject, disconnect); no event for the id
 * follows its reply.
 *   active:  [BIND -> reply(id) ->] CONNECT -> reply(id) -> EV_CONN_REPLY -> COMPLETE_CONNECT ->
 *            reply: established
 *   passive: EV_CONN_REQUEST -> ACCEPT -> reply -> EV_CONN_ESTABLISHED
 * EV_CONN_REPLY and EV_CONN_ESTABLISHED come once, with the outcome in h.status; after a failure
 * the connection is over and EV_CONN_DISCONNECTED does not come; one that has a BIND may CONNECT
 * again. EV_CONN_DISCONNECTED comes at most once: after an EV_CONN_REQUEST that was not yet
 * accepted, when the peer has given it up (NDSH_ERR_ABORTED, R-CONN-21); and for an established
 * connection (or after an EV_CONN_REPLY that said success): when the peer's DREQ came (NDSH_OK),
 * when the queue pair died (NDSH_ERR_ABORTED), or when the client's own DISCONNECT is done
 * (NDSH_OK, or NDSH_UNANSWERED if the peer never answered), whichever is first. DISCONNECT after
 * that event is answered, and makes no second one.
 */
#ifndef NDSH_MSG_CONN_H
#define NDSH_MSG_CONN_H

#include "ndsh_msg_hdr.h"

#define NDSH_CALLER_DATA_MAX 56u  /* private data of Connect (REQ) */
#define NDSH_CALLEE_DATA_MAX 196u /* of Accept (REP); Reject carries 148 */
#define NDSH_REJECT_DATA_MAX 148u

/* LISTENER_BIND and LISTENER_LISTEN in one. Reply: ndsh_listener_create_reply. */
struct ndsh_listener_create {
	struct ndsh_msg_hdr h;
	struct ndsh_addr addr; /* all-zero ip: all of the port opened; port 0: choose one */
	uint32_t backlog, reserved;
};
struct ndsh_listener_create_reply {
	struct ndsh_msg_hdr h;
	uint32_t listener, reserved;
	struct ndsh_addr addr;
};
struct ndsh_listener_listen { /* one that LISTENER_BIND made; once. Reply: ndsh_id_msg */
	struct ndsh_msg_hdr h;
	uint32_t listener, backlog;
};
struct ndsh_listener_pause { /* reply: ndsh_id_msg */
	struct ndsh_msg_hdr h;
	uint32_t listener;
	uint32_t pause; /* 1: refuse requests, as if there were no listener; 0: go on */
};
/* BIND: take a local port for a CONNECT to come; ENDPOINT_CREATE: for any number of them;
 * LISTENER_BIND: for a listener, which takes a wildcard as LISTENER_CREATE does. Reply:
 * ndsh_bind_reply. The port is free when all that have it were destroyed. */
struct ndsh_bind {
	struct ndsh_msg_hdr h;
	struct ndsh_addr addr; /* port 0: choose an ephemeral one */
};
struct ndsh_bind_reply {
	struct ndsh_msg_hdr h;
	uint32_t id; /* of the connection, the endpoint, or the listener */
	uint32_t reserved;
	struct ndsh_addr addr;
};
/* Where a traffic class has its ECN bits: congestion control of what the daemon sends for the
 * client. From minor version 8 on; before, 0. */
enum ndsh_ecn { NDSH_ECN_PORT, NDSH_ECN_OFF, NDSH_ECN_ON };
enum ndsh_local { NDSH_LOCAL_OWN, NDSH_LOCAL_BOUND, NDSH_LOCAL_SHARED };
struct ndsh_connect { /* reply: ndsh_id_msg with the connection's id; then EV_CONN_REPLY */
	struct ndsh_msg_hdr h;
	uint32_t qp;
	uint32_t priv_bytes;
	struct ndsh_addr local, remote;	       /* local: for LOCAL_OWN; port 0: choose one */
	uint8_t inbound_reads, outbound_reads; /* responder resources, initiator depth */
	uint8_t tos;			       /* DSCP << 2 | enum ndsh_ecn */
	uint8_t local_kind;		       /* enum ndsh_local */
	uint32_t local_id; /* BOUND: of the reply to BIND; SHARED: to ENDPOINT_CREATE */
	uint8_t priv[NDSH_CALLER_DATA_MAX];
};
struct ndsh_accept { /* reply: ndsh_id_msg; then EV_CONN_ESTABLISHED */
	struct ndsh_msg_hdr h;
	uint32_t conn, qp;
	uint32_t priv_bytes;
	uint8_t inbound_reads, outbound_reads;
	uint8_t ecn; /* enum ndsh_ecn */
	uint8_t reserved;
	uint8_t priv[NDSH_CALLEE_DATA_MAX];
};
struct ndsh_reject {
	struct ndsh_msg_hdr h;
	uint32_t conn, priv_bytes;
	uint8_t priv[NDSH_REJECT_DATA_MAX];
	uint32_t reserved;
};
struct ndsh_ev_conn {	       /* body of every EV_CONN_*; unused fields 0 */
	struct ndsh_msg_hdr h; /* status: the outcome */
	uint32_t conn, listener;
	struct ndsh_addr local, remote;
	uint32_t reject_reason; /* CM's code if the peer rejected, else 0 */
	uint32_t priv_bytes;	/* of the whole transport field: zero padded (R-CONN-08) */
	uint8_t inbound_reads, outbound_reads; /* seen from this side */
	uint8_t reserved[6];
	uint8_t priv[224];
};

#endif
