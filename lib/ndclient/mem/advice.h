/* SPDX-License-Identifier: BSD-3-Clause */
/* What the application told the kernel about memory. */
#ifndef ND_ADVICE_H
#define ND_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

/* Is [at, at+bytes) memory as any other: not locked, of no NUMA node or protection key, with no
 * advice for it? Other pages would not have that. False also if to find out would cost more than to
 * copy the range. */
bool nd_advice_is_none(const void *at, size_t bytes);

#endif
