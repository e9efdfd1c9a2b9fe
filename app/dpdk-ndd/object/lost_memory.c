/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What becomes of a client when a page of its memory was missing (sigbus.h). If nothing but entries
 * of one completion queue lay there, that queue fails (R-CQ-32) and the rest of the client goes on.
 * Else its rings mean nothing any more, and the session ends.
 */
#include "object/lost_memory.h"

#include "control/daemon.h"
#include "lcore/call.h"
#include "object/cq.h"
#include "object/segment.h"
#include "platform/sigbus.h"
#include "session/end.h"
#include "session/session.h"

struct loss {
	struct ndd_session *session;
	uintptr_t low, high;
	struct ndd_cq *cq; /* that failed, or NULL */
};

static void
on_shard_cq_fail(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct loss *l = arg;
	struct ndd_cq *cq;

	(void)now_ns;
	for (uint32_t pos = 0; (cq = ndd_slots_next(&l->session->cqs, &pos)) != NULL;)
		if (roce_cq_keeps_entries_at(cq->engine, l->low, l->high)) {
			roce_cq_fail(shard->engine, cq->engine);
			l->cq = cq;
			return;
		}
}

/* Is the segment whole, or has only a completion queue failed? False: the session must end. */
static bool
segment_can_go_on(struct ndd_session *s, struct ndd_segment *seg)
{
	struct loss l = {.session = s};

	if (!ndd_sigbus_broken(seg->map.host, &l.low, &l.high) ||
		(l.low == seg->lost_low && l.high == seg->lost_high)) /* known since earlier */
		return true;
	ndd_shard_call(s->shard, on_shard_cq_fail, &l);
	if (l.cq == NULL)
		return false;
	seg->lost_low = l.low;
	seg->lost_high = l.high;
	l.cq->lost = true;
	return true;
}

void
ndd_lost_memory(struct ndd *d)
{
	struct ndd_session *s, *next;

	if (!ndd_sigbus_happened())
		return;
	for (s = TAILQ_FIRST(&d->sessions); s != NULL; s = next) {
		struct ndd_segment *seg;
		bool whole = true;

		next = TAILQ_NEXT(s, next);
		for (uint32_t pos = 0; (seg = ndd_slots_next(&s->segments, &pos)) != NULL;)
			if (seg->state == NDD_SEGMENT_LIVE && !segment_can_go_on(s, seg))
				whole = false;
		if (!whole)
			ndd_session_end(s, "a page of its shared memory is missing");
	}
}
