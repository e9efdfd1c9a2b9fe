/* SPDX-License-Identifier: BSD-3-Clause */
/* REJ, sent and received. */
#ifndef CM_REJECT_H
#define CM_REJECT_H

#include "cm/cm.h"
#include "cm/codec.h"

/* Send a REJ that fits the state, and hold it for a peer that repeats its REQ or REP. */
void cm_refuse(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, uint16_t reason);
/* The peer repeats what was refused. */
void cm_refuse_again(
	struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, enum cm_which which);
/* The deadline of a connection in time-wait. False: none of its REJs is left to be sent. */
bool cm_refusal_repeats(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c);

#endif
