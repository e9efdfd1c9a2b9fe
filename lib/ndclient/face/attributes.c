/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/face/attributes.h"

#include <assert.h>
#include <string.h>

#include "ndclient/session/address.h"
#include "ndclient/session/error.h"
#include "shm/ndsh_ring.h"

static const struct {
	uint32_t allow, access;
} rights[] = {
	{ND_QP_ALLOW_REMOTE_READ, NDSH_ACCESS_REMOTE_READ},
	{ND_QP_ALLOW_REMOTE_WRITE, NDSH_ACCESS_REMOTE_WRITE},
	{ND_QP_ALLOW_REMOTE_ATOMIC, NDSH_ACCESS_REMOTE_ATOMIC},
};
#define RIGHTS (sizeof(rights) / sizeof(rights[0]))

#define SAME(public, abi) static_assert(ND_QP_ATTRIBUTE_##public == NDSH_QPA_##abi, "one mask")
SAME(ACCESS, ACCESS);
SAME(PATH, PATH);
SAME(PATH_MTU, MTU);
SAME(PEER_NUMBER, DEST_QPN);
SAME(RQ_PSN, RQ_PSN);
SAME(INBOUND_READS, MAX_DEST_RD);
SAME(MIN_RNR_TIMER, MIN_RNR);
SAME(TIMEOUT, TIMEOUT);
SAME(RETRIES, RETRY);
SAME(RNR_RETRIES, RNR_RETRY);
SAME(SQ_PSN, SQ_PSN);
SAME(OUTBOUND_READS, MAX_RD);
SAME(KEEPALIVE, KEEPALIVE);
static_assert(ND_QP_STATE_RTR == NDSH_QPS_RTR && ND_QP_STATE_ERROR == NDSH_QPS_ERR, "one set");

/* Check what the daemon cannot, since it does not fit into the message. */
nd_status
nd_attributes_out(struct ndsh_qp_attr *to, const struct nd_qp_attributes *from)
{
	struct ndsh_addr peer = {.port = 0};

	if ((from->mask & ND_QP_ATTRIBUTE_PATH) &&
		!nd_address_from(&peer, (const struct sockaddr *)&from->peer, sizeof(from->peer)))
		return nd_fail(ND_INVALID_ADDRESS, "not an IPv4 or IPv6 address");
	if ((from->mask & ND_QP_ATTRIBUTE_ACCESS) &&
		(from->access & ~(ND_QP_ALLOW_REMOTE_READ | ND_QP_ALLOW_REMOTE_WRITE |
					ND_QP_ALLOW_REMOTE_ATOMIC)) != 0)
		return nd_fail(ND_INVALID_PARAMETER, "unknown rights: 0x%x", from->access);
	*to = (struct ndsh_qp_attr){
		.mask = from->mask,
		.flow_label = from->flow_label,
		.traffic_class = from->traffic_class,
		.hop_limit = from->hop_limit,
		.max_dest_rd = from->inbound_reads,
		.max_rd = from->outbound_reads,
		.min_rnr_code = from->min_rnr_timer,
		.timeout_code = from->timeout,
		.retry = from->retries,
		.rnr_retry = from->rnr_retries,
		.mtu_bytes = from->path_mtu,
		.dest_qpn = from->peer_number,
		.rq_psn = from->rq_psn,
		.sq_psn = from->sq_psn,
		.keepalive_ms = from->keepalive_ms,
	};
	for (unsigned i = 0; i < RIGHTS; i++)
		if (from->access & rights[i].allow)
			to->access |= rights[i].access;
	memcpy(to->ip, peer.ip, sizeof(to->ip));
	return ND_SUCCESS;
}

void
nd_attributes_in(struct nd_qp_attributes *to, const struct ndsh_qp_attr *from)
{
	static const uint8_t none[16];
	struct ndsh_addr peer = {.port = 0};

	*to = (struct nd_qp_attributes){
		.flow_label = from->flow_label,
		.traffic_class = from->traffic_class,
		.hop_limit = from->hop_limit,
		.inbound_reads = from->max_dest_rd,
		.outbound_reads = from->max_rd,
		.path_mtu = from->mtu_bytes,
		.peer_number = from->dest_qpn,
		.rq_psn = from->rq_psn,
		.sq_psn = from->sq_psn,
		.timeout = from->timeout_code,
		.retries = from->retry,
		.rnr_retries = from->rnr_retry,
		.min_rnr_timer = from->min_rnr_code,
		.keepalive_ms = from->keepalive_ms,
	};
	for (unsigned i = 0; i < RIGHTS; i++)
		if (from->access & rights[i].access)
			to->access |= rights[i].allow;
	memcpy(peer.ip, from->ip, sizeof(peer.ip));
	if (memcmp(from->ip, none, sizeof(none)) != 0)
		(void)nd_address_to(&to->peer, &peer);
}
