/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <errno.h>
#include <stddef.h>

#include "ndclient/qp/qp.h"
#include "ndverbs/address.h"
#include "ndverbs/attributes.h"
#include "ndverbs/query.h"

static_assert((int)IBV_QPS_RESET == ND_QP_STATE_RESET && (int)IBV_QPS_INIT == ND_QP_STATE_INIT &&
		      (int)IBV_QPS_RTR == ND_QP_STATE_RTR && (int)IBV_QPS_RTS == ND_QP_STATE_RTS &&
		      (int)IBV_QPS_SQD == ND_QP_STATE_SQD,
	"one set");

/* The two bits of congestion control are not the program's: programs give classes of traffic, and
 * some of their numbers have a bit there (UCX's 106). */
#define ECN_BITS 0x3

#define ACCESS_RIGHTS                                                                              \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
		IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_OPTIONAL_RANGE)

static const struct {
	int verbs;
	uint32_t nd;
} masks[] = {
	{IBV_QP_ACCESS_FLAGS, ND_QP_ATTRIBUTE_ACCESS},
	{IBV_QP_AV, ND_QP_ATTRIBUTE_PATH},
	{IBV_QP_PATH_MTU, ND_QP_ATTRIBUTE_PATH_MTU},
	{IBV_QP_DEST_QPN, ND_QP_ATTRIBUTE_PEER_NUMBER},
	{IBV_QP_RQ_PSN, ND_QP_ATTRIBUTE_RQ_PSN},
	{IBV_QP_MAX_DEST_RD_ATOMIC, ND_QP_ATTRIBUTE_INBOUND_READS},
	{IBV_QP_MIN_RNR_TIMER, ND_QP_ATTRIBUTE_MIN_RNR_TIMER},
	{IBV_QP_TIMEOUT, ND_QP_ATTRIBUTE_TIMEOUT},
	{IBV_QP_RETRY_CNT, ND_QP_ATTRIBUTE_RETRIES},
	{IBV_QP_RNR_RETRY, ND_QP_ATTRIBUTE_RNR_RETRIES},
	{IBV_QP_SQ_PSN, ND_QP_ATTRIBUTE_SQ_PSN},
	{IBV_QP_MAX_QP_RD_ATOMIC, ND_QP_ATTRIBUTE_OUTBOUND_READS},
};

static const struct {
	int verbs;
	uint32_t nd;
} rights[] = {
	{IBV_ACCESS_REMOTE_READ, ND_QP_ALLOW_REMOTE_READ},
	{IBV_ACCESS_REMOTE_WRITE, ND_QP_ALLOW_REMOTE_WRITE},
	{IBV_ACCESS_REMOTE_ATOMIC, ND_QP_ALLOW_REMOTE_ATOMIC},
};

uint32_t
ndv_state_to(enum ibv_qp_state state)
{
	return state == IBV_QPS_ERR ? ND_QP_STATE_ERROR : (uint32_t)state;
}

enum ibv_qp_state
ndv_state_from(uint32_t state)
{
	if (state == ND_QP_STATE_SQE)
		return IBV_QPS_SQE;
	return state == ND_QP_STATE_ERROR ? IBV_QPS_ERR : (enum ibv_qp_state)state;
}

int
ndv_destination(const struct ibv_ah_attr *ah, struct sockaddr_storage *address)
{
	if (!ah->is_global || ah->grh.sgid_index != 0 || ah->port_num > 1)
		return EINVAL;
	ndv_address_of(&ah->grh.dgid, address);
	return 0;
}

static int
check_values(const struct ibv_qp_attr *a, int mask)
{
	if ((mask & IBV_QP_PORT) && a->port_num != 1)
		return EINVAL;
	if ((mask & IBV_QP_PKEY_INDEX) && a->pkey_index != 0)
		return EINVAL;
	if ((mask & IBV_QP_ACCESS_FLAGS) &&
		(a->qp_access_flags & ~(unsigned int)ACCESS_RIGHTS) != 0)
		return EINVAL;
	if ((mask & IBV_QP_PATH_MTU) && (a->path_mtu < IBV_MTU_256 || a->path_mtu > IBV_MTU_4096))
		return EINVAL;
	return 0;
}

/* What the mask does not name is perhaps not set: programs have it on their stacks. */
#define NAMED(bit, value) ((mask & (bit)) ? (value) : 0)

int
ndv_attributes_to(struct nd_qp_attributes *to, const struct ibv_qp_attr *from, int mask)
{
	const unsigned int access = NAMED(IBV_QP_ACCESS_FLAGS, from->qp_access_flags);
	int err = check_values(from, mask);

	*to = (struct nd_qp_attributes){
		.inbound_reads = NAMED(IBV_QP_MAX_DEST_RD_ATOMIC, from->max_dest_rd_atomic),
		.outbound_reads = NAMED(IBV_QP_MAX_QP_RD_ATOMIC, from->max_rd_atomic),
		.peer_number = NAMED(IBV_QP_DEST_QPN, from->dest_qp_num),
		.rq_psn = NAMED(IBV_QP_RQ_PSN, from->rq_psn & NDV_PSN_MASK),
		.sq_psn = NAMED(IBV_QP_SQ_PSN, from->sq_psn & NDV_PSN_MASK),
		.timeout = NAMED(IBV_QP_TIMEOUT, from->timeout),
		.retries = NAMED(IBV_QP_RETRY_CNT, from->retry_cnt),
		.rnr_retries = NAMED(IBV_QP_RNR_RETRY, from->rnr_retry),
		.min_rnr_timer = NAMED(IBV_QP_MIN_RNR_TIMER, from->min_rnr_timer),
	};
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++)
		if (mask & masks[i].verbs)
			to->mask |= masks[i].nd;
	for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++)
		if (access & (unsigned int)rights[i].verbs)
			to->access |= rights[i].nd;
	if (err == 0 && (mask & IBV_QP_PATH_MTU))
		to->path_mtu = ndv_bytes_of_mtu(from->path_mtu);
	if (err == 0 && (mask & IBV_QP_AV)) {
		to->flow_label = from->ah_attr.grh.flow_label & 0xfffff;
		to->traffic_class = from->ah_attr.grh.traffic_class & (uint8_t)~ECN_BITS;
		to->hop_limit = from->ah_attr.grh.hop_limit;
		err = ndv_destination(&from->ah_attr, &to->peer);
	}
	return err;
}

void
ndv_attributes_from(struct ibv_qp_attr *to, const struct nd_qp_attributes *from)
{
	*to = (struct ibv_qp_attr){
		.max_dest_rd_atomic = from->inbound_reads,
		.max_rd_atomic = from->outbound_reads,
		.dest_qp_num = from->peer_number,
		.rq_psn = from->rq_psn,
		.sq_psn = from->sq_psn,
		.timeout = from->timeout,
		.retry_cnt = from->retries,
		.rnr_retry = from->rnr_retries,
		.min_rnr_timer = from->min_rnr_timer,
		.path_mtu = from->path_mtu != 0 ? ndv_mtu_of_bytes(from->path_mtu) : 0,
		.port_num = 1,
	};
	for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++)
		if (from->access & rights[i].nd)
			to->qp_access_flags |= (unsigned int)rights[i].verbs;
	if (from->peer.ss_family == 0)
		return;
	to->ah_attr.is_global = 1;
	to->ah_attr.port_num = 1;
	to->ah_attr.grh.flow_label = from->flow_label;
	to->ah_attr.grh.traffic_class = from->traffic_class;
	to->ah_attr.grh.hop_limit = from->hop_limit;
	ndv_gid_of(&from->peer, &to->ah_attr.grh.dgid);
}
