/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection of host A in any state, and the messages that its peer can send then; the test plays
 * the peer.
 */
#ifndef TEST_CM_AT_H
#define TEST_CM_AT_H

#include "cm/conn.h"
#include "rigs/cm_net.h"

#define CM_AT_PEER_ID  0x77000001u
#define CM_AT_PEER_QPN 0x4242u
#define CM_AT_MY_QPN   0x1000u

/* How the connection under test got where it is. */
enum cm_at {
	A_REQ_SENT,
	A_MRA_REQ_RCVD,
	A_REP_RCVD,
	A_MRA_REP_SENT,
	A_ESTABLISHED,
	A_DREQ_SENT,
	A_TIMEWAIT,  /* after DREP */
	A_REFUSED,   /* we refused the REP */
	A_ABANDONED, /* we gave the REQ up */
	A_DEAD,	     /* the peer refused the REQ */
	P_REQ_RCVD,
	P_MRA_REQ_SENT,
	P_REP_SENT,
	P_MRA_REP_RCVD,
	P_ESTABLISHED,
	P_DREQ_SENT,
	P_TIMEWAIT, /* after the peer's DREQ */
	P_REFUSED,  /* we refused the REQ */
	AT_COUNT,
};
extern const char *const cm_at_names[AT_COUNT];
/* The state in the sense of lib/cm. */
extern const enum cm_state cm_at_states[AT_COUNT];

enum cm_at_msg {
	REQ_SAME,  /* the same exchange (passive), or as good as */
	REQ_STALE, /* another exchange with the same QPN */
	REP_FIRST,
	REP_OTHER, /* another comm id of the peer */
	RTU,
	MRA_REQ,
	MRA_REP,
	REJ_REQ,
	REJ_REQ_STALE, /* reason 10 */
	REJ_REP,
	REJ_OTHER,
	REJ_TIMEOUT, /* finds us by GUID */
	DREQ,
	DREQ_WRONG_QPN,
	DREP,
	MSG_COUNT,
};
extern const char *const cm_at_msg_names[MSG_COUNT];

struct cm_at_bench {
	struct cm_net *net; /* only host A's CM is used; P's address is the peer's */
	struct roce_cm *cm;
	struct roce_cm_conn *conn;
};

/* A new network with a connection there; what it had to send, and its events, are taken. */
struct cm_at_bench cm_at_bring(enum cm_at at);
/* The message, from the peer to host A; and send it. */
struct cm_mad cm_at_mad(const struct cm_at_bench *b, enum cm_at_msg msg);
void cm_at_inject(struct cm_at_bench *b, enum cm_at_msg msg);
/* Take all that host A has to send, and all of its events. */
void cm_at_drain(struct cm_at_bench *b);

#endif
