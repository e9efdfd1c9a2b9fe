/* SPDX-License-Identifier: BSD-3-Clause */
/* Flushing: the requests of a queue pair in ERR complete with FLUSH_ERR. */
#ifndef ROCE_FLUSH_H
#define ROCE_FLUSH_H

#include "base/compiler.h"
#include "base/list.h"
#include "roce/shard/line.h"
#include "roce/shard/shard.h"

/* Into the list of the queue pairs that are to be flushed. */
void roce_flush_join(struct roce_shard *s, struct roce_qp *qp);
/* Out of that list, if it is in there. */
void roce_flush_leave(struct roce_qp *qp);
/* Flush one request of the send queue; false: none is left. */
bool roce_flush_send(struct roce_shard *s, struct roce_qp *qp);
/* Flush queue pairs of the list, as much as a turn may take; false: there were none. */
bool roce_flush_list(struct roce_shard *s);

/* True: there was something to flush. */
static inline bool
roce_flush_some(struct roce_shard *s)
{
	if (base_likely(!roce_line_may_wait(s, ROCE_LINE_FLUSH)))
		return false;
	return roce_flush_list(s);
}

#endif
