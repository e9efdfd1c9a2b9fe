/* SPDX-License-Identifier: BSD-3-Clause */
/* Overlapped requests that one event completes, in the order of their issue. */
#ifndef ND_WAITERS_H
#define ND_WAITERS_H

#include <stdint.h>

#include "ndclient/ndclient.h"

struct nd_waiters {
	struct nd_overlapped *first, *last;
	uint32_t count;
};

/* A pending request becomes the last of the waiters. */
void nd_waiters_add(struct nd_waiters *w, struct nd_overlapped *ov);
/* Move all of from behind those of to. */
void nd_waiters_move(struct nd_waiters *to, struct nd_waiters *from);
/* Complete them all. */
void nd_waiters_end(struct nd_waiters *w, nd_status st);

#endif
