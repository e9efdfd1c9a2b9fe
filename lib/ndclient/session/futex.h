/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping on a word of memory, and the clock that deadlines are read from. */
#ifndef ND_FUTEX_H
#define ND_FUTEX_H

#include <stdbool.h>
#include <stdint.h>

/* Sleep until *word differs from value (may return early). deadline_ns: CLOCK_MONOTONIC or
 * UINT64_MAX. False: the deadline has passed. */
bool nd_futex_wait(const void *word, uint32_t value, uint64_t deadline_ns);
/* Wake all threads that sleep on the word. Only its address is used, never its contents. */
void nd_futex_wake(const void *word);
uint64_t nd_now_ns(void); /* CLOCK_MONOTONIC */

#endif
