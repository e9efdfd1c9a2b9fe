/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last acknowledgement of a queue pair that is reset or destroyed before it could leave. A
 * client takes the completion of its peer's last message, and closes: the lcore may hear of both in
 * the same turn. Without that acknowledgement the peer sends again until its retries end, and takes
 * a message for lost that has arrived (W-ACK-01).
 */
#ifndef ROCE_FAREWELL_H
#define ROCE_FAREWELL_H

#include <stdint.h>

#define ROCE_FAREWELLS	    64u /* in a turn; more are lost, as frames can be */
#define ROCE_FAREWELL_BYTES 96u /* an ACK with VLAN and IPv6 takes 86 */

struct roce_qp;
struct roce_shard;
struct roce_tx_slot;

struct roce_farewell {
	uint32_t len, port;
	uint8_t frame[ROCE_FAREWELL_BYTES];
};

/* Keep what qp owes its peer, to be sent in this turn. It is reset or destroyed after this. */
void roce_farewell(struct roce_shard *s, struct roce_qp *qp);
/* Fill up to n slots. Returns how many. */
unsigned roce_farewell_tx(struct roce_shard *s, struct roce_tx_slot *slots, unsigned n);

#endif
