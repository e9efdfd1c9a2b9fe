/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagram queue pairs, for the rest of the engine; ud.h is what the host sees of them. */
#ifndef ROCE_DATAGRAM_H
#define ROCE_DATAGRAM_H

#include "roce/roce.h"

struct roce_ah_table;

/* The part of struct roce_qp that is a datagram queue pair's own. */
struct roce_ud {
	uint32_t q_key;
	struct roce_gid gid;
	uint16_t vlan;
	const struct roce_ah_table *ahs;
	uint32_t restart_left; /* requests to flush before it sends; 0: no restart has begun */
};

/* A packet that belongs to no connection, for qp. */
void roce_ud_rx(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt);
/* The turn to send: fills up to n slots, returns how many. */
unsigned roce_ud_turn(
	struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n);

#endif
