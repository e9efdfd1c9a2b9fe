/* SPDX-License-Identifier: BSD-3-Clause */
/* A small shard without a peer, for tests of its tables and pools. */
#ifndef LONE_SHARD_H
#define LONE_SHARD_H

#include "roce/roce.h"

#define LONE_QPS   64u
#define LONE_SHARD 5u /* its number */

struct roce_shard_cfg lone_config(void);
/* The caller frees it. */
struct roce_shard *lone_shard_new(const struct roce_shard_cfg *cfg);
/* A queue pair in RESET; the caller frees its rings, *block, even if there was none left (NULL). */
struct roce_qp *lone_qp_new(struct roce_shard *s, uint32_t pd, struct roce_cq *cq, void **block);

#endif
