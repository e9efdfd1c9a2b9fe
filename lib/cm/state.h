/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The states of an exchange, those of IBTA volume 1, chapter 12, with two simplifications:
 * DREQ_RCVD does not exist because we answer a DREQ at once (TIMEWAIT with a DREP to send), and
 * IDLE is split into free memory and DEAD: the exchange is over, but the host holds the handle or a
 * last answer is still to be sent.
 */
#ifndef CM_STATE_H
#define CM_STATE_H

#include <stdbool.h>
#include <stdint.h>

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
	CM_SIDR_SENT,	  /* our SIDR query */
	CM_SIDR_RCVD,	  /* a peer's SIDR request, which the host has to answer */
	CM_SIDR_ANSWERED, /* a peer's SIDR request whose reply is kept */
	CM_STATES,
};

/* Messages that wait to be sent, in the order in which they must leave. */
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

/* What a state means. */
struct cm_state_facts {
	uint8_t tx;	   /* messages that may still be waiting to be sent */
	uint8_t repeats;   /* the one that is sent again until it is answered */
	bool waits;	   /* a deadline ends it */
	bool undecided;	   /* a request that the host has to decide on: its listener counts it */
	bool rests;	   /* over, but its ids are kept for a while */
	bool sidr_request; /* a peer's SIDR request */
};
extern const struct cm_state_facts cm_state_facts[CM_STATES];

#endif
