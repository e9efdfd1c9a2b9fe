/* SPDX-License-Identifier: BSD-3-Clause */
/* A stack that threads push to without a lock. One thread takes all at once, so nothing that was
 * taken comes back meanwhile. */
#ifndef NDD_STACK_H
#define NDD_STACK_H

#include <stdbool.h>
#include <stddef.h>

struct ndd_stacked {
	struct ndd_stacked *next;
};

static inline void
ndd_stack_push(struct ndd_stacked **stack, struct ndd_stacked *e)
{
	struct ndd_stacked *first = __atomic_load_n(stack, __ATOMIC_RELAXED);

	do
		e->next = first;
	while (!__atomic_compare_exchange_n(
		stack, &first, e, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* In the order in which they were pushed. */
static inline struct ndd_stacked *
ndd_stack_take(struct ndd_stacked **stack)
{
	struct ndd_stacked *e = __atomic_exchange_n(stack, NULL, __ATOMIC_ACQUIRE);
	struct ndd_stacked *in_order = NULL;

	while (e != NULL) {
		struct ndd_stacked *next = e->next;

		e->next = in_order;
		in_order = e;
		e = next;
	}
	return in_order;
}

#endif
