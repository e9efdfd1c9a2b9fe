/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the stress programs have in common. They are programs of their own, as Criterion's isolation
 * and ThreadSanitizer (-Db_sanitize=thread) exclude each other. A deadline only bounds a failure: a
 * wake-up that is lost would be waited for for ever.
 */
#ifndef STRESS_H
#define STRESS_H

#include <errno.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STRESS_DEADLINE_S 60

#define STRESS_CHECK(ok, ...)                                                                      \
	do {                                                                                       \
		if (!(ok)) {                                                                       \
			fprintf(stderr, "line %d: %s: ", __LINE__, #ok);                           \
			fprintf(stderr, __VA_ARGS__);                                              \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* xorshift: pauses of a few dozen instructions shift two threads against each other */
static inline uint32_t
stress_pause(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	for (volatile uint32_t i = 0; i < (*seed & 63); i++)
		;
	return *seed;
}

/* False: it is not posted within the deadline. */
static inline bool
stress_wait(sem_t *sem)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += STRESS_DEADLINE_S;
	while (sem_timedwait(sem, &until) != 0)
		if (errno == ETIMEDOUT)
			return false;
	return true;
}

#endif
