/* SPDX-License-Identifier: BSD-3-Clause */
#include "lcore/giving_way.h"

static void
judge_anew(struct ndd_giving_way *g, bool sleeps, uint64_t now_ns)
{
	g->sleeps = sleeps;
	g->since_ns = now_ns;
	g->lost_ns = 0;
}

void
ndd_giving_way_yielded(struct ndd_giving_way *g, uint64_t now_ns, uint64_t took_ns)
{
	if (now_ns - g->since_ns > NDD_YIELDS_JUDGED_NS) { /* they were cheap enough */
		g->doublings = 0;
		judge_anew(g, false, now_ns);
	}
	if (took_ns >= NDD_YIELD_DEAR_NS)
		g->lost_ns += took_ns;
	if (g->lost_ns > (g->doublings == 0 ? NDD_YIELDS_LOST_NS : NDD_YIELDS_TRY_NS))
		judge_anew(g, true, now_ns);
}

bool
ndd_giving_way_sleeps(struct ndd_giving_way *g, uint64_t now_ns, uint64_t idle_ns)
{
	if (idle_ns > NDD_SLEEP_NS)
		return true;
	if (g->sleeps && now_ns - g->since_ns > NDD_YIELDS_AGAIN_NS << g->doublings) {
		if (g->doublings < NDD_YIELDS_DOUBLINGS)
			g->doublings++;
		judge_anew(g, false, now_ns);
	}
	return g->sleeps;
}
