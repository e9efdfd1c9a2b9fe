/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages about completion queues, windows, regions, shared receive queues and queue pairs. The
 * client zeroes a block before it names it in one of them; the daemon clears the page of words in
 * front of it alone, as it spends no time on what is long because a client wants it so.
 */
#ifndef NDSH_MSG_OBJECT_H
#define NDSH_MSG_OBJECT_H

#include "ndsh_msg_hdr.h"

/* Reply: ndsh_id_msg, fd: has a byte to read, or several, when an arm has fired; EOF: the daemon is
 * gone. */
struct ndsh_cq_create {
	struct ndsh_msg_hdr h;
	uint32_t segment, depth;
	uint64_t offset;
};
/*
 * Another ring: in it lie the entries from page->moved on (ndsh_resize.c). entries, 1..depth: how
 * many the client wants room for; NDSH_ERR_OVERFLOW: more lie there, nothing happened. Reply:
 * ndsh_id_msg.
 */
struct ndsh_cq_resize {
	struct ndsh_msg_hdr h;
	uint32_t cq, segment;
	uint64_t offset; /* of ndsh_cq_ring_bytes(depth) */
	uint32_t depth, entries;
};
struct ndsh_affinity_reply { /* to CQ_AFFINITY and SRQ_AFFINITY, an ndsh_id_msg each */
	struct ndsh_msg_hdr h;
	uint64_t mask; /* of CPUs 64 * group + bit */
	uint32_t group, reserved;
};
/* The admin ring: a block of ndsh_admin_bytes(depth); it is answered in cq, which is for that alone
 * from now on. Reply: ndsh_id_msg. */
struct ndsh_admin_create {
	struct ndsh_msg_hdr h;
	uint32_t segment, depth;
	uint64_t offset;
	uint32_t cq, reserved;
};
struct ndsh_mover_create { /* block of ndsh_mover_bytes(); reply: ndsh_id_msg, fd as for a CQ */
	struct ndsh_msg_hdr h;
	uint32_t segment;
	uint32_t tells; /* from minor version 10 on, 1: the block has failed[] */
	uint64_t offset;
};
struct ndsh_mw_create {
	struct ndsh_msg_hdr h;
	uint32_t pd;
	uint32_t type; /* enum ndsh_mw_type; DERIVED alone before minor version 15 */
};
struct ndsh_mw_create_reply {
	struct ndsh_msg_hdr h;
	uint32_t mw, slot;
	uint64_t secret; /* with slot: what ndsh_window_token() wants; of other types than DERIVED:
			  * a token of the window's, which opens nothing */
};
struct ndsh_frmr_create { /* block: NDSH_FRMR_LISTS lists of max_pages addresses */
	struct ndsh_msg_hdr h;
	uint32_t pd, segment;
	uint64_t offset;
	uint32_t max_pages, remote;
};
struct ndsh_frmr_create_reply {
	struct ndsh_msg_hdr h;
	uint32_t fr, slot;
	uint64_t secret; /* with slot: what ndsh_window_token() wants */
};
struct ndsh_srq_create { /* block of ndsh_srq_bytes(); reply: ndsh_id_msg */
	struct ndsh_msg_hdr h;
	uint32_t pd, segment;
	uint64_t offset;
	uint32_t depth, sge;
};
/* Another block of ndsh_srq_bytes(), with the receives that are not taken (ndsh_rq_carry()); with
 * the answer the block before is the client's again. Reply: ndsh_id_msg. */
struct ndsh_srq_resize {
	struct ndsh_msg_hdr h;
	uint32_t srq, segment;
	uint64_t offset;
	uint32_t depth, reserved; /* SGEs: as before */
};
struct ndsh_srq_arm { /* one EV_SRQ_LIMIT when fewer are left than limit, now or later; 0: none */
	struct ndsh_msg_hdr h;
	uint32_t srq, limit;
};
struct ndsh_ev_srq { /* body of EV_SRQ_LIMIT */
	struct ndsh_msg_hdr h;
	uint32_t srq, reserved;
};
struct ndsh_qp_create {
	struct ndsh_msg_hdr h;
	uint32_t pd, recv_cq, send_cq;
	uint32_t handle; /* client's own number, echoed in completions */
	uint32_t segment;
	uint32_t has_srq; /* 1: receives come from srq, and its own receive ring is not used */
	uint64_t offset;
	uint32_t sq_depth, rq_depth, sq_sge, rq_sge, inline_bytes;
	uint32_t srq;
};
struct ndsh_qp_create_reply {
	struct ndsh_msg_hdr h;
	uint32_t qp;  /* session-local number, of which its doorbell comes */
	uint32_t qpn; /* on the wire */
};
enum ndsh_qp_state { /* IBTA's, of RC and UC */
	NDSH_QPS_RESET,
	NDSH_QPS_INIT,
	NDSH_QPS_RTR,
	NDSH_QPS_RTS,
	NDSH_QPS_SQD,
	NDSH_QPS_ERR,
	NDSH_QPS_SQE, /* of UC alone: the send side has failed; RTS starts it again */
};
enum { /* ndsh_qp_attr.mask */
	NDSH_QPA_ACCESS = 1u << 0,
	NDSH_QPA_PATH = 1u << 1, /* ip, flow_label, traffic_class, hop_limit */
	NDSH_QPA_MTU = 1u << 2,
	NDSH_QPA_DEST_QPN = 1u << 3,
	NDSH_QPA_RQ_PSN = 1u << 4,
	NDSH_QPA_MAX_DEST_RD = 1u << 5,
	NDSH_QPA_MIN_RNR = 1u << 6,
	NDSH_QPA_TIMEOUT = 1u << 7,
	NDSH_QPA_RETRY = 1u << 8,
	NDSH_QPA_RNR_RETRY = 1u << 9,
	NDSH_QPA_SQ_PSN = 1u << 10,
	NDSH_QPA_MAX_RD = 1u << 11,
	NDSH_QPA_KEEPALIVE = 1u << 12,
	NDSH_QPA_ALL = (1u << 13) - 1,
};
struct ndsh_qp_attr {
	uint32_t mask;	 /* which of the others count */
	uint32_t access; /* NDSH_ACCESS_REMOTE_* */
	uint8_t ip[16];	 /* of the peer */
	uint32_t flow_label;
	uint8_t traffic_class; /* DSCP << 2 | enum ndsh_ecn; in replies: with ECT(0), or not */
	uint8_t hop_limit;
	uint8_t max_dest_rd, max_rd;
	uint8_t min_rnr_code, timeout_code, retry, rnr_retry;
	uint32_t mtu_bytes;
	uint32_t dest_qpn, rq_psn, sq_psn;
	uint32_t keepalive_ms;
};
/*
 * One at a time for each queue pair. Reply: NDSH_OK, it is done; NDSH_PENDING, the next hop is
 * being asked for, and EV_QP_MODIFIED follows; else nothing changed, and why says what was wrong.
 */
struct ndsh_qp_modify {
	struct ndsh_msg_hdr h;
	uint32_t qp;
	uint32_t state; /* enum ndsh_qp_state; RTS from INIT: by way of RTR */
	struct ndsh_qp_attr attr;
};
struct ndsh_qp_modify_reply {
	struct ndsh_msg_hdr h;
	char why[160];
};
enum ndsh_async {
	NDSH_ASYNC_NONE,
	NDSH_ASYNC_COMM_EST, /* of queue pairs */
	NDSH_ASYNC_SQ_DRAINED,
	NDSH_ASYNC_LAST_WQE,
	NDSH_ASYNC_QP_REQUEST_ERROR,
	NDSH_ASYNC_QP_ACCESS_ERROR,
	NDSH_ASYNC_QP_ERROR,
	NDSH_ASYNC_QP_FATAL,
	NDSH_ASYNC_CQ_ERROR,  /* of a completion queue */
	NDSH_ASYNC_LINK_DOWN, /* of the adapter's port: id 0 */
	NDSH_ASYNC_LINK_UP,
	NDSH_ASYNC_ADDRESSES, /* of the adapter's port: ADDRESS_LIST has others; from minor 8 on */
};
struct ndsh_ev_async { /* body of EV_ASYNC */
	struct ndsh_msg_hdr h;
	uint32_t event; /* enum ndsh_async; a client passes over what it doesn't know */
	uint32_t id;
	uint32_t detail; /* enum ndsh_wc_status | the engine's reason << 8 */
	uint32_t reserved;
};
struct ndsh_ev_qp { /* body of EV_QP_MODIFIED */
	struct ndsh_msg_hdr h;
	uint32_t qp, reserved;
};
struct ndsh_qp_query_reply { /* to QP_QUERY, an ndsh_id_msg */
	struct ndsh_msg_hdr h;
	uint32_t state, draining;
	uint32_t qpn;
	uint32_t psn; /* hard to guess: a first PSN that a client may give to its peer */
	struct ndsh_qp_attr attr; /* mask 0 */
};

#endif
