/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of queue pairs, rights of regions, statuses as errno. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <netinet/in.h>

#include "ndclient/mem/region.h"
#include "ndverbs/attributes.h"
#include "ndverbs/errors.h"
#include "ndverbs/query.h"
#include "ndverbs/region.h"

#define TO_RTR                                                                                     \
	(IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |                           \
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define TO_RTS                                                                                     \
	(IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |                    \
		IBV_QP_MAX_QP_RD_ATOMIC)

static const struct ibv_qp_attr sample = {
	.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
	.path_mtu = IBV_MTU_2048,
	.rq_psn = 0xff123456,
	.sq_psn = 0xff654321,
	.dest_qp_num = 0xabc,
	.max_rd_atomic = 3,
	.max_dest_rd_atomic = 4,
	.min_rnr_timer = 12,
	.timeout = 14,
	.retry_cnt = 6,
	.rnr_retry = 5,
	.port_num = 1,
	.ah_attr = {.is_global = 1,
		.port_num = 1,
		.grh = {.dgid.raw = {[10] = 0xff, [11] = 0xff, [12] = 192, [14] = 2, [15] = 7},
			.flow_label = 0x12345,
			.traffic_class = 106,
			.hop_limit = 9}},
};

Test(ndverbs_attributes, there)
{
	struct nd_qp_attributes a;

	cr_assert(
		eq(i32, ndv_attributes_to(&a, &sample, TO_RTR | TO_RTS | IBV_QP_ACCESS_FLAGS), 0));
	cr_expect(eq(u32, a.mask, ND_QP_TO_RTR | ND_QP_TO_RTS | ND_QP_ATTRIBUTE_ACCESS));
	cr_expect(eq(u32, a.access, ND_QP_ALLOW_REMOTE_WRITE | ND_QP_ALLOW_REMOTE_ATOMIC));
	cr_expect(eq(u32, a.path_mtu, 2048));
	cr_expect(eq(u32, a.rq_psn, 0x123456));
	cr_expect(eq(u32, a.sq_psn, 0x654321));
	cr_expect(eq(u32, a.peer_number, 0xabc));
	cr_expect(eq(u8, a.outbound_reads, 3));
	cr_expect(eq(u8, a.inbound_reads, 4));
	cr_expect(eq(u8, a.min_rnr_timer, 12));
	cr_expect(eq(u8, a.timeout, 14));
	cr_expect(eq(u8, a.retries, 6));
	cr_expect(eq(u8, a.rnr_retries, 5));
	cr_expect(eq(u32, a.flow_label, 0x12345));
	cr_expect(eq(u8, a.traffic_class, 104), "not its ECN bits");
	cr_expect(eq(u8, a.hop_limit, 9));
	cr_expect(eq(u32, ((struct sockaddr_in *)&a.peer)->sin_addr.s_addr, htonl(0xc0000207)));
}

/* Programs leave on their stacks what they do not name. */
Test(ndverbs_attributes, what_is_not_named_is_not_taken)
{
	struct nd_qp_attributes a;

	cr_assert(eq(i32, ndv_attributes_to(&a, &sample, IBV_QP_PORT), 0));
	cr_expect(eq(u32, a.mask | a.access | a.path_mtu | a.peer_number, 0));
	cr_expect(eq(u32, a.rq_psn | a.sq_psn | a.flow_label, 0));
	cr_expect(eq(u32, (uint32_t)a.inbound_reads | a.outbound_reads | a.timeout, 0));
	cr_expect(eq(u32, (uint32_t)a.retries | a.rnr_retries | a.min_rnr_timer, 0));
	cr_expect(eq(u32, (uint32_t)a.traffic_class | a.hop_limit | a.peer.ss_family, 0));
}

Test(ndverbs_attributes, and_back)
{
	struct nd_qp_attributes a;
	struct ibv_qp_attr b;

	cr_assert(eq(i32, ndv_attributes_to(&a, &sample, TO_RTR | TO_RTS), 0));
	ndv_attributes_from(&b, &a);
	cr_expect(eq(i32, b.path_mtu, IBV_MTU_2048));
	cr_expect(eq(u32, b.rq_psn, 0x123456));
	cr_expect(eq(u32, b.sq_psn, 0x654321));
	cr_expect(eq(u32, b.dest_qp_num, 0xabc));
	cr_expect(eq(u8, b.max_rd_atomic, 3));
	cr_expect(eq(u8, b.max_dest_rd_atomic, 4));
	cr_expect(eq(u8, b.min_rnr_timer, 12));
	cr_expect(eq(u8, b.timeout, 14));
	cr_expect(eq(u8, b.retry_cnt, 6));
	cr_expect(eq(u8, b.rnr_retry, 5));
	cr_expect(eq(u8, b.ah_attr.grh.dgid.raw[15], 7));
	cr_expect(eq(u8, b.ah_attr.grh.hop_limit, 9));
}

Test(ndverbs_attributes, values_that_are_none)
{
	struct ibv_qp_attr port = sample, pkey = sample, mtu = sample, access = sample,
			   local = sample, gid = sample;
	struct nd_qp_attributes a;

	port.port_num = 2;
	pkey.pkey_index = 1;
	mtu.path_mtu = IBV_MTU_4096 + 1;
	access.qp_access_flags = IBV_ACCESS_ZERO_BASED;
	local.ah_attr.is_global = 0;
	gid.ah_attr.grh.sgid_index = 1;
	cr_expect(eq(i32, ndv_attributes_to(&a, &port, IBV_QP_PORT), EINVAL));
	cr_expect(eq(i32, ndv_attributes_to(&a, &pkey, IBV_QP_PKEY_INDEX), EINVAL));
	cr_expect(eq(i32, ndv_attributes_to(&a, &mtu, IBV_QP_PATH_MTU), EINVAL));
	cr_expect(eq(i32, ndv_attributes_to(&a, &access, IBV_QP_ACCESS_FLAGS), EINVAL));
	cr_expect(eq(i32, ndv_attributes_to(&a, &local, IBV_QP_AV), EINVAL));
	cr_expect(eq(i32, ndv_attributes_to(&a, &gid, IBV_QP_AV), EINVAL));
	cr_expect(eq(i32, ndv_attributes_to(&a, &port, IBV_QP_AV), 0), "not asked for");
}

Test(ndverbs_attributes, states)
{
	const uint32_t nd[] = {ND_QP_STATE_RESET, ND_QP_STATE_INIT, ND_QP_STATE_RTR,
		ND_QP_STATE_RTS, ND_QP_STATE_SQD, ND_QP_STATE_ERROR};
	const enum ibv_qp_state verbs[] = {
		IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_ERR};

	for (int i = 0; i < 6; i++) {
		cr_expect(eq(u32, ndv_state_to(verbs[i]), nd[i]));
		cr_expect(eq(i32, ndv_state_from(nd[i]), verbs[i]));
	}
}

Test(ndverbs_attributes, mtus)
{
	const uint32_t bytes[] = {256, 512, 1024, 2048, 4096};

	for (int i = 0; i < 5; i++) {
		cr_expect(eq(i32, ndv_mtu_of_bytes(bytes[i]), IBV_MTU_256 + i));
		cr_expect(eq(u32, ndv_bytes_of_mtu((enum ibv_mtu)(IBV_MTU_256 + i)), bytes[i]));
	}
	cr_expect(eq(i32, ndv_mtu_of_bytes(1023), IBV_MTU_512));
	cr_expect(eq(i32, ndv_mtu_of_bytes(9000), IBV_MTU_4096));
}

Test(ndverbs_attributes, rights_of_regions)
{
	uint32_t flags = 1;

	cr_expect(eq(i32, ndv_region_flags(0, &flags), 0));
	cr_expect(eq(u32, flags, 0));
	cr_expect(eq(i32, ndv_region_flags(IBV_ACCESS_LOCAL_WRITE, &flags), 0));
	cr_expect(eq(u32, flags, ND_MR_FLAG_ALLOW_LOCAL_WRITE));
	cr_expect(eq(i32, ndv_region_flags(IBV_ACCESS_REMOTE_READ, &flags), 0));
	cr_expect(eq(u32, flags, ND_MR_FLAG_ALLOW_REMOTE_READ));
	cr_expect(eq(i32,
		ndv_region_flags(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, &flags), 0));
	cr_expect(eq(u32, flags, ND_MR_FLAG_ALLOW_REMOTE_WRITE));
	cr_expect(eq(i32,
		ndv_region_flags(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC, &flags), 0));
	cr_expect(eq(u32, flags, ND_MR_FLAG_ALLOW_REMOTE_ATOMIC));
	cr_expect(eq(i32, ndv_region_flags(IBV_ACCESS_MW_BIND, &flags), 0));
	cr_expect(eq(u32, flags, ND_MR_FLAG_ALLOW_WINDOWS));
	cr_expect(eq(i32, ndv_region_flags(IBV_ACCESS_RELAXED_ORDERING, &flags), 0));
	cr_expect(eq(i32, ndv_region_flags(IBV_ACCESS_REMOTE_WRITE, &flags), EINVAL));
	cr_expect(eq(i32, ndv_region_flags(IBV_ACCESS_REMOTE_ATOMIC, &flags), EINVAL));
	cr_expect(eq(i32, ndv_region_flags(IBV_ACCESS_ZERO_BASED, &flags), 0));
	cr_expect(eq(u32, flags, 0));
	cr_expect(eq(i32, ndv_region_flags(IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED, &flags), 0));
	cr_expect(eq(u32, flags, 0), "W-MEM-05: no windows");
	cr_expect(eq(i32, ndv_region_flags(IBV_ACCESS_ON_DEMAND, &flags), EOPNOTSUPP));
	cr_expect(eq(i32, ndv_region_flags(1u << 19, &flags), EINVAL));
}

Test(ndverbs_errors, of_statuses)
{
	cr_expect(eq(i32, ndv_errno(ND_SUCCESS), 0));
	cr_expect(eq(i32, ndv_errno(ND_NO_MORE_ENTRIES), ENOMEM));
	cr_expect(eq(i32, ndv_errno(ND_CONNECTION_INVALID), EINVAL));
	cr_expect(eq(i32, ndv_errno(ND_DEVICE_REMOVED), EIO));
	cr_expect(eq(i32, ndv_errno(ND_NOT_SUPPORTED), EOPNOTSUPP));
	cr_expect(eq(i32, ndv_errno(ND_DEVICE_NOT_READY), ENODEV));
}
