/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/lone_shard.h"

struct roce_shard_cfg
lone_config(void)
{
	return (struct roce_shard_cfg){.shard_id = LONE_SHARD,
		.max_qps = LONE_QPS,
		.max_cqs = 2,
		.max_pds = 3,
		.max_mrs = 8,
		.max_wqes = 64,
		.secret = {11, 22},
		.rto_floor_ns = 1000000,
		.window = 64};
}

struct roce_shard *
lone_shard_new(const struct roce_shard_cfg *cfg)
{
	size_t bytes = roce_shard_bytes(cfg);
	void *mem = aligned_alloc(64, bytes);

	cr_assert_gt(bytes, 0);
	return roce_shard_init(memset(mem, 0, bytes), cfg);
}

struct roce_qp *
lone_qp_new(struct roce_shard *s, uint32_t pd, struct roce_cq *cq, void **block)
{
	const struct ndsh_qp_dims dims = {4, 4, 1, 1, 0};
	struct ndsh_qp_layout l;

	ndsh_qp_layout(&dims, &l);
	*block = aligned_alloc(64, (l.total_bytes + 63) & ~63u);
	memset(*block, 0, l.total_bytes);
	return roce_qp_create(
		s, &(struct roce_qp_cfg){
			   .pd = pd, .send_cq = cq, .recv_cq = cq, .shared = *block, .dims = dims});
}
