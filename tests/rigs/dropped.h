/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to send as queue pairs leave them that are gone. */
#ifndef DROPPED_H
#define DROPPED_H

#include <criterion/criterion.h>

#include "roce/shard/pool.h"

/* n requests of the shard's own principal are dropped at once. */
static inline void
drop_requests(struct roce_shard *s, unsigned n)
{
	struct roce_wqe *first = NULL, *last = NULL;

	while (n-- > 0) {
		struct roce_wqe *w = roce_wqe_alloc(s, &s->own, ROCE_SIDE_SEND);

		cr_assert_not_null(w);
		w->next = first;
		first = w;
		last = last == NULL ? w : last;
	}
	roce_wqes_drop(s, &s->own, first, last);
}

#endif
