/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/session/spin.h"

#include <sched.h>
#include <time.h>

#define YIELDS	 8u
#define SLEEP_NS 50000

void
nd_back_off(unsigned *tries)
{
	const struct timespec moment = {.tv_nsec = SLEEP_NS};

	if (*tries < YIELDS) {
		++*tries;
		sched_yield();
		return;
	}
	(void)nanosleep(&moment, NULL);
}

/* Oversubscribed cores are normal: the holder may be off its core. */
void
nd_spin_wait(struct nd_spin *s)
{
	unsigned tries = 0;

	do {
		for (int i = 0; i < 64 && __atomic_load_n(&s->held, __ATOMIC_RELAXED) != 0; i++)
			__asm__ volatile("" ::: "memory");
		if (__atomic_load_n(&s->held, __ATOMIC_RELAXED) != 0)
			nd_back_off(&tries);
	} while (__atomic_exchange_n(&s->held, 1, __ATOMIC_ACQUIRE) != 0);
}
