/* SPDX-License-Identifier: BSD-3-Clause */
/* Replay blocks: a pool of the shard, for the responders of READs and atomics. */
#include "roce/qp/replay.h"

#include <string.h>

#include "base/list.h"
#include "roce/mem/moved.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"

#define READS_REST_NS 1000000000u /* a block used more recently is not taken from its queue pair */

/*
 * A queue pair keeps its replay block to its end, because the peer may repeat a READ at any time.
 * If all blocks are in use, the one that was not used for longest is taken: a READ that its peer
 * repeats after that is dropped, as READs that are too old are (W-DUP-03). NULL: all were used in
 * the last second, or have responses to send.
 */
static struct roce_read_block *
reads_take_oldest(struct roce_shard *s)
{
	struct base_link *link = base_list_first(&s->reads_lru);
	struct roce_read_block *b;

	if (link == NULL)
		return NULL;
	b = base_container(link, struct roce_read_block, lru);
	if (b->qp->rd_pending > 0 || s->now_ns - b->used_ns < READS_REST_NS)
		return NULL;
	roce_reads_put(s, b->qp);
	return s->reads_free;
}

struct roce_read_block *
roce_reads_get(struct roce_shard *s, struct roce_qp *qp)
{
	struct roce_read_block *b = qp->reads;

	if (b == NULL) {
		b = s->reads_free != NULL ? s->reads_free : reads_take_oldest(s);
		if (b == NULL)
			return NULL;
		s->reads_free = (void *)b->lru.next;
		memset(b, 0, sizeof(*b));
		b->qp = qp;
		qp->reads = b;
		qp->rd_next = 0;
		qp->rd_cur = 0;
	}
	b->used_ns = s->now_ns;
	base_list_remove(&b->lru);
	base_list_append(&s->reads_lru, &b->lru);
	return b;
}

void
roce_reads_put(struct roce_shard *s, struct roce_qp *qp)
{
	struct roce_read_block *b = qp->reads;

	if (b == NULL)
		return;
	roce_moved_atomics_drop(s, qp);
	base_list_remove(&b->lru);
	b->qp = NULL;
	b->lru.next = (void *)s->reads_free;
	s->reads_free = b;
	qp->reads = NULL;
}

/* All responses of a pending slot are sent, or given up. */
void
roce_read_done(struct roce_qp *qp, uint32_t index)
{
	qp->reads->slot[index].pending = false;
	if (--qp->rd_pending == 0)
		return;
	while (!qp->reads->slot[qp->rd_cur].pending)
		qp->rd_cur = (uint8_t)((qp->rd_cur + 1u) % ROCE_RD_ATOMIC_MAX);
}
