/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams (UD): queue pairs without a peer, and address handles, which say where a datagram goes.
 * A part of roce.h for who makes them; what is posted is in shm/ndsh_abi.h.
 */
#ifndef ROCE_UD_H
#define ROCE_UD_H

#include "roce/roce.h"

/* Never a client's: whoever may use such a key speaks for its host (W-PKT-13). */
#define ROCE_QKEY_PRIVILEGED 0x80000000u

/* ---- address handles ------------------------------------------------------------------------- */

/* Bits of a token that are its place in the table; those above tell it from its predecessors. */
#define ROCE_AH_INDEX_BITS 18u

struct roce_ah {
	uint32_t token;
	bool live;
	uint32_t port;	    /* as in roce_tx_slot */
	uint32_t mtu_bytes; /* longest datagram on the way there */
	struct roce_hdr_tmpl tmpl;
};
/* All that a client may send to: entry token % 2^ROCE_AH_INDEX_BITS. The host may change it between
 * calls; what is not live in it any more is refused from then on. */
struct roce_ah_table {
	struct roce_ah *slot;
	uint32_t count;
};
void roce_ah_set(struct roce_ah *ah, uint32_t token, const struct roce_path *path, uint32_t port,
	uint32_t mtu_bytes);
/* The next hop has other addresses now. */
void roce_ah_set_macs(struct roce_ah *ah, const uint8_t smac[6], const uint8_t dmac[6]);

/* ---- queue pairs ----------------------------------------------------------------------------- */

struct roce_ud_cfg {
	uint32_t q_key;			 /* of what it receives; not a privileged one */
	struct roce_gid gid;		 /* what it receives was sent to this address */
	uint16_t vlan;			 /* in the VLAN of that address; 0: in none */
	const struct roce_ah_table *ahs; /* of its client, for as long as it lives */
};
/* From RESET to ROCE_QPS_UD_RTS: it sends and receives. False, and nothing done: another state, or
 * a privileged key. roce_qp_modify() to ERR ends it, and nothing leads from there to another life;
 * roce_qp_destroy() as any queue pair. */
bool roce_ud_start(
	struct roce_shard *s, struct roce_qp *qp, uint64_t now_ns, const struct roce_ud_cfg *cfg);
/* Another key; and if the send side had stopped (ROCE_QPS_UD_SQE), it goes on with what is posted
 * from now on, what was posted before is flushed. False, and nothing done: it is no datagram queue
 * pair any more, or a privileged key. */
bool roce_ud_modify(struct roce_shard *s, struct roce_qp *qp, uint64_t now_ns, uint32_t q_key);

#endif
