/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages about connections by numbers, all from minor version 14 on: the CM's exchange alone, for
 * clients that take their queue pairs through their states themselves (QP_MODIFY).
 *
 * Ports. LISTENER_BIND takes one, before it is known what for: CM_LISTEN, or any number of
 * CM_CONNECT from there. It is free again with LISTENER_DESTROY, whatever connections are left:
 * they hold none.
 *
 * Connections. As in ndsh_msg_conn.h, with CM_CONNECT and CM_ACCEPT in the place of CONNECT and
 * ACCEPT, and each event an EV_CM, whose kind is that of the event there. COMPLETE_CONNECT says
 * that the queue pair is ready, and the RTU leaves; DISCONNECT sends a DREQ. Neither these nor the
 * peer's DREQ do anything to the queue pair, and a queue pair that fails does nothing to the
 * connection.
 *
 * Queue pairs. A REQ or REP that names a queue pair can end connections that the peer has with that
 * one. So it has to be one of the client's own: of this session, or of another one that
 * has asked for a permit and given it away. It may be of any type and in any state.
 *
 * Datagram services, from minor version 15 on. CM_UD_BIND is LISTENER_BIND in their port space;
 * what it gives is for CM_LISTEN, or for any number of CM_LOOK_UP. Lookups, and requests of peers,
 * are connections that are over with their answer. A lookup ends with an EV_CM of a reply: qpn and
 * q_key are the service's, or reject_reason is the status of the SIDR reply. A request is an EV_CM
 * of a request; CM_ACCEPT or REJECT, with at most NDSH_ANSWER_DATA_MAX bytes, sends the reply, and
 * no event follows. Before that, an EV_CM of a disconnect (NDSH_ERR_ABORTED) says that the peer has
 * not asked for so long that it must be gone.
 */
#ifndef NDSH_MSG_CM_H
#define NDSH_MSG_CM_H

#include "ndsh_msg_conn.h"
#include "ndsh_msg_hdr.h"
#include "ndsh_msg_ud.h"

/* The right to name this queue pair, for all sessions of the same principal, as long as it is
 * there. CM_PERMIT names the queue pair by an ndsh_id_msg. */
struct ndsh_cm_permit {
	uint64_t session, key;
	uint32_t qp, qpn;
};
struct ndsh_cm_permit_reply {
	struct ndsh_msg_hdr h;
	struct ndsh_cm_permit permit;
};
struct ndsh_cm_values { /* what a side says of its queue pair */
	uint32_t qpn;	/* requests: 0, it is the permit's */
	union {
		uint32_t psn;	/* the first that it accepts */
		uint32_t q_key; /* of datagram services, which have neither this nor the rest */
	};
	uint8_t inbound_reads, outbound_reads; /* in requests and events as this side means them */
	uint8_t retries, rnr_retries;	       /* 0 to 7 */
	uint8_t srq;			       /* 1: it has a shared receive queue */
	uint8_t reserved[3];
};
struct ndsh_cm_connect { /* reply: ndsh_id_msg with the connection's id; then EV_CM of a reply */
	struct ndsh_msg_hdr h;
	struct ndsh_cm_permit permit;
	struct ndsh_cm_values own;
	struct ndsh_addr remote;
	uint32_t listener; /* that LISTENER_BIND gave, of one address, and that does not listen */
	uint32_t priv_bytes;
	uint8_t priv[NDSH_CALLER_DATA_MAX];
	uint8_t tos; /* its ECN bits are 0 */
	uint8_t reserved[7];
};
struct ndsh_cm_accept { /* reply: ndsh_id_msg; then EV_CM of the establishment */
	struct ndsh_msg_hdr h;
	struct ndsh_cm_permit permit;
	struct ndsh_cm_values own;
	uint32_t conn, priv_bytes;
	uint8_t priv[NDSH_CALLEE_DATA_MAX];
	uint32_t reserved;
};
/* CM_LOOK_UP. Reply: ndsh_id_msg with the id of a connection; then EV_CM of a reply. */
struct ndsh_cm_look_up {
	struct ndsh_msg_hdr h;
	struct ndsh_addr remote; /* port: of the service */
	uint32_t listener; /* that CM_UD_BIND gave, of one address, and that does not listen */
	uint32_t priv_bytes;
	uint8_t priv[NDSH_LOOKUP_DATA_MAX];
	uint8_t tos; /* its ECN bits are 0 */
	uint8_t reserved[3];
};
struct ndsh_ev_cm {	       /* unused fields 0 */
	struct ndsh_msg_hdr h; /* status: the outcome */
	uint32_t conn, listener;
	struct ndsh_addr local, remote;
	uint32_t kind;		    /* NDSH_EV_CONN_* */
	uint32_t reject_reason;	    /* CM's code if the peer rejected, else 0 */
	struct ndsh_cm_values peer; /* of requests and replies */
	uint32_t mtu_bytes;
	uint32_t flow_label;
	uint8_t ack_timeout; /* for what is sent from here */
	uint8_t tos, hop_limit;
	uint8_t reserved;
	uint32_t priv_bytes; /* of the whole transport field: zero padded */
	uint8_t priv[224];
};

#endif
