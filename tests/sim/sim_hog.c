/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Principals on one shard. The client that the models are of has a reserve, and a weight. Beside
 * it, in some worlds, there is one without a reserve that takes what it can, the hog: its queue
 * pairs send to a station that does not exist, so that nothing is ever acknowledged and all that
 * they send stays in flight. It posts all that its rings hold and more, rings for nothing, resets
 * its queue pairs, and destroys them with all their requests.
 *
 * What must hold: the other client's requests complete as its models say, so it is never left
 * without the slots of its reserve, nor without its turns; and what each principal's share counts
 * is what its queue pairs hold (roce_shard_check(), in every turn that checks all).
 */
#include "sim_hog.h"

#include <string.h>

#include "sim.h"
#include "sim_kind.h"

#define DEPTH	 16u
#define CQ_DEPTH 64u

static const uint8_t nobody[6] = {2, 0x66, 0x66, 0x66, 0x66, 0x66};

static void
principal_init(struct sim_shard *sh, struct roce_principal *p, uint32_t wqes, uint32_t exts,
	uint32_t wakeups)
{
	struct sim_world *w = sh->host->w;
	const struct roce_principal_cfg cfg = {
		.weight = 1 + (uint32_t)sim_below(w, ROCE_WEIGHT_MAX),
		.wakeups = wakeups,
		.pool = {[ROCE_POOL_WQES] = {wqes, UINT32_MAX},
			[ROCE_POOL_EXTS] = {exts, UINT32_MAX}},
	};

	sim_check(w, roce_principal_init(sh->s, p, &cfg), "roce_principal_init()");
}

void
sim_client_principal_init(struct sim_client *c)
{
	uint32_t wqes = c->w->shard_cfg.max_wqes;

	principal_init(c->shard, &c->principal, wqes / 4 + (uint32_t)sim_below(c->w, wqes / 2), 2,
		sim_wakeups_limit(c));
	roce_client_init(&c->engine, &c->principal);
}

static void
hog_qp_connect(struct sim_shard *sh, struct roce_qp *qp)
{
	struct sim_world *w = sh->host->w;
	struct roce_qp_attr a = {.mtu_bytes = 256u << sim_below(w, 5),
		.port = (uint16_t)sh->host->number,
		.dest_qpn = 2,
		.max_rd = 4,
		.max_dest_rd = 4,
		.path = sim_path(sh->host, sh->host, false)};

	memcpy(a.path.dmac, nobody, sizeof(nobody));
	(void)roce_qp_modify(sh->s, qp, w->now_ns, ROCE_QPS_RESET, 0, NULL);
	(void)roce_qp_modify(sh->s, qp, w->now_ns, ROCE_QPS_INIT, ROCE_QPA_ACCESS, &a);
	(void)roce_qp_modify(sh->s, qp, w->now_ns, ROCE_QPS_RTR, SIM_QPA_RTR, &a);
	sim_check(w,
		roce_qp_modify(sh->s, qp, w->now_ns, ROCE_QPS_RTS, SIM_QPA_RTS, &a) ==
			ROCE_MODIFY_OK,
		"the hog is not connected");
}

static void
hog_qp_new(struct sim_shard *sh, unsigned i)
{
	static const struct ndsh_qp_dims dims = {DEPTH, DEPTH, 16, 16, 256};
	struct sim_hog *g = &sh->hog;
	struct ndsh_qp_layout layout;

	sim_check(sh->host->w, ndsh_qp_layout(&dims, &layout), "ndsh_qp_layout()");
	g->q[i].block = sim_alloc(sh->host->w, layout.total_bytes);
	g->q[i].qp = roce_qp_create(sh->s, &(struct roce_qp_cfg){.pd = g->pd,
						   .send_cq = g->cq,
						   .recv_cq = g->cq,
						   .shared = g->q[i].block,
						   .dims = dims,
						   .owner = g});
	sim_check(sh->host->w, g->q[i].qp != NULL, "no room for a queue pair of the hog");
	ndsh_sq_view(&g->q[i].sq, g->q[i].block, &dims);
	ndsh_rq_view(&g->q[i].rq, g->q[i].block, &dims);
	hog_qp_connect(sh, g->q[i].qp);
}

void
sim_hog_init(struct sim_shard *sh)
{
	struct sim_world *w = sh->host->w;
	struct sim_hog *g = &sh->hog;
	void *base;

	g->there = sim_chance(w, 3000);
	if (!g->there)
		return;
	principal_init(sh, &g->principal, 0, 0, 0);
	roce_client_init(&g->client, &g->principal);
	base = sim_alloc(w, ndsh_cq_bytes(CQ_DEPTH));
	g->cq = roce_cq_create(sh->s, &g->client, base, CQ_DEPTH, g);
	g->pd = roce_pd_create(sh->s);
	sim_check(w, g->cq != NULL && g->pd != 0, "no room for the hog");
	ndsh_cq_reader_view(&g->reader, base, CQ_DEPTH);
	for (unsigned i = 0; i < SIM_HOG_QPS; i++)
		hog_qp_new(sh, i);
	sim_kind(SIM_KIND_hogs);
}

/* As many as it likes, whether there is room or not; some have long lists, or long inline data. */
static void
hog_post(struct sim_shard *sh, unsigned i)
{
	static const uint8_t data[256];
	struct sim_world *w = sh->host->w;
	struct sim_hog *g = &sh->hog;
	unsigned n = 1 + (unsigned)sim_below(w, DEPTH * 3 / 2);

	for (; n > 0; n--) {
		bool inl = sim_chance(w, 8000);
		uint32_t bytes = inl ? (uint32_t)sim_below(w, 257) : 0;
		uint32_t flags = inl ? NDSH_WRF_INLINE : 0;

		ndsh_sq_push(&g->q[i].sq,
			&(struct ndsh_swr){.ctrl = NDSH_CTRL(NDSH_OP_WRITE, 0, flags, 0),
				.inline_bytes = bytes},
			NULL, data);
		ndsh_rq_push(&g->q[i].rq, n, NULL, 0);
	}
	roce_qp_doorbell(sh->s, &g->client, g->q[i].qp);
}

/* A breach ends the session of a real client; here it begins anew. */
static void
hog_act(struct sim_shard *sh, unsigned i)
{
	struct sim_world *w = sh->host->w;
	struct sim_hog *g = &sh->hog;

	if (roce_qp_reason(g->q[i].qp) == ROCE_REASON_CLIENT_BREACH)
		sim_kind(SIM_KIND_breaches);
	switch (sim_below(w, 8)) {
	case 0:
		roce_qp_destroy(sh->s, g->q[i].qp);
		hog_qp_new(sh, i);
		break;
	case 1:
		if (!roce_qp_flush(sh->s, g->q[i].qp))
			break;
		hog_qp_connect(sh, g->q[i].qp);
		g->q[i].sq.next = ((struct ndsh_qp_page *)g->q[i].block)->sq_done;
		g->q[i].rq.next = ((struct ndsh_qp_page *)g->q[i].block)->rq_done;
		break;
	case 2:
		roce_qp_doorbell(sh->s, &g->client, g->q[i].qp);
		break;
	default:
		hog_post(sh, i);
	}
}

void
sim_hog_run(struct sim_shard *sh)
{
	struct sim_world *w = sh->host->w;
	struct ndsh_cqe cqe[CQ_DEPTH];

	if (!sh->hog.there || !sim_chance(w, 1000))
		return;
	(void)ndsh_cq_poll(&sh->hog.reader, cqe, CQ_DEPTH);
	hog_act(sh, (unsigned)sim_below(w, SIM_HOG_QPS));
}

static void
principal_end(struct sim_shard *sh, struct roce_client *c, struct roce_principal *p)
{
	struct sim_world *w = sh->host->w;
	unsigned turns = 0;

	sim_check(w, roce_client_fini(sh->s, c), "a client still has queues");
	while (!roce_principal_fini(sh->s, p)) {
		sim_check(w, turns++ < 64, "requests of a principal are never freed");
		roce_shard_poll_rings(sh->s, w->now_ns, 0);
	}
}

void
sim_hog_end(struct sim_shard *sh)
{
	struct sim_world *w = sh->host->w;
	struct sim_hog *g = &sh->hog;

	for (unsigned i = 0; g->there && i < SIM_HOG_QPS; i++)
		roce_qp_destroy(sh->s, g->q[i].qp);
	if (g->there) {
		sim_check(w, roce_cq_destroy(sh->s, g->cq) && roce_pd_destroy(sh->s, g->pd),
			"the hog has left something behind");
		principal_end(sh, &g->client, &g->principal);
	}
	principal_end(sh, &sh->client.engine, &sh->client.principal);
}

bool
sim_hog_owns(const struct sim_shard *sh, const void *owner)
{
	return sh->hog.there && owner == &sh->hog;
}

bool
sim_hog_frame(const uint8_t *frame)
{
	return memcmp(frame, nobody, sizeof(nobody)) == 0;
}
