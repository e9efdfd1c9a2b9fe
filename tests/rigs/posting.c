/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "rigs/posting.h"
#include "rigs/zeroed.h"

struct posting *
posting_new(uint32_t depth)
{
	const struct ndsh_qp_dims d = {
		.sq_depth = depth, .rq_depth = depth, .sq_sge = 2, .rq_sge = 2, .inline_bytes = 32};
	struct posting *b = zeroed(sizeof(*b));
	struct ndsh_qp_layout l;

	cr_assert(ndsh_qp_layout(&d, &l));
	b->block = zeroed(l.total_bytes);
	b->a = zeroed(sizeof(*b->a));
	b->a->page = &b->page;
	b->a->wake_fd = -1;
	b->a->max_transfer_bytes = 1000;
	b->qp.adapter = b->a;
	b->qp.page = b->block;
	b->qp.state = ND_QP_CONNECTED;
	b->qp.sq_sge = b->qp.rq_sge = 2;
	b->qp.inline_bytes = 32;
	ndsh_sq_view(&b->qp.sq, b->block, &d);
	ndsh_rq_view(&b->qp.rq, b->block, &d);
	ndsh_sq_view(&b->daemon_sq, b->block, &d);
	ndsh_rq_view(&b->daemon_rq, b->block, &d);
	return b;
}

void
posting_free(struct posting *b)
{
	free(b->block);
	free(b->a);
	free(b);
}
