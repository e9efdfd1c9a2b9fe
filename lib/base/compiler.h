/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said to the compiler on the packet path: which way a branch goes, what to inline. */
#ifndef BASE_COMPILER_H
#define BASE_COMPILER_H

#define base_likely(x)	 __builtin_expect(!!(x), 1)
#define base_unlikely(x) __builtin_expect(!!(x), 0)

/* For small functions that run for each packet: gcc makes calls of those that have two callers,
 * which cost some ten instructions more per packet. */
#define BASE_INLINE __attribute__((always_inline)) static inline

#endif
