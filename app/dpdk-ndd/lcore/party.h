/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A party: a principal on one shard. It has a share of what the lcore hands out by itself (requests
 * in flight, regions) and its turns. It is there from the principal's first session on that shard
 * to its last; a principal that the configuration names has one on each shard from the start.
 */
#ifndef NDD_PARTY_H
#define NDD_PARTY_H

#include "base/share.h"
#include "roce/shard/principal.h"

struct ndd_shard;

struct ndd_party_cfg {
	uint32_t weight, wakeups;
	struct base_bucket woken; /* what it had left of its wake-ups on this shard */
	uint64_t now_ns;
	uint32_t requests_reserve, requests_limit; /* or ROCE_CAP_FAIR */
	uint64_t regions_reserve, regions_limit;   /* or BASE_SHARE_FAIR */
};

struct ndd_party {
	struct roce_principal engine;
	struct base_share regions;
};

/* On the lcore. False: the shard has not what is reserved. */
bool ndd_party_begin(struct ndd_shard *shard, struct ndd_party *p, const struct ndd_party_cfg *cfg);
/* False: something of it is still in use. */
bool ndd_party_end(struct ndd_shard *shard, struct ndd_party *p);

#endif
