/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of a shard that are full: one more is refused, and nothing else suffers. */
#include <string.h>

#include "sim.h"
#include "sim_kind.h"

#define CHANCE 5u

static void
fill_regions(struct sim_client *c)
{
	struct roce_shard *s = c->shard->s;
	struct sim_world *w = c->w;
	struct roce_mr **mrs = sim_alloc(w, w->shard_cfg.max_mrs * sizeof(struct roce_mr *));
	void *page = sim_alloc(w, 4096);
	uint32_t slot;
	uint64_t secret;
	unsigned n = 0;

	while ((mrs[n] = roce_mr_register(s, c->pd, w->next_va, 4096, page, 0)) != NULL)
		sim_check(w, ++n < w->shard_cfg.max_mrs, "more regions than the table has");
	sim_check(w, roce_mw_create(s, c->pd, &slot, &secret) == NULL, "a window too many");
	while (n > 0)
		sim_check(w, roce_mr_deregister(s, mrs[--n]), "a region is busy");
}

static void
fill_domains(struct sim_client *c)
{
	struct roce_shard *s = c->shard->s;
	uint32_t pds[64];
	unsigned n = 0;

	while ((pds[n] = roce_pd_create(s)) != 0)
		sim_check(c->w, ++n < 64, "more domains than the table has");
	while (n > 0)
		sim_check(c->w, roce_pd_destroy(s, pds[--n]), "a domain is busy");
}

static void
fill_queue_pairs(struct sim_client *c)
{
	const struct ndsh_qp_dims dims = {.sq_depth = 1, .rq_depth = 1, .sq_sge = 1, .rq_sge = 1};
	struct roce_shard *s = c->shard->s;
	struct sim_world *w = c->w;
	struct ndsh_qp_layout layout;
	struct roce_qp *qps[128];
	unsigned n = 0;

	sim_check(w, ndsh_qp_layout(&dims, &layout), "ndsh_qp_layout()");
	for (;;) {
		const struct roce_qp_cfg cfg = {.pd = c->pd,
			.send_cq = c->cqs[0].cq,
			.recv_cq = c->cqs[0].cq,
			.dims = dims,
			.shared = sim_alloc(w, layout.total_bytes)};

		if ((qps[n] = roce_qp_create(s, &cfg)) == NULL)
			break;
		sim_check(w, ++n < 128, "more queue pairs than the table has");
	}
	while (n > 0)
		roce_qp_destroy(s, qps[--n]);
}

void
sim_exhaust(struct sim_client *c)
{
	struct roce_usage before, after;

	if (c->exhausted || !sim_chance(c->w, CHANCE))
		return;
	c->exhausted = true;
	sim_note(c->w, "host %u.%u: full tables", c->shard->host->number, c->shard->number);
	roce_shard_usage(c->shard->s, &before);
	fill_regions(c);
	fill_domains(c);
	fill_queue_pairs(c);
	roce_shard_usage(c->shard->s, &after);
	sim_check(c->w, memcmp(&before, &after, sizeof(before)) == 0,
		"full tables have left something behind");
	sim_kind(SIM_KIND_full_tables);
}
