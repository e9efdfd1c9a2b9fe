/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a connection has to send: bits, in the order in which the MADs must leave. The MAD is made
 * when the host takes it. So a slow host loses nothing, and a retransmission whose predecessor is
 * still waiting is one MAD.
 */
#ifndef CM_OUTBOX_H
#define CM_OUTBOX_H

#include <stdint.h>

struct roce_cm;
struct roce_cm_conn;

/* Add CM_TX_ bits to what waits to be sent; make them exactly these. */
void cm_send(struct roce_cm *cm, struct roce_cm_conn *c, uint32_t what);
void cm_tx_set(struct roce_cm *cm, struct roce_cm_conn *c, uint32_t tx);

#endif
