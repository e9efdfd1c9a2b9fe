/* SPDX-License-Identifier: BSD-3-Clause */
/* Adoption that the application did not ask for: whether it is worth a try, and to be had. */
#ifndef ND_BY_DEFAULT_H
#define ND_BY_DEFAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ndclient/ndclient.h"

struct nd_adopted;
struct nd_adoptions;

/* Does a registration with these flags adopt memory: not at all, by default, or as asked for? */
enum nd_adopt_wish { ND_WISH_NOT, ND_WISH_DEFAULT, ND_WISH_ASKED };
enum nd_adopt_wish nd_default_wish(uint32_t flags);

/* A reason against it that is known without a look, or ND_ADOPT_REASONS. This and the next three
 * with nd_adoptions.make_lock held, or before the range is known to others. */
enum nd_adopt_reason nd_default_at_hand(const struct nd_adoptions *all, size_t bytes);
/* Memory of at most so many bytes would be refused again: no look is taken for a while. */
void nd_default_refused(struct nd_adoptions *all, enum nd_adopt_reason why, size_t bytes);
/* A reason that a look tells, or ND_ADOPT_REASONS. of_kernel, others: as of nd_safe_look(). */
enum nd_adopt_reason nd_default_look(
	struct nd_adapter *a, const void *at, size_t bytes, bool of_kernel, bool *others);
/* The clock of nd_adopted.since_ms. */
uint64_t nd_default_clock(void);
/* Memory is adopted by default, and is not any more; nd_adoptions.lock held. */
void nd_default_begun(struct nd_adoptions *all, const struct nd_adopted *x);
void nd_default_ended(struct nd_adoptions *all, const struct nd_adopted *x);

#endif
