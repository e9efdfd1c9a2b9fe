/* SPDX-License-Identifier: BSD-3-Clause */
/* Retransmission of REQ, REP, DREQ and SIDR_REQ (W-CM-60, W-CM-61). */
#ifndef CM_RETRY_H
#define CM_RETRY_H

#include <stdbool.h>
#include <stdint.h>

struct roce_cm;
struct roce_cm_conn;

/* Begin the retransmissions of a message; the first copy is sent by the caller. */
void cm_retry_start(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c);
/* The deadline of a message has come: send what, a CM_TX_ bit, once more. False: it was sent often
 * enough, and the caller gives up. */
bool cm_retry(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, uint32_t what);

#endif
