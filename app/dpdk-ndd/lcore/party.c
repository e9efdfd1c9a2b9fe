/* SPDX-License-Identifier: BSD-3-Clause */
#include "lcore/party.h"

#include "lcore/shard.h"

/* The engine has an extension for each eighth request. */
#define EXTENSIONS_OF(requests) ((requests) / 8)

bool
ndd_party_begin(struct ndd_shard *shard, struct ndd_party *p, const struct ndd_party_cfg *cfg)
{
	uint32_t limit = cfg->requests_limit;
	const struct roce_principal_cfg engine = {.weight = cfg->weight,
		.wakeups = cfg->wakeups,
		.now_ns = cfg->now_ns,
		.tokens = cfg->woken,
		.pool = {
			[ROCE_POOL_WQES] = {.reserve = cfg->requests_reserve, .cap = limit},
			[ROCE_POOL_EXTS] = {.reserve = EXTENSIONS_OF(cfg->requests_reserve),
				.cap = limit == ROCE_CAP_FAIR ? limit : EXTENSIONS_OF(limit) + 2},
		}};

	if (!base_share_begin(
		    &shard->regions, &p->regions, cfg->regions_reserve, cfg->regions_limit))
		return false;
	if (roce_principal_init(shard->engine, &p->engine, &engine))
		return true;
	base_share_end(&shard->regions, &p->regions);
	return false;
}

bool
ndd_party_end(struct ndd_shard *shard, struct ndd_party *p)
{
	if (!roce_principal_fini(shard->engine, &p->engine))
		return false;
	base_share_end(&shard->regions, &p->regions);
	return true;
}
