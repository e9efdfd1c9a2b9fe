/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams (UD): queue pairs without a peer, and address handles, which say where a datagram goes.
 * A part of roce.h, for the host; the requests that clients post are in shm/ndsh_abi.h.
 */
#ifndef ROCE_UD_H
#define ROCE_UD_H

#include "roce/roce.h"

/* Q_Keys with this bit are privileged: no client gets one (W-PKT-13). */
#define ROCE_QKEY_PRIVILEGED 0x80000000u

/* ---- address handles ------------------------------------------------------------------------- */

/* Bits of a token that are its index in the table; the others tell it from earlier ones there. */
#define ROCE_AH_INDEX_BITS 18u

struct roce_ah {
	uint32_t token;
	bool live;
	bool group;    /* of a multicast group: goes to ROCE_QPN_MULTICAST, and nothing else does */
	uint32_t port; /* as in roce_tx_slot */
	uint32_t mtu_bytes; /* longest datagram on the way there */
	struct roce_hdr_tmpl tmpl;
};
/* All address handles of a client; a token leads to entry token % 2^ROCE_AH_INDEX_BITS. The host
 * may change the table between calls. A request with a handle that is not live fails. */
struct roce_ah_table {
	struct roce_ah *slot;
	uint32_t count;
};
/* Make *ah a live handle: token, the path to the address, the port to send from, and the longest
 * datagram, in bytes. */
void roce_ah_set(struct roce_ah *ah, uint32_t token, const struct roce_path *path, uint32_t port,
	uint32_t mtu_bytes);

/* ---- queue pairs ----------------------------------------------------------------------------- */

struct roce_ud_cfg {
	uint32_t q_key;			 /* of what it receives; not a privileged one */
	struct roce_gid gid;		 /* what it receives was sent to this address */
	uint16_t vlan;			 /* in the VLAN of that address; 0: in none */
	const struct roce_ah_table *ahs; /* of its client, for as long as it lives */
};
/* From RESET to ROCE_QPS_UD_RTS: the queue pair sends and receives datagrams. False: it is in
 * another state, or the key is privileged. roce_qp_modify() to ERR ends it; from there
 * roce_ud_reset() leads back, or it is destroyed. */
bool roce_ud_start(
	struct roce_shard *s, struct roce_qp *qp, uint64_t now_ns, const struct roce_ud_cfg *cfg);
/* As it was when it was started, with the Q_Key of now: requests and receives vanish (W-QP-01),
 * entries that are made stay. False: it is no datagram queue pair, and nothing has changed. */
bool roce_ud_reset(struct roce_shard *s, struct roce_qp *qp, uint64_t now_ns);
enum roce_ud_modify {
	ROCE_UD_REFUSED, /* it is no live datagram queue pair, or the key is privileged */
	ROCE_UD_FLUSHING,
	ROCE_UD_MODIFIED
};
/* Set another Q_Key. If the send side had stopped (ROCE_QPS_UD_SQE), requests posted before are
 * flushed, at most 256 per call, and those posted from now on are sent. FLUSHING: there are more,
 * and nothing is set: call it again. */
enum roce_ud_modify roce_ud_modify(
	struct roce_shard *s, struct roce_qp *qp, uint64_t now_ns, uint32_t q_key);

#endif
