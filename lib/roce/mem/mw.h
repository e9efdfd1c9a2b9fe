/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows, for the rest of the engine. */
#ifndef ROCE_MW_H
#define ROCE_MW_H

#include "base/compiler.h"
#include "base/list.h"
#include "roce/mem/mr.h"
#include "roce/shard/line.h"
#include "roce/shard/shard.h"

struct roce_qp;
struct roce_wqe;

/*
 * The windows that are bound through a queue pair; there is one of these for each, at the same
 * index. When a queue pair ends, all of them are invalid at once, and there may be thousands. So a
 * queue pair has a number, binder, which each window bound through it repeats; at its end it takes
 * another one. Nothing opens a window whose binder is no queue pair's, and code that meets it sees
 * that it is free. The turns that follow unbind such windows, some in each.
 */
struct roce_windows {
	struct base_link ended; /* in its client's line: some are of an earlier binder */
	struct roce_mr_ring ring;
};

enum roce_bind_result { ROCE_BIND_OK, ROCE_BIND_REFUSED, ROCE_BIND_BREACH };

/* Windows of type 1 have no binder. */
static inline bool
roce_mw_is_bound(const struct roce_mr *mw)
{
	return mw->type == NDSH_MW_TYPE_1 ? mw->bytes != 0 : mw->binder != 0;
}

/* Carry out the BIND w. */
enum roce_bind_result roce_mw_bind(
	struct roce_shard *s, struct roce_qp *qp, const struct roce_wqe *w);
/* False: it is not bound through qp. */
bool roce_mw_invalidate(struct roce_shard *s, struct roce_qp *qp, struct roce_mr *mw);
/* The binder of the queue pair at this index behind that one; 0: the first. */
uint32_t roce_mw_next_binder(uint32_t index, uint32_t binder);
/* Does qp keep windows open? */
bool roce_mw_keeps(const struct roce_shard *s, const struct roce_qp *qp);
/* All windows that are bound through qp are invalid. */
void roce_mw_let_go(struct roce_shard *s, struct roce_qp *qp);
/* Unbind some of those that qp has let go. True: none is left. */
bool roce_mw_unbind(struct roce_shard *s, const struct roce_qp *qp);
/* The same of the queue pairs in line, as much as a turn may take. */
void roce_mw_unbind_list(struct roce_shard *s);

/* True: there were any. */
static inline bool
roce_mw_unbind_some(struct roce_shard *s)
{
	if (base_likely(!roce_line_may_wait(s, ROCE_LINE_WINDOWS)))
		return false;
	roce_mw_unbind_list(s);
	return true;
}

/* Are there any of this client's? Then regions count windows that are invalid. */
static inline bool
roce_mw_unbinding(const struct roce_client *c)
{
	return !base_list_empty(&c->line[ROCE_LINE_WINDOWS].items);
}

#endif
