/* SPDX-License-Identifier: BSD-3-Clause */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool
latency_init(struct latency *l, uint32_t room)
{
	memset(l, 0, sizeof(*l));
	l->ns = malloc((size_t)room * sizeof(*l->ns));
	l->room = room;
	latency_reset(l);
	return l->ns != NULL;
}

void
latency_free(struct latency *l)
{
	free(l->ns);
	l->ns = NULL;
}

void
latency_reset(struct latency *l)
{
	l->count = 0;
	l->min_ns = UINT32_MAX;
	l->max_ns = 0;
	l->mean = l->m2 = 0.0;
	l->random = 0x9e3779b97f4a7c15ull; /* a fixed seed: equal samples have equal summaries */
}

/* A random number, uniform in 0..n-1 for n < 2^32 and nearly so above: xorshift64*, then the upper
 * half of a product. */
static uint64_t
random_below(struct latency *l, uint64_t n)
{
	l->random ^= l->random >> 12;
	l->random ^= l->random << 25;
	l->random ^= l->random >> 27;
	return (uint64_t)((__uint128_t)(l->random * 0x2545f4914f6cdd1dull) * n >> 64);
}

void
latency_add(struct latency *l, uint64_t ns)
{
	uint32_t v = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
	double delta = v - l->mean;
	uint64_t at = l->count++;

	l->min_ns = v < l->min_ns ? v : l->min_ns;
	l->max_ns = v > l->max_ns ? v : l->max_ns;
	l->mean += delta / (double)l->count;
	l->m2 += delta * (v - l->mean);
	if (at >= l->room)
		at = random_below(l, l->count);
	if (at < l->room)
		l->ns[at] = v;
}

static int
sample_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The smallest sample for which at least the given share of all samples is less or equal. */
static double
samples_percentile(const uint32_t *sorted, size_t n, double share)
{
	size_t rank = (size_t)ceil(share * (double)n);

	return sorted[rank > 0 ? rank - 1 : 0];
}

void
latency_summarise(struct latency *l, double scale, struct latency_summary *s)
{
	size_t n = l->count < l->room ? (size_t)l->count : l->room;
	double us = scale / 1e3;

	memset(s, 0, sizeof(*s));
	if (n == 0)
		return;
	qsort(l->ns, n, sizeof(*l->ns), sample_compare);
	s->min = l->min_ns * us;
	s->max = l->max_ns * us;
	s->typical = samples_percentile(l->ns, n, 0.5) * us;
	s->average = l->mean * us;
	s->stdev = l->count > 1 ? sqrt(l->m2 / (double)(l->count - 1)) * us : 0.0;
	s->p99 = samples_percentile(l->ns, n, 0.99) * us;
	s->p999 = samples_percentile(l->ns, n, 0.999) * us;
}

void
rate_start(struct rate *r, uint64_t now_ns)
{
	memset(r, 0, sizeof(*r));
	r->start_ns = r->window_ns = r->last_ns = now_ns;
}

void
rate_add(struct rate *r, uint64_t now_ns, uint64_t messages, uint64_t bytes)
{
	double speed;

	r->messages += messages;
	r->bytes += bytes;
	r->window_bytes += bytes;
	r->last_ns = now_ns;
	if (now_ns - r->window_ns < RATE_WINDOW_NS)
		return;
	speed = (double)r->window_bytes * 1e9 / (double)(now_ns - r->window_ns);
	if (speed > r->peak)
		r->peak = speed;
	r->window_ns = now_ns;
	r->window_bytes = 0;
}

void
rate_summarise(const struct rate *r, struct rate_summary *s)
{
	uint64_t ns = r->last_ns - r->start_ns;

	memset(s, 0, sizeof(*s));
	if (ns == 0)
		return;
	s->seconds = (double)ns / 1e9;
	s->average = (double)r->bytes / s->seconds;
	s->messages = (double)r->messages / s->seconds;
	/* A run that is shorter than a window has its average as peak. */
	s->peak = r->peak > s->average ? r->peak : s->average;
}
