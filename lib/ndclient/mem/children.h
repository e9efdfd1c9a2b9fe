/* SPDX-License-Identifier: BSD-3-Clause */
/* Adopted memory in children of this process. */
#ifndef ND_CHILDREN_H
#define ND_CHILDREN_H

struct nd_adopted;

/* Children are kept off x from here on. nd_exchange_lock() held, for both. */
void nd_children_watch(struct nd_adopted *x);
void nd_children_forget(struct nd_adopted *x);
/* Before the first of them, with no lock held. */
void nd_children_begin(void);

#endif
