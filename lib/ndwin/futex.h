/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping on a word. A wake-up needs the word's address only, so the word may be gone by then:
 * each sleeper looks again at what it waits for, and takes a stray wake-up for none.
 */
#ifndef NDWIN_FUTEX_H
#define NDWIN_FUTEX_H

#include <stdbool.h>

#include "ndwin/ndwin.h"

#define NDWIN_NEVER UINT64_MAX

/* So many milliseconds from now, in nanoseconds of CLOCK_MONOTONIC; NDWIN_NEVER if INFINITE. */
uint64_t ndwin_deadline(DWORD milliseconds);
uint64_t ndwin_now_ns(void);

/* Sleep while *word is that value. False: the deadline has passed. */
bool ndwin_futex_wait(const uint32_t *word, uint32_t value, uint64_t deadline);
void ndwin_futex_wake(const void *word);

/*
 * Words whose sleepers are to be woken when the locks are free again, in which their conditions
 * came true: a thread that is woken earlier would run into them.
 */
struct ndwin_wakes {
	uint32_t count;
	const uint32_t *word[15];
};

void ndwin_wakes_add(struct ndwin_wakes *w, const uint32_t *word);
void ndwin_wakes_flush(struct ndwin_wakes *w);

#endif
