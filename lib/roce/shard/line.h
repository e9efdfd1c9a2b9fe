/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines: work of one kind that waits at the shard, of which a turn does a part. The next item is
 * the first one of the next client of the next principal: however many items one of them has, the
 * first item of another has only first items before it.
 */
#ifndef ROCE_LINE_H
#define ROCE_LINE_H

#include "base/list.h"
#include "roce/shard/shard.h"

/* item, which is of c, waits, unless it does already. base_list_remove() takes it out. */
void roce_line_join(struct roce_shard *s, struct roce_client *c, enum roce_line_kind kind,
	struct base_link *item);
/* The item whose turn it is; it stays. NULL: there is none. */
struct base_link *roce_line_next(struct roce_shard *s, enum roce_line_kind kind);

/*
 * Serve the items of a kind, each in its turn, for as much as budget; one item for no more than
 * part before it is the next one's turn. serve() does up to most of the work of an item, and
 * returns how much: if that is less, it has taken the item out of its line, which costs one more.
 * Returns how much of the budget was used.
 */
uint32_t roce_line_serve(struct roce_shard *s, enum roce_line_kind kind, uint32_t budget,
	uint32_t part,
	uint32_t (*serve)(struct roce_shard *s, struct base_link *item, uint32_t most));

/* False: nothing waits. True: perhaps something does. */
static inline bool
roce_line_may_wait(const struct roce_shard *s, enum roce_line_kind kind)
{
	return !base_list_empty(&s->line[kind]);
}

#endif
