/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pairs that wait for room in a pool. They stand in line at their principal: what comes back
 * to it is for them, even if queue pairs of another principal wait as well. Those that waited
 * longest are put before all others of their client that have something to send, so a busy queue
 * pair can't take what it gave back a moment ago before they had a try.
 */
#include "roce/starved.h"

#include "base/list.h"
#include "roce/qp/qp.h"
#include "roce/queue/senders.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"

static bool
may_go_on(const struct roce_shard *s, const struct roce_principal *p, enum roce_pool_kind kind)
{
	if (base_list_empty(&p->starved[kind]))
		return false;
	return kind == ROCE_POOL_WQES ? roce_wqe_is_left(s, p, ROCE_SIDE_SEND)
				      : roce_ext_is_left(s, p, ROCE_SIDE_SEND);
}

bool
roce_starved_may_go_on(const struct roce_shard *s)
{
	for (const struct base_link *l = s->starving.next; l != &s->starving; l = l->next) {
		const struct roce_principal *p = base_container(l, struct roce_principal, starving);

		if (may_go_on(s, p, ROCE_POOL_WQES) || may_go_on(s, p, ROCE_POOL_EXTS))
			return true;
	}
	return false;
}

void
roce_starved_wake(struct roce_shard *s)
{
	struct base_link *l, *next;

	for (l = s->starving.next; l != &s->starving; l = next) {
		struct roce_principal *p = base_container(l, struct roce_principal, starving);

		next = l->next;
		for (unsigned i = 0; i < ROCE_POOLS; i++)
			if (may_go_on(s, p, i))
				roce_senders_lead_line(s, &p->starved[i]);
		if (base_list_empty(&p->starved[ROCE_POOL_WQES]) &&
			base_list_empty(&p->starved[ROCE_POOL_EXTS]))
			base_list_remove(l);
	}
}
