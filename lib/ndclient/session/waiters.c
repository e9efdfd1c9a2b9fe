/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of overlapped requests: internal_ptr[0] of each is the link. */
#include "ndclient/session/overlapped.h"
#include "ndclient/session/waiters.h"

void
nd_waiters_add(struct nd_waiters *w, struct nd_overlapped *ov)
{
	ov->internal_ptr[0] = NULL;
	if (w->first == NULL)
		w->first = ov;
	else
		w->last->internal_ptr[0] = ov;
	w->last = ov;
	w->count++;
}

void
nd_waiters_move(struct nd_waiters *to, struct nd_waiters *from)
{
	if (from->first == NULL)
		return;
	if (to->first == NULL)
		to->first = from->first;
	else
		to->last->internal_ptr[0] = from->first;
	to->last = from->last;
	to->count += from->count;
	*from = (struct nd_waiters){0};
}

void
nd_waiters_end(struct nd_waiters *w, nd_status st)
{
	struct nd_overlapped *ov = w->first;

	w->first = w->last = NULL;
	w->count = 0;
	while (ov != NULL) {
		struct nd_overlapped *next = ov->internal_ptr[0];

		nd_overlapped_end(ov, st);
		ov = next;
	}
}
