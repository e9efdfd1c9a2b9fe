/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection manager: IB CM over QP1 (IBTA volume 1, chapter 12) with the RDMA IP CM service
 * (annex A11), which rdma_cm peers speak. Pure like the engine, with its own clock: MADs and
 * requests go in, MADs and events come out, time is an argument. It knows QPNs and PSNs as numbers
 * only; bringing queue pairs up is the work of the host, the program around it.
 */
#ifndef ROCE_CM_H
#define ROCE_CM_H

#include "cm/reason.h"
#include "wire/gid.h"
#include "wire/packet.h"
#include "wire/protocol.h"

#define ROCE_CM_REQ_PRIV 56u
#define ROCE_CM_REP_PRIV 196u
#define ROCE_CM_REJ_PRIV 148u
#define ROCE_CM_PRIV_MAX 224u
#define ROCE_CM_BACKLOG	 1024u /* of a listener that names none */

struct roce_cm;
struct roce_cm_conn;
struct roce_cm_listener;

struct roce_cm_cfg {
	/*
	 * The table of connections has two parts: those that begin here, SIDR queries included, and
	 * those that peers ask for. Each part is for its own alone, from the REQ to the end of
	 * time-wait; so whatever peers ask for, the host can connect, and the other way round.
	 */
	uint32_t max_active, max_passive;
	/* Of either a user gets seven eighths, and of the latter a listener no more than that; an
	 * IP address gets a half of what its listener gets, an IPv6 subnet two thirds; and of what
	 * these leave, the next ones as much (base/share.h). */
	/* REQs, SIDR_REQs and DREQs of unknown connections that an IP address may send in a second
	 * (0: 4,000), and so many at once (0: 8,000); an IPv6 subnet eight times as many. What is
	 * beyond that is dropped. */
	uint32_t source_rate, source_burst;
	uint32_t max_listeners;
	uint64_t secret[2];
	uint64_t ca_guid;
	/*
	 * Retransmission (W-CM-60, -61): the interval doubles from req_first_retry_ns (0: 200 ms)
	 * up to some 4 s. How long a silent peer is waited for is agreed by the REQ, since not
	 * every peer sends an MRA when its application is slow (W-CM-62):
	 *
	 *   REP, SIDR_REP  max_retries (0..15) + 1 times 4.6 s; 15 makes 74 s, as Linux
	 *   RTU            as the peer's REQ says, from give_up_ns to 300 s
	 *   DREP           give_up_ns (0: 10 s)
	 *
	 * An MRA, which says that the peer lives, starts all anew.
	 */
	uint64_t req_first_retry_ns;
	uint64_t give_up_ns;
	uint8_t max_retries; /* our REQ says it to the peer */
};
/* Bytes of memory that a CM needs; 0: cfg is out of range. */
size_t roce_cm_bytes(const struct roce_cm_cfg *cfg);
/* mem is zeroed, of roce_cm_bytes(cfg), 64-byte aligned. */
struct roce_cm *roce_cm_init(void *mem, const struct roce_cm_cfg *cfg);

/* ---- in and out ------------------------------------------------------------------------------ */

/* A MAD that arrived on QP1: the UD payload of pkt. Anything that is no valid CM MAD is counted and
 * dropped. port: the host's number of the port that has the address to which it was sent. */
void roce_cm_rx(struct roce_cm *cm, uint64_t now_ns, const struct roce_pkt *pkt, uint32_t port);
struct roce_cm_tx {
	struct roce_gid sgid, dgid;
	uint32_t port; /* where the exchange began; UINT32_MAX: route by dgid */
	uint8_t tos, hop_limit;
	bool ours; /* of an exchange that began here */
	uint8_t mad[ROCE_MAD_BYTES];
};
/* What a message from the network says of a MAD of ours. */
enum roce_cm_undelivered {
	ROCE_CM_UNANSWERED, /* nothing */
	ROCE_CM_NO_SERVICE, /* its host is there, and takes no RoCEv2 */
	ROCE_CM_NO_WAY,	    /* it did not get as far as its host */
};
/* The network says so of this MAD, which was sent to that address. It counts for a REQ or SIDR_REQ
 * that has had no answer, and may end what that began (W-CM-64). */
void roce_cm_undelivered(struct roce_cm *cm, uint64_t now_ns, const struct roce_gid *to,
	const uint8_t mad[ROCE_MAD_BYTES], enum roce_cm_undelivered why);
/* Take one MAD to send as UD SEND Only to QP1; false: none. */
bool roce_cm_tx(struct roce_cm *cm, struct roce_cm_tx *tx);
/* Retransmissions, time-wait: a few hundred; the rest have their deadline behind them still. */
void roce_cm_tick(struct roce_cm *cm, uint64_t now_ns);
/* A MAD or an event waits to be taken. */
bool roce_cm_has_work(const struct roce_cm *cm);
uint64_t roce_cm_next_deadline(const struct roce_cm *cm); /* UINT64_MAX: none */

/* ---- values of a connection ------------------------------------------------------------------ */

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
/* The flow label of rdma_cm's active side (W-CM-70). */
static inline uint32_t
roce_cm_flow_label(uint16_t local_port, uint16_t remote_port)
{
	return (local_port * 31u + remote_port) & 0xfffff;
}
struct roce_cm_connect {
	struct roce_cm_addr local, remote;
	uint32_t port;
	uint32_t user; /* the number of the user that it is for */
	struct roce_cm_qp_params qp;
	uint8_t mtu_code;	/* 1..5 */
	uint8_t ack_timeout;	/* local ACK timeout code of the path; 0: Linux's 17 (W-CM-33) */
	uint8_t tos, hop_limit; /* hop_limit 0: 64 */
	uint8_t sl; /* 0..7: the priority of the path's VLAN tag; 0 without one (W-CM-73) */
	uint32_t flow_label; /* 20 bits; 0: roce_cm_flow_label() of the ports */
	const void *priv;
	uint32_t priv_bytes; /* 0..ROCE_CM_REQ_PRIV */
	void *owner;
};

/*
 * REJECTED, UNREACHABLE and DISCONNECTED are the end: at most one of them, and nothing after
 * it. The handle stays valid, and calls on it do nothing, until roce_cm_destroy().
 */
enum roce_cm_event_type {
	ROCE_CM_EV_REQUEST,	 /* passive: accept or reject it (or roce_cm_destroy) */
	ROCE_CM_EV_REPLY,	 /* active: the peer accepted; bring the QP to RTS, then
				     roce_cm_complete() sends RTU */
	ROCE_CM_EV_ESTABLISHED,	 /* passive: RTU or COMM_EST */
	ROCE_CM_EV_REJECTED,	 /* before established: ev.reason, private data */
	ROCE_CM_EV_UNREACHABLE,	 /* no answer to REQ, or to REP, after all retries, or as
				     roce_cm_undelivered() said; a peer that has not repeated its
				     REQ for so long that it must be gone */
	ROCE_CM_EV_DISCONNECTED, /* DREQ came, or REJ in established, or our disconnect is done */
	ROCE_CM_EV_SIDR_REQUEST, /* of datagram services: cm/sidr.h */
	ROCE_CM_EV_SIDR_REPLY,
	ROCE_CM_EV_SIDR_GONE,
};
struct roce_cm_event {
	enum roce_cm_event_type type;
	struct roce_cm_conn *conn;
	/* Of the connection (NULL until it got one); REQUEST, SIDR_REQUEST: of the listener. */
	void *owner;
	struct roce_cm_addr local, remote;
	uint32_t port;
	struct roce_cm_qp_params peer; /* REQUEST, REPLY */
	uint8_t mtu_code;
	uint8_t ack_timeout;	/* of the REQ, may be 0 (W-CM-33); REPLY: for our sender */
	uint8_t tos, hop_limit; /* hop_limit is never 0 */
	uint32_t flow_label;
	uint32_t q_key; /* SIDR_REPLY */
	/* From here on 0 in events of all types but those that are named. */
	uint16_t reason; /* REJECTED: enum roce_cm_reason; SIDR_REPLY: its status */
	bool by_peer;	 /* DISCONNECTED: the peer ended it */
	bool timed_out;	 /* DISCONNECTED, SIDR_REPLY: no answer to our DREQ, or query, came */
	/* UNREACHABLE, and SIDR_REPLY if timed_out: why, as far as the network says it. */
	enum roce_cm_undelivered undelivered;
	/* REQUEST, REPLY, REJECTED, SIDR_REQUEST, SIDR_REPLY: the whole field of the message, zero
	 * padded; none if no message was behind it. */
	uint8_t priv[ROCE_CM_PRIV_MAX];
	uint32_t priv_bytes;
};
/* Take one event; false: none. */
bool roce_cm_event(struct roce_cm *cm, struct roce_cm_event *ev);

/* ---- requests of the host -------------------------------------------------------------------- */

/* Listen on gid and port (RDMA_PS_TCP). gid all zero: any address of the host's port nic, as
 * roce_cm_rx() has it. backlog: most REQUESTs neither accepted nor rejected; 0: ROCE_CM_BACKLOG.
 * One more is refused with the reason CONSUMER, which librdmacm reports as "connection refused"; a
 * CM without room for it answers NO_RESOURCES. NULL: address in use, or no room: *why says which
 * (why may be NULL).
 */
struct roce_cm_listener *roce_cm_listen(struct roce_cm *cm, const struct roce_cm_addr *addr,
	uint32_t nic, uint32_t backlog, void *owner, const char **why);
/* Requests with an event that was not yet taken are rejected (CONSUMER); those taken live on. */
void roce_cm_unlisten(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_listener *l);

/* It is there on behalf of the user with this number, and so is what peers ask of it from now on;
 * without this call, of number 0. */
void roce_cm_listener_of(struct roce_cm_listener *l, uint32_t user);
/* Of the active part this user shall have n whatever others have. False: there are not so many.
 * Before it connects. */
bool roce_cm_reserve(struct roce_cm *cm, uint32_t user, uint32_t n);

/* Requests are answered as if there were no listener, until it goes on (R-LSN-06). */
void roce_cm_listener_pause(struct roce_cm_listener *l, bool pause);

/* Send a REQ. NULL: the active part is full, its user has its share of it, or priv_bytes is too
 * large. */
struct roce_cm_conn *roce_cm_connect(
	struct roce_cm *cm, uint64_t now_ns, const struct roce_cm_connect *c);
/* The owner named in events between REQUEST and roce_cm_accept(). */
void roce_cm_set_owner(struct roce_cm_conn *conn, void *owner);

/* The next four return false, and do nothing, if the connection is not in the state for them (the
 * peer ended it, and the event that says so is already raised) or if priv_bytes is too large. */

/* Active, after REPLY: send RTU. */
bool roce_cm_complete(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *conn);
/* Passive, after REQUEST, when the QP is in RTS: send REP (W-CM-35). Its responder_resources and
 * initiator_depth are lowered to what the REQ offers (W-CM-30). owner: of later events. */
bool roce_cm_accept(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *conn,
	const struct roce_cm_qp_params *qp, const void *priv, uint32_t priv_bytes, void *owner);
/* Passive after REQUEST, or active after REPLY: send REJ with this reason. No event
 * follows. */
bool roce_cm_reject(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *conn, uint16_t reason,
	const void *priv, uint32_t priv_bytes);
/* Passive after REQUEST: reject with INVALID_MTU, naming the largest path MTU here (W-CM-32). */
bool roce_cm_reject_mtu(
	struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *conn, uint8_t max_mtu_code);
/* The QP saw the first request before RTU (W-CM-35). */
void roce_cm_established(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *conn);
/* Send DREQ; DISCONNECTED follows after DREP or the retries. Before established: give the attempt
 * up as roce_cm_destroy() does; DISCONNECTED follows at once. */
void roce_cm_disconnect(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *conn);
/* The host forgets the connection, in any state: the peer is told (REJ or DREQ) as far as the state
 * asks for it, no event follows, and the CM keeps what time-wait needs. */
void roce_cm_destroy(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *conn);

/* True while a connection has this QPN of ours, in time-wait at the latest: it must not be given
 * to a new QP (W-CM-52). */
bool roce_cm_qpn_resting(const struct roce_cm *cm, uint32_t qpn);

/* clang-format off */
#define ROCE_CM_COUNTERS(X)                                                                        \
	X(rx_req) X(rx_rep) X(rx_rtu) X(rx_rej) X(rx_dreq) X(rx_drep) X(rx_mra) X(rx_dropped)      \
	X(rx_sidr_req) X(rx_sidr_rep)                                                              \
	X(rx_duplicate) X(rx_malformed) X(tx_mads) X(tx_retries) X(timeouts) X(stale)              \
	X(rejected_no_listener) X(rejected_backlog) X(rejected_invalid) X(rejected_source)         \
	X(rejected_listener) X(connects_refused) X(no_resources)                                   \
	X(rx_over_rate) X(challenges) X(tx_dropped) X(undelivered)
/* clang-format on */
struct roce_cm_counters {
#define ROCE_X(n) uint64_t n;
	ROCE_CM_COUNTERS(ROCE_X)
#undef ROCE_X
};
const struct roce_cm_counters *roce_cm_counters(const struct roce_cm *cm);
struct roce_cm_usage {
	uint32_t conns;		      /* all, those in time-wait included */
	uint32_t active;	      /* those of them that began here */
	uint32_t timewait, listeners; /* timewait: kept SIDR replies count, too */
};
void roce_cm_usage(const struct roce_cm *cm, struct roce_cm_usage *u);

#endif
