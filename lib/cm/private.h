/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside the connection manager. One struct roce_cm_conn is one exchange with one peer;
 * all of its states, timers and lists hang on it, nothing is allocated after init.
 *
 *	cm_codec	MADs to values and back
 *	cm_conn		memory, life and end of a connection, its events
 *	cm_send		what is to be sent, and the MAD for it
 *	cm_recv		what arrived: checks, then to the one of the three below
 *	cm_active	REQ out, REP in, RTU out
 *	cm_passive	listeners, REQ in, REP out, RTU in
 *	cm_sidr		lookups of datagram services, both roles
 *	cm_disconnect	REJ, DREQ, DREP; the host's reject, disconnect and destroy
 *	cm_timer	deadlines and what they mean
 *	cm_table	how a connection is found
 */
#ifndef ROCE_CM_INT_H
#define ROCE_CM_INT_H

#include <sys/queue.h>

#include "cm/cm.h"
#include "cm/codec.h"
#include "cm/sidr.h"

#define CM_MS			  1000000ull
#define CM_RETRY_CAP_NS		  (4000 * CM_MS) /* W-CM-60 */
#define CM_FIRST_RETRY_DEFAULT_NS (200 * CM_MS)
#define CM_GIVE_UP_DEFAULT_NS	  (10000 * CM_MS) /* roce_cm_cfg.give_up_ns */
#define CM_MIN_RETRIES		  3u /* even if the host slept past the time to give up */
#define CM_SLOW_ACCEPT_NS	  (1000 * CM_MS)  /* W-CM-50 */
#define CM_REFUSED_HOLD_NS	  (10000 * CM_MS) /* as long as our own REQs last */
#define CM_SERVICE_TIMEOUT	  24u		  /* in our MRA, W-CM-50 */
#define CM_RESPONSE_TIMEOUT	  20u		  /* in our REQ, 3.7 */
#define CM_PEER_MAX_RETRIES	  15u		  /* in our REQ, 3.7 */
#define CM_PACKET_LIFETIME	  16u		  /* 3.7 */
#define CM_TARGET_ACK_DELAY	  15u		  /* in our REP; rxe's value, W-CM-33 */
#define CM_ACK_TIMEOUT		  17u		  /* that those two make */
#define CM_STATELESS		  128u		  /* answers that no connection stands behind */
#define CM_LISTENER_BUCKETS	  64u

/*
 * 3.6, with two simplifications: DREQ_RCVD does not exist because we answer a DREQ at once
 * (TIMEWAIT with a DREP to send), and IDLE is split into free memory and DEAD: the exchange
 * is over, but the host holds the handle or a last answer is still to be sent.
 */
enum cm_state {
	CM_FREE,
	CM_REQ_SENT, /* active */
	CM_MRA_REQ_RCVD,
	CM_REP_RCVD,
	CM_MRA_REP_SENT,
	CM_REQ_RCVD, /* passive */
	CM_MRA_REQ_SENT,
	CM_REP_SENT,
	CM_MRA_REP_RCVD,
	CM_ESTABLISHED, /* both */
	CM_DREQ_SENT,
	CM_TIMEWAIT,
	CM_DEAD,
	CM_SIDR_SENT, /* a lookup: we ask */
	CM_SIDR_RCVD, /* we are asked */
	CM_SIDR_ANSWERED,
	CM_STATES,
};

/* Messages of a connection that wait to be sent, in the order in which they must leave. */
enum {
	CM_TX_REQ = 1u << 0,
	CM_TX_MRA = 1u << 1,
	CM_TX_REP = 1u << 2,
	CM_TX_RTU = 1u << 3,
	CM_TX_DREQ = 1u << 4,
	CM_TX_DREP = 1u << 5,
	CM_TX_REJ = 1u << 6,
	CM_TX_SIDR = 1u << 7, /* SIDR_REQ if active, else SIDR_REP */
};

/* The ways to find a connection; each is a hash table. */
enum cm_table {
	CM_BY_LOCAL_ID,
	CM_BY_REMOTE_ID,  /* (CA GUID, GID, comm id) of the peer */
	CM_BY_REMOTE_QPN, /* (CA GUID, GID, QPN) of the peer */
	CM_BY_LOCAL_QPN,
	CM_BY_SIDR_ID, /* lookups alone: by our id; by (GID, id) of who asks */
	CM_TABLES,
};

LIST_HEAD(cm_bucket, roce_cm_conn);

struct roce_cm_conn {
	LIST_ENTRY(roce_cm_conn) link[CM_TABLES]; /* le_prev NULL: not in that table */
	TAILQ_ENTRY(roce_cm_conn) tx_entry, ev_entry;
	LIST_ENTRY(roce_cm_conn) list_entry; /* free list, or requests of the listener */
	struct roce_cm_listener *listener;   /* until accepted or refused */
	void *owner;

	uint8_t state;	     /* enum cm_state */
	uint8_t tx;	     /* CM_TX_ bits */
	uint16_t events;     /* 1 << enum roce_cm_event_type */
	bool active;	     /* we sent the REQ */
	bool host_holds;     /* the host has the handle and did not destroy it */
	bool refused;	     /* TIMEWAIT after our REJ: repeat it when asked again */
	bool rej_without_id; /* our REJ carries comm id 0 (W-CM-48) */
	uint8_t rej_which;
	uint16_t rej_reason; /* of our REJ, or SIDR_REP */
	uint8_t ari_bytes, ari[8];

	uint32_t local_id, remote_id; /* remote_id 0: not known yet */
	uint64_t remote_guid;
	uint64_t tid, dreq_tid, drep_tid;
	struct roce_cm_addr local, remote;
	uint32_t port;
	struct roce_cm_qp_params qp, peer;
	uint32_t q_key; /* that goes with a lookup's queue pair */
	uint8_t mtu_code;
	uint8_t ack_timeout;	   /* of the REQ */
	uint8_t reply_ack_timeout; /* what REP makes of it for our sender */
	uint8_t tos, hop_limit;
	uint32_t flow_label;

	uint32_t timer_pos; /* 1 + index in the heap; 0: none */
	uint8_t retries;
	uint64_t deadline_ns, retry_ns, give_up_ns;

	uint16_t ev_reason;
	bool ev_by_peer, ev_timed_out;
	uint16_t in_priv_bytes, out_priv_bytes;
	uint8_t in_priv[ROCE_CM_REP_PRIV];  /* of the message behind the pending event */
	uint8_t out_priv[ROCE_CM_REP_PRIV]; /* of our REQ, REP or REJ */
};
LIST_HEAD(cm_conn_list, roce_cm_conn);
TAILQ_HEAD(cm_conn_queue, roce_cm_conn);

struct roce_cm_listener {
	LIST_ENTRY(roce_cm_listener) entry;
	struct cm_conn_list requests;
	uint64_t service;
	struct roce_cm_addr addr;
	uint32_t backlog, pending;
	bool paused;
	void *owner;
};
LIST_HEAD(cm_listener_list, roce_cm_listener);

struct roce_cm {
	struct roce_cm_cfg cfg;
	struct roce_cm_counters counters;
	struct roce_cm_usage usage;
	uint32_t refused;	/* connections with .refused */
	uint32_t sidr_requests; /* in SIDR_RCVD and SIDR_ANSWERED */
	uint32_t next_id, next_tid;
	struct roce_cm_conn *conns;
	struct cm_conn_list free_conns; /* used before */
	uint32_t fresh_conns;		/* conns[] from here on were never used */
	struct cm_bucket *buckets[CM_TABLES];
	uint32_t bucket_mask;
	struct cm_listener_list free_listeners, listeners[CM_LISTENER_BUCKETS];
	struct cm_conn_queue tx_queue, ev_queue;
	struct roce_cm_conn **heap;
	uint32_t heap_n;
	struct roce_cm_tx *stateless; /* a ring */
	uint32_t stateless_head, stateless_n;
};

/* A MAD that arrived. */
struct cm_in {
	uint64_t now_ns;
	uint32_t port;
	uint8_t tos;
	struct roce_gid local, remote;
	struct cm_mad mad;
};

/* ---- cm_table.c ---- */
void cm_table_link(struct roce_cm *cm, struct roce_cm_conn *c, enum cm_table t);
void cm_table_unlink(struct roce_cm_conn *c, enum cm_table t);
struct roce_cm_conn *cm_find_local_id(const struct roce_cm *cm, uint32_t local_id);
/* The connection that a MAD from this peer means by our comm id; NULL: another peer's. */
struct roce_cm_conn *cm_find_mine(const struct roce_cm *cm, const struct cm_in *in);
/* By both comm ids. */
struct roce_cm_conn *cm_find_both(const struct roce_cm *cm, const struct cm_in *in);
struct roce_cm_conn *cm_find_remote_id(
	const struct roce_cm *cm, uint64_t guid, const struct roce_gid *gid, uint32_t remote_id);
struct roce_cm_conn *cm_find_remote_qpn(
	const struct roce_cm *cm, uint64_t guid, const struct roce_gid *gid, uint32_t qpn);
/* The lookup of ours that a SIDR_REP answers; the question that a SIDR_REQ repeats. */
struct roce_cm_conn *cm_find_sidr_query(const struct roce_cm *cm, const struct cm_in *in);
struct roce_cm_conn *cm_find_sidr_request(const struct roce_cm *cm, const struct cm_in *in);
/* A comm id that nobody can guess and that no connection has (W-CM-40). */
uint32_t cm_new_id(struct roce_cm *cm);
uint64_t cm_new_tid(struct roce_cm *cm, uint32_t local_id);

/* ---- cm_conn.c ---- */
struct roce_cm_conn *cm_conn_new(struct roce_cm *cm, enum cm_state state);
/* Every change of state; messages that make no sense in the new one are withdrawn. */
void cm_conn_state(struct roce_cm *cm, struct roce_cm_conn *c, enum cm_state state);
/* The exchange is over. Time-wait keeps the comm ids and our QPN until it ends. */
void cm_conn_timewait(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c);
/* After the next two c may be gone: the memory goes back when neither we nor the host need it. */
void cm_conn_dead(struct roce_cm *cm, struct roce_cm_conn *c);
void cm_conn_put(struct roce_cm *cm, struct roce_cm_conn *c);
void cm_event_raise(struct roce_cm *cm, struct roce_cm_conn *c, enum roce_cm_event_type type);
/* type: REQUEST or QUESTION */
void cm_event_request(struct roce_cm *cm, struct roce_cm_conn *c, enum roce_cm_event_type type);
void cm_event_forget(struct roce_cm *cm, struct roce_cm_conn *c);
void cm_set_in_priv(struct roce_cm_conn *c, const uint8_t *priv, uint32_t bytes);
bool cm_set_out_priv(struct roce_cm_conn *c, const void *priv, uint32_t bytes, uint32_t room);

/* ---- cm_send.c ---- */
/* Add CM_TX_ bits to what waits to be sent; make them exactly these. */
void cm_send(struct roce_cm *cm, struct roce_cm_conn *c, uint32_t what);
void cm_tx_set(struct roce_cm *cm, struct roce_cm_conn *c, uint32_t tx);
/* Answers to MADs that belong to no connection; dropped and counted when there are too many. */
void cm_answer_rej(
	struct roce_cm *cm, const struct cm_in *in, enum cm_which which, uint16_t reason);
void cm_answer_drep(struct roce_cm *cm, const struct cm_in *in);
void cm_answer_sidr(struct roce_cm *cm, const struct cm_in *in, enum roce_cm_sidr_status status);

/* ---- cm_timer.c ---- */
void cm_timer_set(struct roce_cm *cm, struct roce_cm_conn *c, uint64_t deadline_ns);
void cm_timer_cancel(struct roce_cm *cm, struct roce_cm_conn *c);
/* Begin the retransmissions of a message; the first copy is sent by the caller. */
void cm_retry_start(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c);
/* The peer asked for patience (MRA): wait, then begin anew. */
void cm_retry_extend(
	struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, uint32_t service_timeout);
uint64_t cm_timewait_ns(uint8_t ack_timeout);

/* ---- cm_sidr.c ---- */
void cm_recv_sidr_req(struct roce_cm *cm, const struct cm_in *in);
void cm_recv_sidr_rep(struct roce_cm *cm, const struct cm_in *in);
void cm_build_sidr(const struct roce_cm_conn *c, struct cm_mad *m);
/* c may be gone after the next three. */
void cm_sidr_query_timed_out(struct roce_cm *cm, struct roce_cm_conn *c);
void cm_sidr_request_reject(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c);
void cm_sidr_request_gone(struct roce_cm *cm, struct roce_cm_conn *c);

/* ---- cm_active.c, cm_passive.c, cm_disconnect.c ---- */
struct roce_cm_listener *cm_listen_at(struct roce_cm *cm, uint64_t service,
	const struct roce_cm_addr *addr, uint32_t backlog, void *owner, const char **why);
struct roce_cm_listener *cm_find_listener(struct roce_cm *cm, const struct cm_in *in);
void cm_recv_req(struct roce_cm *cm, const struct cm_in *in);
void cm_recv_rep(struct roce_cm *cm, const struct cm_in *in);
void cm_recv_rtu(struct roce_cm *cm, const struct cm_in *in);
void cm_recv_rej(struct roce_cm *cm, const struct cm_in *in);
void cm_recv_dreq(struct roce_cm *cm, const struct cm_in *in);
void cm_recv_drep(struct roce_cm *cm, const struct cm_in *in);
/* Send a REJ that fits the state and hold it for those who ask again. */
void cm_refuse(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, uint16_t reason);
/* The peer asks again what was refused. */
void cm_refuse_again(
	struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, enum cm_which which);
/* The peer of an old connection has its QPN in a new one (W-CM-53). */
void cm_stale(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *old);
/* No answer came: the end that belongs to the state. */
void cm_give_up(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c);

#endif
