/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One exchange with one peer: a connection, or a SIDR query or request. All of its states, timers
 * and lists hang on it, and nothing is allocated after init.
 */
#ifndef CM_CONN_H
#define CM_CONN_H

#include <sys/queue.h>

#include "cm/cm.h"
#include "cm/room.h"
#include "cm/state.h"
#include "cm/table.h"

LIST_HEAD(cm_bucket, roce_cm_conn);

struct roce_cm_conn {
	LIST_ENTRY(roce_cm_conn) link[CM_TABLES]; /* le_prev NULL: not in that table */
	TAILQ_ENTRY(roce_cm_conn) tx_entry, ev_entry;
	LIST_ENTRY(roce_cm_conn) list_entry; /* free list, or requests of the listener */
	struct roce_cm_listener *listener;   /* until accepted or refused */
	void *owner;

	uint8_t state;	 /* enum cm_state */
	uint8_t tx;	 /* CM_TX_ bits */
	uint16_t events; /* 1 << enum roce_cm_event_type */
	bool active;	 /* we sent the REQ */
	struct cm_claim claim;
	bool host_holds;     /* the host has the handle and did not destroy it */
	bool refused;	     /* TIMEWAIT after our REJ: repeat it when asked again */
	bool rej_without_id; /* our REJ carries comm id 0 (W-CM-48) */
	uint8_t rej_which;
	uint8_t rej_copies;  /* that are still to be sent unasked */
	uint16_t rej_reason; /* of our REJ; status of our SIDR_REP */
	uint8_t ari_bytes, ari[8];

	uint32_t local_id, remote_id; /* remote_id 0: not known yet */
	uint64_t remote_guid;
	uint64_t tid, dreq_tid, drep_tid;
	bool challenged;       /* established: the peer was asked whether it knows of it */
	uint64_t challenge_ns; /* not again before */
	struct roce_cm_addr local, remote;
	uint32_t port;
	struct roce_cm_qp_params qp, peer;
	uint32_t q_key; /* of the queue pair that a SIDR reply names */
	uint8_t mtu_code;
	uint8_t ack_timeout;	   /* of the REQ */
	uint8_t reply_ack_timeout; /* what REP makes of it for our sender */
	uint8_t tos, hop_limit, sl;
	uint32_t flow_label;

	uint32_t timer_pos;   /* 1 + index in the heap; 0: none */
	uint8_t max_retries;  /* how often a message may be sent again: of the REQ */
	uint8_t resp_timeout; /* of the peer's REQ: the code of the time that its RTU may take */
	uint8_t retries;
	uint64_t deadline_ns, retry_ns, give_up_ns;

	uint16_t ev_reason;
	bool ev_by_peer, ev_timed_out;
	uint8_t ev_undelivered; /* enum roce_cm_undelivered */
	uint16_t in_priv_bytes, out_priv_bytes;
	uint8_t in_priv[ROCE_CM_REP_PRIV];  /* of the message behind the pending event */
	uint8_t out_priv[ROCE_CM_REP_PRIV]; /* of our REQ, REP or REJ */
};
LIST_HEAD(cm_conn_list, roce_cm_conn);
TAILQ_HEAD(cm_conn_queue, roce_cm_conn);

/* NULL: there is no room for it (cm/room.h). */
struct roce_cm_conn *cm_conn_new(
	struct roce_cm *cm, enum cm_state state, const struct cm_claim *claim);
/* Every change of state; messages that make no sense in the new one are withdrawn. */
void cm_conn_state(struct roce_cm *cm, struct roce_cm_conn *c, enum cm_state state);
/* The exchange is over. Time-wait keeps the comm ids and our QPN until it ends. */
void cm_conn_timewait(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c);
/* After the next two c may be gone: its memory is free when neither the CM nor the host needs
 * it. */
void cm_conn_dead(struct roce_cm *cm, struct roce_cm_conn *c);
void cm_conn_put(struct roce_cm *cm, struct roce_cm_conn *c);

/* Private data of the message behind the pending event, and of our REQ, REP or REJ. */
void cm_set_in_priv(struct roce_cm_conn *c, const uint8_t *priv, uint32_t bytes);
bool cm_set_out_priv(struct roce_cm_conn *c, const void *priv, uint32_t bytes, uint32_t room);

#endif
