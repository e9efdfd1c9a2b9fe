/* SPDX-License-Identifier: BSD-3-Clause */
/* Retransmission of REQ, REP, DREQ and SIDR_REQ, and how long a silent peer is waited for (W-CM-60,
 * W-CM-61, W-CM-62). */
#ifndef CM_RETRY_H
#define CM_RETRY_H

#include <stdbool.h>
#include <stdint.h>

struct roce_cm;
struct roce_cm_conn;

#define CM_RETRIES_MAX	    15u /* what the field of the REQ holds */
#define CM_RETRIES_LEAST    3u	/* even if the host slept past the time to give up */
#define CM_RESPONSE_TIMEOUT 20u /* the code in our REQ, both ways; Linux's */
#define CM_PACKET_LIFETIME  16u /* what Linux assumes of a path, as a code */

/* How often a message may be sent again to a peer whose REQ says so many retries. */
uint8_t cm_retries_granted(uint32_t asked);
/* How long the peer may take in this state until it counts as dead. */
uint64_t cm_retry_patience_ns(const struct roce_cm *cm, const struct roce_cm_conn *c);
/* Begin the retransmissions of a message; the first copy is sent by the caller. */
void cm_retry_start(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c);
/* The deadline of a message has come: send what, a CM_TX_ bit, once more, or only wait on.
 * False: the peer was waited for long enough, and the caller gives up. */
bool cm_retry(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c, uint32_t what);
/* No answer will come: the end that belongs to the state (tick.c). c may be gone afterwards. */
void cm_give_up(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c);

#endif
