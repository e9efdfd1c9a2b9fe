/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndwin/futex.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S  1000000000ull
#define NS_PER_MS 1000000ull

uint64_t
ndwin_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t
ndwin_deadline(DWORD milliseconds)
{
	if (milliseconds == INFINITE)
		return NDWIN_NEVER;
	return milliseconds == 0 ? 0 : ndwin_now_ns() + milliseconds * NS_PER_MS;
}

bool
ndwin_futex_wait(const uint32_t *word, uint32_t value, uint64_t deadline)
{
	struct timespec ts = {
		.tv_sec = (time_t)(deadline / NS_PER_S), .tv_nsec = (long)(deadline % NS_PER_S)};

	if (deadline == 0)
		return false;
	return syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, value,
		       deadline == NDWIN_NEVER ? NULL : &ts, NULL, FUTEX_BITSET_MATCH_ANY) == 0 ||
	       errno != ETIMEDOUT;
}

void
ndwin_futex_wake(const void *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT32_MAX, NULL, NULL, 0);
}

void
ndwin_wakes_add(struct ndwin_wakes *w, const uint32_t *word)
{
	if (w->count == _countof(w->word))
		ndwin_wakes_flush(w);
	w->word[w->count++] = word;
}

void
ndwin_wakes_flush(struct ndwin_wakes *w)
{
	for (uint32_t i = 0; i < w->count; i++)
		ndwin_futex_wake(w->word[i]);
	w->count = 0;
}
