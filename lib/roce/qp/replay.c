/* SPDX-License-Identifier: BSD-3-Clause */
/* Replay blocks, for the responders of READs and atomics. */
#include "roce/qp/replay.h"

#include <string.h>

#include "base/compiler.h"
#include "roce/mem/moved.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"

/* The block may have been that of an earlier queue pair, or of this one before a reset: nothing of
 * it may be answered. */
void
roce_reads_use(struct roce_shard *s, struct roce_qp *qp)
{
	if (base_likely(qp->reads != NULL))
		return;
	qp->reads = &s->reads[qp - s->qps];
	memset(qp->reads, 0, sizeof(*qp->reads));
	qp->rd_next = 0;
	qp->rd_cur = 0;
}

void
roce_reads_forget(struct roce_shard *s, struct roce_qp *qp)
{
	roce_moved_idle(s, qp, true);
	roce_moved_atomics_drop(s, qp);
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
