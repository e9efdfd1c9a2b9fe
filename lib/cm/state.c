/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm/state.h"

const struct cm_state_facts cm_state_facts[CM_STATES] = {
	[CM_FREE] = {0},
	[CM_REQ_SENT] = {.tx = CM_TX_REQ, .repeats = CM_TX_REQ, .waits = true},
	[CM_MRA_REQ_RCVD] = {.tx = CM_TX_REQ, .repeats = CM_TX_REQ, .waits = true},
	[CM_REP_RCVD] = {.tx = CM_TX_MRA},
	[CM_MRA_REP_SENT] = {.tx = CM_TX_MRA},
	[CM_REQ_RCVD] = {.tx = CM_TX_MRA, .waits = true, .undecided = true},
	[CM_MRA_REQ_SENT] = {.tx = CM_TX_MRA, .waits = true, .undecided = true},
	[CM_REP_SENT] = {.tx = CM_TX_REP, .repeats = CM_TX_REP, .waits = true},
	[CM_MRA_REP_RCVD] = {.tx = CM_TX_REP, .repeats = CM_TX_REP, .waits = true},
	[CM_ESTABLISHED] = {.tx = CM_TX_RTU | CM_TX_DREQ}, /* the latter: a challenge */
	[CM_DREQ_SENT] = {.tx = CM_TX_RTU | CM_TX_DREQ, .repeats = CM_TX_DREQ, .waits = true},
	[CM_TIMEWAIT] = {.tx = CM_TX_DREP | CM_TX_REJ, .waits = true, .rests = true},
	[CM_DEAD] = {.tx = CM_TX_DREP | CM_TX_REJ | CM_TX_SIDR},
	[CM_SIDR_SENT] = {.tx = CM_TX_SIDR, .repeats = CM_TX_SIDR, .waits = true},
	[CM_SIDR_RCVD] = {.waits = true, .undecided = true, .sidr_request = true},
	[CM_SIDR_ANSWERED] = {.tx = CM_TX_SIDR, .waits = true, .rests = true, .sidr_request = true},
};
