/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libndclient: queue pairs from given numbers, their states and attributes. Part of ndclient.h.
 *
 * Two programs that have another way to talk (a socket, say) tell each other address, queue pair
 * number and first PSN, and each brings its end up with what it was told, as perftest without -R
 * and ibv_rc_pingpong do:
 *
 *	nd_qp_create -> nd_qp_query -> tell number and first_psn, hear the peer's ->
 *	nd_qp_modify(ND_QP_STATE_RTS, sq_psn: the one told, rq_psn: the one heard, ...) -> send ...
 *
 * There is no connector then, and the peer's end is not reported: a request that is not
 * acknowledged fails with ND_IO_TIMEOUT, an idle queue pair notices nothing without a keepalive.
 * The end is nd_qp_flush(), ND_QP_STATE_ERROR or nd_qp_close(). Our extension: ND 2 has no such
 * calls.
 */
#ifndef NDCLIENT_MODIFY_H
#define NDCLIENT_MODIFY_H

#include "ndclient.h"

#ifdef __cplusplus
extern "C" {
#endif

/* States, as InfiniBand has them. A queue pair is made in INIT. Receives are legal in all but
 * RESET; other requests in RTS, in SQD, where they wait, and in ERROR, where they complete with
 * ND_CANCELED. */
#define ND_QP_STATE_RESET 0u /* requests vanish, there is no result; then INIT */
#define ND_QP_STATE_INIT  1u
#define ND_QP_STATE_RTR	  2u /* serves the peer */
#define ND_QP_STATE_RTS	  3u /* sends, too; from INIT the step by way of RTR is one */
/* Finishes the messages that were begun and starts none; nd_qp_info.draining ends when all of them
 * are acknowledged, and then path and limits may be changed. Goes back to RTS. */
#define ND_QP_STATE_SQD	  4u
#define ND_QP_STATE_ERROR 5u /* what is outstanding completes with ND_CANCELED */

/* What the peer may do at all, beyond what regions and windows say. */
#define ND_QP_ALLOW_REMOTE_READ	  0x1u
#define ND_QP_ALLOW_REMOTE_WRITE  0x2u
#define ND_QP_ALLOW_REMOTE_ATOMIC 0x4u

/* Bits of nd_qp_attributes.mask: which fields count. */
#define ND_QP_ATTRIBUTE_ACCESS	       0x0001u
#define ND_QP_ATTRIBUTE_PATH	       0x0002u
#define ND_QP_ATTRIBUTE_PATH_MTU       0x0004u
#define ND_QP_ATTRIBUTE_PEER_NUMBER    0x0008u
#define ND_QP_ATTRIBUTE_RQ_PSN	       0x0010u
#define ND_QP_ATTRIBUTE_INBOUND_READS  0x0020u
#define ND_QP_ATTRIBUTE_MIN_RNR_TIMER  0x0040u
#define ND_QP_ATTRIBUTE_TIMEOUT	       0x0080u
#define ND_QP_ATTRIBUTE_RETRIES	       0x0100u
#define ND_QP_ATTRIBUTE_RNR_RETRIES    0x0200u
#define ND_QP_ATTRIBUTE_SQ_PSN	       0x0400u
#define ND_QP_ATTRIBUTE_OUTBOUND_READS 0x0800u
#define ND_QP_ATTRIBUTE_KEEPALIVE      0x1000u

/* What a step needs, and what it may take besides: */
#define ND_QP_TO_INIT ND_QP_ATTRIBUTE_ACCESS /* from RESET; in INIT it is optional */
#define ND_QP_TO_RTR                                                                               \
	(ND_QP_ATTRIBUTE_PATH | ND_QP_ATTRIBUTE_PATH_MTU | ND_QP_ATTRIBUTE_PEER_NUMBER |           \
		ND_QP_ATTRIBUTE_RQ_PSN | ND_QP_ATTRIBUTE_INBOUND_READS |                           \
		ND_QP_ATTRIBUTE_MIN_RNR_TIMER) /* and may: ACCESS */
#define ND_QP_TO_RTS                                                                               \
	(ND_QP_ATTRIBUTE_TIMEOUT | ND_QP_ATTRIBUTE_RETRIES | ND_QP_ATTRIBUTE_RNR_RETRIES |         \
		ND_QP_ATTRIBUTE_SQ_PSN |                                                           \
		ND_QP_ATTRIBUTE_OUTBOUND_READS) /* from RTR; and may: ACCESS, MIN_RNR_TIMER */
/* RTS, SQD to RTS, and SQD may: ACCESS, MIN_RNR_TIMER; SQD, when drained: PATH, TIMEOUT, RETRIES,
 * RNR_RETRIES and both READS. All but those to RESET and ERROR may: KEEPALIVE. */

struct nd_qp_attributes {
	uint32_t mask;	 /* ND_QP_ATTRIBUTE_* */
	uint32_t access; /* ND_QP_ALLOW_*; nothing until it is told */
	/* PATH: the peer's address, of the adapter's family (a port in it does not count). */
	struct sockaddr_storage peer;
	uint32_t flow_label;	/* 20 bits, also decides the UDP source port; 0: by the numbers */
	uint8_t traffic_class;	/* IPv4 TOS; its two ECN bits: ND_ECN_*; told as sent: ON or 0 */
	uint8_t hop_limit;	/* 0: 64 */
	uint8_t inbound_reads;	/* reads and atomics of the peer at a time, up to the adapter's */
	uint8_t outbound_reads; /* of this side */
	uint32_t path_mtu;	/* 256 to 4096, a power of two, at most nd_adapter_info.path_mtu;
				 * the same at both ends */
	uint32_t peer_number;	/* 24 bits, as all of these: the peer's queue pair */
	uint32_t rq_psn;	/* the first PSN that the peer will send */
	uint32_t sq_psn;	/* the first that this side sends */
	uint8_t timeout;	/* an answer is missed after 4.096 us * 2^timeout; 0: never */
	uint8_t retries;	/* then it is asked for again so often, up to 7 */
	uint8_t rnr_retries;	/* so often if the peer has no receive; 7: for ever */
	uint8_t min_rnr_timer;	/* code, to 31, of how long the peer waits if we have none */
	/* After so long without a word of the peer, and without a request, it is asked whether it
	 * is there, by a write of no bytes, which it must permit. No answer within timeout and
	 * retries: the queue pair ends as if a request had failed with ND_IO_TIMEOUT, at the
	 * latest after twice this time, and the retries'. 0, as at first: never; else 100 ms to a
	 * day. Needs a timeout. With a connector it begins when the connection is made. */
	uint32_t keepalive_ms;
};

/*
 * Bring the queue pair to state, with the attributes that are named in attr->mask (attr may be
 * NULL for none); to the state it is in: attributes alone. ov completes with ND_SUCCESS; or, when
 * the way to the peer had to be asked for, with ND_NETWORK_UNREACHABLE, ND_HOST_UNREACHABLE, or
 * what is said here; ND_CANCELED: it was closed. After a failure nothing has changed. Inline
 * (nd_last_error() names the attributes):
 *   ND_INVALID_DEVICE_STATE  no step leads there; or a connection has used the queue pair
 *   ND_INVALID_PARAMETER_MIX an attribute is missing, or not taken by this step
 *   ND_INVALID_PARAMETER     a value is out of range (path_mtu above the port's, too); ov in use
 *   ND_BAD_NETWORK_NAME      the wildcard is no destination; ND_INVALID_ADDRESS: no IP address
 *   ND_NETWORK_UNREACHABLE   no route; ND_HOST_UNREACHABLE: no neighbour, known already
 *   ND_ADDRESS_ALREADY_EXISTS  another client of the daemon has that queue pair of the peer, or
 *                              16 queue pairs of this adapter do
 *   ND_CONNECTION_ACTIVE     what a connector connects keeps path, numbers and read limits; what is
 *                            left for it, when the connection is made: SQD and back, ERROR, and
 *                            the rest of the attributes
 *   ND_DEVICE_BUSY           another change is under way, or SQD not yet drained
 *   ND_INVALID_DEVICE_REQUEST  of datagrams (ndclient_ud.h) the only step is to RESET
 *   ND_NOT_SUPPORTED         the daemon is older than this
 * A queue pair of the peer is for one client: if another client of the daemon connects to it by the
 * CM, what was brought up by hand goes to ERROR. A queue pair beyond INIT can't be given to a
 * connector. To RESET, no other thread may post.
 */
nd_status nd_qp_modify(struct nd_qp *qp, uint32_t state, const struct nd_qp_attributes *attr,
	struct nd_overlapped *ov);

struct nd_qp_info {
	uint32_t state;	    /* ND_QP_STATE_* */
	uint32_t draining;  /* 1: in SQD, and something is not yet acknowledged */
	uint32_t number;    /* on the wire: to be told to the peer */
	uint32_t first_psn; /* random, new after RESET: fit to be sq_psn */
	/* As they are; rq_psn and sq_psn: the next ones. mask is 0. peer: as nd_qp_modify() was
	 * given it, else ss_family is 0. */
	struct nd_qp_attributes attributes;
};
/* Asks the daemon. ND_NOT_SUPPORTED: it is older than this. */
nd_status nd_qp_query(struct nd_qp *qp, struct nd_qp_info *info);

#ifdef __cplusplus
}
#endif

#endif
