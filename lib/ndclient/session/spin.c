/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/session/spin.h"

#include <sched.h>

/* Oversubscribed cores are normal: the holder may be off its core. */
void
nd_spin_wait(struct nd_spin *s)
{
	do {
		for (int i = 0; i < 64 && __atomic_load_n(&s->held, __ATOMIC_RELAXED) != 0; i++)
			__asm__ volatile("" ::: "memory");
		if (__atomic_load_n(&s->held, __ATOMIC_RELAXED) != 0)
			sched_yield();
	} while (__atomic_exchange_n(&s->held, 1, __ATOMIC_ACQUIRE) != 0);
}
