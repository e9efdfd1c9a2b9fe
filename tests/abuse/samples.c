/* SPDX-License-Identifier: BSD-3-Clause */
#include "samples.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

uint64_t
samples_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void
samples_init(struct samples *s, const char *name)
{
	s->name = name;
	pthread_mutex_init(&s->lock, NULL);
}

void
samples_begin(struct samples *s)
{
	pthread_mutex_lock(&s->lock);
	s->begun = samples_now();
	pthread_mutex_unlock(&s->lock);
}

void
samples_end(struct samples *s, bool good)
{
	uint64_t took;

	pthread_mutex_lock(&s->lock);
	took = samples_now() - s->begun;
	s->begun = 0;
	s->ns[s->done++ % (SAMPLES_MAX - 1)] = took > UINT32_MAX ? UINT32_MAX : (uint32_t)took;
	s->failed += !good;
	if (took > s->longest)
		s->longest = took;
	pthread_mutex_unlock(&s->lock);
}

static int
by_length(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

void
samples_print(struct samples *s)
{
	uint64_t age;
	uint32_t kept;

	pthread_mutex_lock(&s->lock);
	age = s->begun ? samples_now() - s->begun : 0;
	kept = s->done < SAMPLES_MAX - 1 ? (uint32_t)s->done : SAMPLES_MAX - 1;
	if (age > s->longest)
		s->ns[kept++] = age > UINT32_MAX ? UINT32_MAX : (uint32_t)age;
	qsort(s->ns, kept, sizeof(s->ns[0]), by_length);
	printf("\"%s\": {\"n\": %" PRIu64 ", \"failed\": %" PRIu64
	       ", \"p50_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f}",
		s->name, s->done, s->failed, kept ? s->ns[kept / 2] / 1e3 : 0.0,
		kept ? s->ns[(uint64_t)kept * 99 / 100] / 1e3 : 0.0,
		(double)(age > s->longest ? age : s->longest) / 1e3);
	s->done = s->failed = s->longest = 0;
	pthread_mutex_unlock(&s->lock);
}
