/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CM MADs: host-order values and back (IBTA volume 1, chapter 12; annex A11).
 *
 * Where a field lies stands once, in the table of codec.c, which both directions use; so what we
 * write is what we read, and every bound is checked there.
 */
#ifndef ROCE_CM_CODEC_H
#define ROCE_CM_CODEC_H

#include "wire/gid.h"
#include "wire/protocol.h"

enum cm_attr {
	CM_ATTR_REQ = 0x10,
	CM_ATTR_MRA = 0x11,
	CM_ATTR_REJ = 0x12,
	CM_ATTR_REP = 0x13,
	CM_ATTR_RTU = 0x14,
	CM_ATTR_DREQ = 0x15,
	CM_ATTR_DREP = 0x16,
	CM_ATTR_SIDR_REQ = 0x17,
	CM_ATTR_SIDR_REP = 0x18,
};

/* What a REJ or MRA is about. */
enum cm_which {
	CM_WHICH_REQ = 0,
	CM_WHICH_REP = 1,
	CM_WHICH_OTHER = 2,
};

#define CM_PRIV_BYTES 224u /* the longest private data field: RTU, DREP */
#define CM_ARI_BYTES  72u

/* One MAD. Fields that a message does not carry are 0. */
struct cm_mad {
	uint64_t tid;
	uint32_t attr;
	uint32_t local_id, remote_id; /* of the sender; SIDR: local_id is the request id */
	/* REQ, REP */
	uint64_t service_id, ca_guid;
	uint32_t qkey, qpn, psn; /* DREQ: qpn is the receiver's */
	uint32_t responder_resources, initiator_depth;
	uint32_t remote_resp_timeout, local_resp_timeout, max_retries;
	uint32_t transport, ext_transport, flow_control, srq;
	uint32_t retry_count, rnr_retry, pkey, mtu;
	uint32_t target_ack_delay, failover;
	/* REQ: the primary path */
	uint32_t slid, dlid, flow_label, rate, tclass, hop_limit, sl, subnet_local, ack_timeout;
	struct roce_gid sgid, dgid;
	/* REJ, MRA, SIDR_REP */
	uint32_t which, service_timeout, reason, status, ari_bytes;
	uint8_t ari[CM_ARI_BYTES];

	uint32_t priv_bytes; /* of the message's field, set by decode; encode ignores it */
	uint8_t priv[CM_PRIV_BYTES];
};

enum cm_decode {
	CM_DECODE_OK,
	CM_DECODE_FOREIGN,   /* another class, or a CM message that we ignore (W-CM-04, W-CM-05) */
	CM_DECODE_MALFORMED, /* W-CM-01 */
};
enum cm_decode cm_mad_decode(struct cm_mad *m, const uint8_t mad[ROCE_MAD_BYTES]);
void cm_mad_encode(uint8_t mad[ROCE_MAD_BYTES], const struct cm_mad *m);

/* The header of RDMA IP CM in the private data of a REQ. */
#define CM_IP_HDR_BYTES 36u
struct cm_ip_hdr {
	struct roce_gid src, dst; /* IPv4 mapped as everywhere, but not so on the wire (W-CM-07) */
	uint16_t src_port;
};
/* False: unknown version or address family (W-CM-06), or addresses of two families. */
bool cm_ip_hdr_decode(struct cm_ip_hdr *h, const uint8_t bytes[CM_IP_HDR_BYTES]);
void cm_ip_hdr_encode(uint8_t bytes[CM_IP_HDR_BYTES], const struct cm_ip_hdr *h);

/* Service IDs of RDMA_PS_TCP, and of RDMA_PS_UDP, where datagrams are (annex A11). */
#define CM_SERVICE_PS_TCP 0x01060000u
#define CM_SERVICE_PS_UDP 0x01110000u
static inline uint64_t
cm_service_id(uint16_t port)
{
	return CM_SERVICE_PS_TCP | port;
}

#endif
