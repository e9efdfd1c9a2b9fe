/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock that is held for a few dozen instructions. */
#ifndef ND_SPIN_H
#define ND_SPIN_H

#include <stdint.h>

struct nd_spin {
	uint32_t held;
};

/*
 * Between two looks at what another thread, or the daemon, is to do soon; *tries is 0 before the
 * first. It yields some times, then it sleeps for 50 us: Linux shares a CPU between groups
 * (sessions, cgroups) by what each runs there, so a thread that yields on and on may keep its
 * group's share from the very thread that it waits for.
 */
void nd_back_off(unsigned *tries);
void nd_spin_wait(struct nd_spin *s);

static inline void
nd_spin_lock(struct nd_spin *s)
{
	if (__atomic_exchange_n(&s->held, 1, __ATOMIC_ACQUIRE) != 0)
		nd_spin_wait(s);
}

static inline void
nd_spin_unlock(struct nd_spin *s)
{
	__atomic_store_n(&s->held, 0, __ATOMIC_RELEASE);
}

#endif
