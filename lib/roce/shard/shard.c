/* SPDX-License-Identifier: BSD-3-Clause */
/* A shard: one block of memory, divided once into tables and pools. */
#include "roce/shard/shard.h"

#include "base/list.h"
#include "base/siphash.h"
#include "roce/assert.h"
#include "roce/cc/cc.h"
#include "roce/cc/pace.h"
#include "roce/mem/door.h"
#include "roce/mem/moved.h"
#include "roce/mem/mr.h"
#include "roce/mem/mw.h"
#include "roce/qp/qp.h"
#include "roce/qp/replay.h"
#include "roce/queue/cq.h"
#include "roce/queue/srq.h"
#include "roce/queue/wqe.h"
#include "roce/shard/pool.h"
#include "roce/shard/qpn.h"
#include "roce/shard/timer.h"
#include "roce/shard/window.h"

#define MAX_QPS		 (1u << ROCE_INDEX_BITS)
#define MAX_MRS		 (1u << ROCE_MR_BITS)
#define MAX_WQES	 (1u << 22)
#define MAX_OTHERS	 (1u << 20)
#define RTO_FLOOR_MIN_NS 100000u

/* Where in the block each table and pool is. It follows from cfg alone. */
struct carve {
	size_t qps, mrs, mr_free, cqs, srqs, pd_refs, pd_free, doors, wqes, exts, reads, moved, ccs,
		windows, total;
	uint32_t num_exts;
};

static size_t
carve_part(struct carve *c, size_t count, size_t each)
{
	size_t at = c->total;

	c->total = (at + count * each + 63) & ~(size_t)63;
	return at;
}

static bool
cfg_ok(const struct roce_shard_cfg *cfg)
{
	return cfg->shard_id < 1u << ROCE_SHARD_BITS && cfg->max_qps >= 1 &&
	       cfg->max_qps <= MAX_QPS && cfg->max_mrs >= 1 && cfg->max_mrs <= MAX_MRS &&
	       cfg->max_cqs >= 1 && cfg->max_cqs <= MAX_OTHERS && cfg->max_pds >= 1 &&
	       cfg->max_pds <= MAX_OTHERS && cfg->max_srqs <= MAX_OTHERS && cfg->max_wqes >= 16 &&
	       cfg->max_wqes <= MAX_WQES && cfg->rto_floor_ns >= RTO_FLOOR_MIN_NS &&
	       cfg->window >= 16 && cfg->window <= 4096;
}

/*
 * Most requests have few SGEs: the pool for the others is smaller, and an empty one delays requests
 * but fails none. Each queue pair has room for the state that READs of its peer need, for that of
 * moved memory, for its windows, and for that of congestion. Few queue pairs meet any; those pages
 * are not touched before.
 */
static bool
carve_plan(const struct roce_shard_cfg *cfg, struct carve *c)
{
	*c = (struct carve){0};
	if (!cfg_ok(cfg))
		return false;
	c->num_exts = roce_pool_exts(cfg);
	carve_part(c, 1, sizeof(struct roce_shard));
	c->qps = carve_part(c, cfg->max_qps, sizeof(struct roce_qp));
	c->mrs = carve_part(c, cfg->max_mrs, sizeof(struct roce_mr));
	c->mr_free = carve_part(c, cfg->max_mrs, sizeof(uint32_t));
	c->cqs = carve_part(c, cfg->max_cqs, sizeof(struct roce_cq));
	c->srqs = carve_part(c, cfg->max_srqs, sizeof(struct roce_srq));
	c->pd_refs = carve_part(c, cfg->max_pds, sizeof(uint32_t));
	c->pd_free = carve_part(c, cfg->max_pds, sizeof(uint32_t));
	c->doors = carve_part(c, cfg->max_pds, sizeof(struct roce_doors));
	c->wqes = carve_part(c, cfg->max_wqes, sizeof(struct roce_wqe));
	c->exts = carve_part(c, c->num_exts, sizeof(union roce_wqe_ext));
	c->reads = carve_part(c, cfg->max_qps, sizeof(struct roce_read_block));
	c->moved = carve_part(c, cfg->max_qps, sizeof(struct roce_moved));
	c->ccs = carve_part(c, cfg->max_qps, sizeof(struct roce_cc));
	c->windows = carve_part(c, cfg->max_qps, sizeof(struct roce_windows));
	return true;
}

size_t
roce_shard_bytes(const struct roce_shard_cfg *cfg)
{
	struct carve c;

	return carve_plan(cfg, &c) ? c.total : 0;
}

static void
init_lists(struct roce_shard *s)
{
	struct base_link *heads[] = {&s->acks_owed, &s->turns, &s->starving, &s->dropping,
		&s->principals, &s->cnps, &s->touched_cqs, &s->resting, &s->rings, &s->busy,
		&s->holding};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		base_list_init(heads[i]);
	for (unsigned i = 0; i < ROCE_LINES; i++)
		base_list_init(&s->line[i]);
	for (uint32_t i = 0; i < ROCE_WHEEL_SLOTS; i++)
		base_list_init(&s->wheel[i]);
	for (uint32_t i = 0; i < ROCE_PACE_SLOTS; i++)
		base_list_init(&s->pace.slot[i]);
}

static void
init_tables(struct roce_shard *s)
{
	const struct roce_shard_cfg *cfg = &s->cfg;

	for (uint32_t i = 0; i < cfg->max_qps; i++)
		s->qps[i].next_free = i + 1 < cfg->max_qps ? i + 1 : ROCE_NONE;
	s->qp_free_tail = cfg->max_qps - 1;
	for (uint32_t i = 0; i < cfg->max_mrs; i++)
		s->mr_free[i] = i;
	s->mr_free_count = cfg->max_mrs;
	for (uint32_t i = cfg->max_cqs; i-- > 0;) {
		s->cqs[i].next_free = s->cq_free;
		s->cq_free = &s->cqs[i];
	}
	for (uint32_t i = cfg->max_srqs; i-- > 0;) {
		s->srqs[i].next_free = s->srq_free;
		s->srq_free = &s->srqs[i];
	}
	for (uint32_t i = 0; i < cfg->max_pds; i++)
		s->pd_free[i] = cfg->max_pds - i;
	s->pd_free_count = cfg->max_pds;
}

static void
init_pools(struct roce_shard *s, const struct carve *c)
{
	struct roce_wqe *wqes = (void *)((char *)s + c->wqes);
	union roce_wqe_ext *exts = (void *)((char *)s + c->exts);

	for (uint32_t i = s->cfg.max_wqes; i-- > 0;) {
		wqes[i].next = s->wqe_free;
		s->wqe_free = &wqes[i];
	}
	s->exts_left = c->num_exts;
	for (uint32_t i = c->num_exts; i-- > 0;) {
		exts[i].next = s->ext_free;
		s->ext_free = &exts[i];
	}
}

static void
init_principal(struct roce_shard *s, const struct carve *c)
{
	const struct roce_principal_cfg all = {
		.weight = 1,
		.pool = {{.cap = ROCE_CAP_NONE}, {.cap = ROCE_CAP_NONE}},
	};

	roce_pool_init(&s->pool[ROCE_POOL_WQES], s->cfg.max_wqes);
	roce_pool_init(&s->pool[ROCE_POOL_EXTS], c->num_exts);
	(void)roce_principal_init(s, &s->own, &all);
	roce_client_init(&s->own_client, &s->own);
}

struct roce_shard *
roce_shard_init(void *mem, const struct roce_shard_cfg *cfg)
{
	struct roce_shard *s = mem;
	struct carve c;

	if (!carve_plan(cfg, &c))
		return NULL;
	s->cfg = *cfg;
	roce_window_init(s);
	s->qps = (void *)((char *)mem + c.qps);
	s->moved = (void *)((char *)mem + c.moved);
	s->ccs = (void *)((char *)mem + c.ccs);
	s->reads = (void *)((char *)mem + c.reads);
	s->windows = (void *)((char *)mem + c.windows);
	s->mrs = (void *)((char *)mem + c.mrs);
	s->mr_free = (void *)((char *)mem + c.mr_free);
	s->cqs = (void *)((char *)mem + c.cqs);
	s->srqs = (void *)((char *)mem + c.srqs);
	s->pd_refs = (void *)((char *)mem + c.pd_refs);
	s->pd_free = (void *)((char *)mem + c.pd_free);
	s->doors = (void *)((char *)mem + c.doors);
	roce_qpn_key_init(&s->qpn_key, cfg->secret);
	init_lists(s);
	init_tables(s);
	init_pools(s, &c);
	init_principal(s, &c);
	return s;
}

/* SipHash of a count: never the same twice. */
uint64_t
roce_shard_random(struct roce_shard *s, uint64_t domain)
{
	return ndsh_siphash(s->cfg.secret, domain << 32 | s->cfg.shard_id << 24, s->secret_count++);
}

uint32_t
roce_random_psn(struct roce_shard *s)
{
	return (uint32_t)roce_shard_random(s, 1) & ROCE_PSN_MASK;
}

const struct roce_counters *
roce_shard_counters(const struct roce_shard *s)
{
	return &s->count;
}

void
roce_shard_usage(const struct roce_shard *s, struct roce_usage *u)
{
	*u = s->usage;
	u->wqes = roce_wqes_in_use(s);
}

uint32_t
roce_pd_create(struct roce_shard *s)
{
	uint32_t pd;

	if (s->pd_free_count == 0)
		return 0;
	pd = s->pd_free[--s->pd_free_count];
	s->pd_refs[pd - 1] = 1;
	s->doors[pd - 1] = (struct roce_doors){0};
	s->usage.pds++;
	return pd;
}

bool
roce_pd_destroy(struct roce_shard *s, uint32_t pd)
{
	if (pd == 0 || pd > s->cfg.max_pds || s->pd_refs[pd - 1] != 1)
		return false;
	s->pd_refs[pd - 1] = 0;
	s->pd_free[s->pd_free_count++] = pd;
	s->usage.pds--;
	return true;
}

bool
roce_pd_get(struct roce_shard *s, uint32_t pd)
{
	if (pd == 0 || pd > s->cfg.max_pds || s->pd_refs[pd - 1] == 0)
		return false;
	s->pd_refs[pd - 1]++;
	return true;
}

void
roce_pd_put(struct roce_shard *s, uint32_t pd)
{
	roce_assert(s->pd_refs[pd - 1] > 1);
	s->pd_refs[pd - 1]--;
}
