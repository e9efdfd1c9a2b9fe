/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection manager: IB CM over QP1 with the RDMA IP CM service, what
 * rdma_cm peers speak (reference section 3). Pure like the engine, with its own
 * clock: MADs and requests go in, MADs and events come out, time is an argument.
 * It knows QPNs and PSNs as numbers only; bringing queue pairs up is the host's work.
 */
#ifndef ROCE_CM_H
#define ROCE_CM_H

#include "roce/wire.h"

#define ROCE_CM_REQ_PRIV 56u
#define ROCE_CM_REP_PRIV 196u
#define ROCE_CM_REJ_PRIV 148u
#define ROCE_CM_PRIV_MAX 224u

struct roce_cm;
struct roce_cm_conn;
struct roce_cm_listener;

struct roce_cm_cfg {
	uint32_t max_conns, max_listeners;
	uint64_t secret[2];
	uint64_t ca_guid;
	uint64_t req_first_retry_ns; /* doubling up to 4 s (W-CM-60, -61); e.g. 200 ms */
	uint8_t max_retries;	     /* 15 */
};
size_t roce_cm_bytes(const struct roce_cm_cfg *cfg);
struct roce_cm *roce_cm_init(void *mem, const struct roce_cm_cfg *cfg);

/* ---- in and out --------------------------------------------------------------------------------- */

/* A MAD that arrived on QP1: the UD payload of pkt. Anything that is no valid CM MAD is counted and
 * dropped. port: host's number, kept for the answers. */
void roce_cm_rx(struct roce_cm *cm, uint64_t now_ns, const struct roce_pkt *pkt, uint32_t port);
struct roce_cm_tx {
	struct roce_gid sgid, dgid;
	uint32_t port; /* where the exchange began; UINT32_MAX: route by dgid */
	uint8_t tos, hop_limit;
	uint8_t mad[ROCE_MAD_BYTES];
};
/* Take one MAD to send as UD SEND Only to QP1; false: none. */
bool roce_cm_tx(struct roce_cm *cm, struct roce_cm_tx *tx);
/* Retransmissions, time-wait. */
void roce_cm_tick(struct roce_cm *cm, uint64_t now_ns);
uint64_t roce_cm_next_deadline(const struct roce_cm *cm); /* UINT64_MAX: none */

/* ---- values of a connection ----------------------------------------------------------------------- */

struct roce_cm_addr {
	struct roce_gid gid;
	uint16_t port; /* rdma_cm port, RDMA_PS_TCP */
};
/* What one side says of its queue pair in REQ or REP. */
struct roce_cm_qp_params {
	uint32_t qpn, psn; /* psn: the first that this side accepts (W-CM-31) */
	uint8_t responder_resources, initiator_depth; /* as their sender means them (W-CM-30) */
	uint8_t retry_count, rnr_retry;
	bool srq;
};
struct roce_cm_connect {
	struct roce_cm_addr local, remote;
	uint32_t port;
	struct roce_cm_qp_params qp;
	uint8_t mtu_code; /* 1..5 */
	uint8_t ack_timeout; /* local ACK timeout code of the path, W-CM-33; never 0 */
	uint8_t tos, hop_limit;
	uint32_t flow_label;
	const void *priv;
	uint32_t priv_bytes; /* 0..ROCE_CM_REQ_PRIV */
	void *owner;
};

enum roce_cm_event_type {
	ROCE_CM_EV_REQUEST,	  /* passive: accept or reject it (or roce_cm_destroy) */
	ROCE_CM_EV_REPLY,	  /* active: the peer accepted; bring the QP to RTS, then
				     roce_cm_complete() sends RTU */
	ROCE_CM_EV_ESTABLISHED,	  /* passive: RTU or COMM_EST */
	ROCE_CM_EV_REJECTED,	  /* active (or passive after REP): ev.reason, private data */
	ROCE_CM_EV_UNREACHABLE,	  /* no answer to REQ, or to REP, after all retries */
	ROCE_CM_EV_DISCONNECTED,  /* DREQ came, or REJ in established, or our disconnect is done */
};
struct roce_cm_event {
	enum roce_cm_event_type type;
	struct roce_cm_conn *conn;
	void *owner; /* of the connection; REQUEST: of the listener */
	struct roce_cm_addr local, remote;
	uint32_t port;
	struct roce_cm_qp_params peer; /* REQUEST, REPLY */
	uint8_t mtu_code, ack_timeout; /* REQUEST: of the REQ; REPLY: computed for our sender */
	uint8_t tos, hop_limit;
	uint32_t flow_label;
	uint16_t reason; /* REJECTED: CM reason code (3.8) */
	bool by_peer;	 /* DISCONNECTED: the peer ended it */
	uint8_t priv[ROCE_CM_PRIV_MAX];
	uint32_t priv_bytes; /* the whole field of the message, zero padded */
};
/* Take one event; false: none. */
bool roce_cm_event(struct roce_cm *cm, struct roce_cm_event *ev);

/* ---- requests of the host -------------------------------------------------------------------------- */

/* Listen on gid (all zero: any) and port (RDMA_PS_TCP). backlog: most REQUESTs neither accepted nor
 * rejected; 0: no limit. NULL: address in use, or no room (errno-free: *why says which). */
struct roce_cm_listener *roce_cm_listen(struct roce_cm *cm, const struct roce_cm_addr *addr,
	uint32_t backlog, void *owner, const char **why);
/* Requests not yet taken are rejected (reason 28... consumer). */
void roce_cm_unlisten(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_listener *l);

/* Send a REQ. NULL: no room. */
struct roce_cm_conn *roce_cm_connect(
	struct roce_cm *cm, uint64_t now_ns, const struct roce_cm_connect *c);
/* Active, after REPLY: send RTU. */
void roce_cm_complete(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *conn);
/* Passive, after REQUEST, when the QP is in RTS: send REP (W-CM-35). owner: of later events. */
void roce_cm_accept(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *conn,
	const struct roce_cm_qp_params *qp, const void *priv, uint32_t priv_bytes, void *owner);
/* Passive after REQUEST, or active after REPLY: send REJ with this reason (28: consumer). */
void roce_cm_reject(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *conn, uint16_t reason,
	const void *priv, uint32_t priv_bytes);
/* The QP saw the first request before RTU (W-CM-35). */
void roce_cm_established(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *conn);
/* Send DREQ; DISCONNECTED follows after DREP or the retries. */
void roce_cm_disconnect(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *conn);
/* The host forgets the connection, in any state: the peer is told (REJ or DREQ) as far as the state
 * asks for it, no event follows, and the CM keeps what time-wait needs. */
void roce_cm_destroy(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *conn);

/* Time-wait ends: the QPN may be used again (W-CM-52). True while qpn must rest. */
bool roce_cm_qpn_resting(const struct roce_cm *cm, uint32_t qpn);

#define ROCE_CM_COUNTERS(X)                                                                        \
	X(rx_req) X(rx_rep) X(rx_rtu) X(rx_rej) X(rx_dreq) X(rx_drep) X(rx_mra) X(rx_dropped)      \
	X(rx_duplicate) X(rx_malformed) X(tx_mads) X(tx_retries) X(timeouts) X(stale)              \
	X(rejected_no_listener) X(rejected_backlog) X(no_resources)
struct roce_cm_counters {
#define ROCE_X(n) uint64_t n;
	ROCE_CM_COUNTERS(ROCE_X)
#undef ROCE_X
};
const struct roce_cm_counters *roce_cm_counters(const struct roce_cm *cm);
struct roce_cm_usage {
	uint32_t conns, timewait, listeners;
};
void roce_cm_usage(const struct roce_cm *cm, struct roce_cm_usage *u);
const char *roce_cm_reason_name(uint16_t reason); /* "invalid service ID (nobody listens)" ... */

#endif
