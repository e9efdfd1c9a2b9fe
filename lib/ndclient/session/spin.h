/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock that is held for a few dozen instructions. */
#ifndef ND_SPIN_H
#define ND_SPIN_H

#include <stdint.h>

struct nd_spin {
	uint32_t held;
};

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
