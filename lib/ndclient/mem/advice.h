/* SPDX-License-Identifier: BSD-3-Clause */
/* What the application told the kernel about memory. */
#ifndef ND_ADVICE_H
#define ND_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

enum nd_advice { ND_ADVICE_NONE, ND_ADVICE_SOME, ND_ADVICE_TOO_DEAR };

/* Is [at, at+bytes) memory as any other: not locked, of no NUMA node or protection key, with no
 * advice for it? Other pages would not have that. Too dear: to find out would cost more than half
 * of a copy of the range; then less at this place would be, too. */
enum nd_advice nd_advice_of(const void *at, size_t bytes);

#endif
