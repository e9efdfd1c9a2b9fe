/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A failing seed is made small in three steps, of which each keeps what fails in the same way.
 *
 * First, worlds of fewer kinds of decisions: stream after stream is made 0 as a whole, the others
 * stay random; where that seed no longer fails, a few others are tried. Then the decisions
 * that are left are written down, so that all others are 0, and groups of them are taken
 * away: an actor's, a stream's, then ever smaller pieces. Last, values are made smaller.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sim_isolate.h"
#include "sim_scenario.h"
#include "sim_shrink.h"

#define OTHER_SEEDS 4u	/* that are tried without a stream */
#define LAST_SEEDS  60u /* ... with the streams that are left */
#define TRACE_LINES 400u

struct search {
	struct sim_shared *shared;
	struct sim_case best;
	struct sim_script script;   /* of the best */
	struct sim_outcome outcome; /* ... */
	struct sim_script candidate;
	char kind[sizeof(((struct sim_outcome *)0)->kind)];
	uint64_t most_steps; /* of a candidate */
	unsigned runs, run_ms, budget_s;
	int nowhere;
};

static double
spent_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static bool
is_over(const struct search *s)
{
	return spent_s() > s->budget_s;
}

/* Does the candidate fail in the same way, without taking much longer? */
static bool
fails(struct search *s, uint64_t seed)
{
	struct sim_case c = {.seed = seed, .profile = s->best.profile, .script = &s->candidate};

	sim_script_seal(&s->candidate);
	s->runs++;
	return !sim_run_isolated(&c, s->shared, s->run_ms, s->nowhere) &&
	       strcmp(s->shared->outcome.kind, s->kind) == 0 &&
	       s->shared->outcome.steps <= s->most_steps;
}

/* The candidate that was run last is the best. */
static void
keep(struct search *s, uint64_t seed)
{
	struct sim_script was = s->script;

	s->best.seed = seed;
	s->outcome = s->shared->outcome;
	s->script = s->candidate;
	s->candidate = was;
}

/* Of a plain one, what was asked for and is not 0 is all there is. */
static void
keep_record(struct search *s)
{
	s->outcome = s->shared->outcome;
	sim_script_clear(&s->script);
	s->script.plain = true;
	for (uint32_t i = 0; i < s->shared->recorded; i++)
		sim_script_add(&s->script, &s->shared->record[i]);
}

/* ---- whole streams ---- */

static void
copy_list(struct sim_script *to, const struct sim_script *from)
{
	sim_script_clear(to);
	to->plain = from->plain;
	for (uint32_t i = 0; i < from->count; i++)
		sim_script_add(to, &from->list[i]);
}

static void
drop_stream(struct search *s, uint64_t stream)
{
	const struct sim_choice none = {.stream = stream, .actor = SIM_ANY, .ordinal = SIM_ANY};

	for (unsigned k = 0; k <= OTHER_SEEDS && !is_over(s); k++) {
		uint64_t seed = k == 0 ? s->best.seed : sim_mix(s->best.seed + k);

		copy_list(&s->candidate, &s->script);
		sim_script_add(&s->candidate, &none);
		if (!fails(s, seed))
			continue;
		keep(s, seed);
		return;
	}
}

/* The streams that made a decision, in the order of the first ones. */
static uint32_t
list_streams(const struct search *s, uint64_t *streams)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->shared->recorded; i++) {
		uint32_t k = 0;

		while (k < n && streams[k] != s->shared->record[i].stream)
			k++;
		if (k == n)
			streams[n++] = s->shared->record[i].stream;
	}
	return n;
}

static void
drop_streams(struct search *s)
{
	uint64_t streams[SIM_STREAMS_MAX];
	uint32_t n = list_streams(s, streams);

	for (uint32_t i = 0; i < n && !is_over(s); i++)
		drop_stream(s, streams[i]);
	for (unsigned k = 0; k < LAST_SEEDS && !is_over(s); k++) {
		uint64_t seed = sim_mix(s->best.seed ^ k << 8);

		copy_list(&s->candidate, &s->script);
		if (fails(s, seed) && s->shared->outcome.steps < s->outcome.steps)
			keep(s, seed);
	}
}

/* From here on what is left is listed. False: the list does not fail. */
static bool
write_down(struct search *s)
{
	copy_list(&s->candidate, &s->script);
	if (!fails(s, s->best.seed))
		return false;
	keep_record(s);
	copy_list(&s->candidate, &s->script);
	if (!fails(s, s->best.seed))
		return false;
	keep_record(s);
	return true;
}

/* ---- groups of decisions ---- */

typedef bool group_test(const struct sim_choice *a, const struct sim_choice *b);

static bool
same_actor(const struct sim_choice *a, const struct sim_choice *b)
{
	return a->actor == b->actor;
}

static bool
same_stream(const struct sim_choice *a, const struct sim_choice *b)
{
	return a->stream == b->stream;
}

static bool
same_both(const struct sim_choice *a, const struct sim_choice *b)
{
	return a->stream == b->stream && a->actor == b->actor;
}

/* Is there a decision of the same group in front? */
static bool
is_first(const struct search *s, uint32_t i, group_test *same)
{
	for (uint32_t k = 0; k < i; k++)
		if (same(&s->script.list[k], &s->script.list[i]))
			return false;
	return true;
}

static bool
drop_group(struct search *s, const struct sim_choice *of, group_test *same)
{
	sim_script_clear(&s->candidate);
	s->candidate.plain = true;
	for (uint32_t i = 0; i < s->script.count; i++)
		if (!same(&s->script.list[i], of))
			sim_script_add(&s->candidate, &s->script.list[i]);
	if (!fails(s, s->best.seed))
		return false;
	keep_record(s);
	return true;
}

static void
drop_groups(struct search *s, group_test *same)
{
	for (uint32_t i = 0; i < s->script.count && !is_over(s);) {
		struct sim_choice of = s->script.list[i];

		if (!is_first(s, i, same) || !drop_group(s, &of, same))
			i++;
	}
}

static bool
drop_piece(struct search *s, uint32_t from, uint32_t n)
{
	sim_script_clear(&s->candidate);
	s->candidate.plain = true;
	for (uint32_t i = 0; i < s->script.count; i++)
		if (i < from || i >= from + n)
			sim_script_add(&s->candidate, &s->script.list[i]);
	if (!fails(s, s->best.seed))
		return false;
	keep_record(s);
	return true;
}

/* The end first: what comes behind the cause is not needed. */
static bool
drop_pieces(struct search *s, uint32_t size)
{
	bool some = false;
	uint32_t at = s->script.count;

	while (at > 0 && !is_over(s)) {
		uint32_t n = at < size ? at : size;

		at -= n;
		if (!drop_piece(s, at, n))
			continue;
		some = true;
		if (at > s->script.count)
			at = s->script.count;
	}
	return some;
}

/* ---- values ---- */

static bool
set_value(struct search *s, uint32_t i, uint64_t value)
{
	copy_list(&s->candidate, &s->script);
	s->candidate.list[i].value = value;
	if (!fails(s, s->best.seed))
		return false;
	keep_record(s);
	return true;
}

/* As if all values from some on would do. */
static void
lower_value(struct search *s, uint32_t i)
{
	uint64_t low = 0, high = s->script.list[i].value;
	uint64_t stream = s->script.list[i].stream;

	while (high - low > 1 && !is_over(s)) {
		uint64_t middle =
			low == 0 && high > 2 ? (high < 16 ? 1 : high / 16) : low + (high - low) / 2;

		if (i >= s->script.count || s->script.list[i].stream != stream)
			return;
		if (set_value(s, i, middle))
			high = middle;
		else
			low = middle;
	}
}

/* ---- */

static void
shrink(struct search *s)
{
	uint32_t before;

	drop_groups(s, same_actor);
	drop_groups(s, same_stream);
	drop_groups(s, same_both);
	for (uint32_t size = s->script.count / 2; size > 1; size /= 2)
		drop_pieces(s, size);
	do {
		before = s->script.count;
		while (drop_pieces(s, 1))
			;
		for (uint32_t i = 0; i < s->script.count && !is_over(s); i++)
			lower_value(s, i);
	} while (s->script.count < before && !is_over(s));
}

/* As comments. */
static void
print_trace(FILE *trace)
{
	char line[1024];
	unsigned lines = 0, skip = 0;

	rewind(trace);
	while (fgets(line, sizeof(line), trace) != NULL)
		lines++;
	if (lines > TRACE_LINES)
		skip = lines - TRACE_LINES;
	rewind(trace);
	for (unsigned i = 0; fgets(line, sizeof(line), trace) != NULL; i++)
		if (i >= skip)
			printf("# %s", line);
}

static void
print_result(struct search *s, const struct sim_outcome *first, uint32_t first_count)
{
	struct sim_case c = s->best;
	FILE *trace = tmpfile();

	if (trace == NULL)
		abort();
	c.verbose = true;
	c.script = &s->script;
	sim_script_seal(&s->script);
	sim_run_isolated(&c, s->shared, s->run_ms, fileno(trace));
	printf("# %s\n", s->shared->outcome.line);
	printf("# %u decisions of %u, %lu steps of %lu, %lu frames of %lu; %u runs, %.1f s of CPU "
	       "time%s\n",
		s->script.count, first_count, (unsigned long)s->shared->outcome.steps,
		(unsigned long)first->steps, (unsigned long)s->shared->outcome.packets,
		(unsigned long)first->packets, s->runs, spent_s(),
		is_over(s) ? ", all of the budget" : "");
	sim_scenario_write(stdout, &c, &s->shared->counters, &s->shared->cm_counters);
	print_trace(trace);
	fclose(trace);
}

bool
sim_shrink(uint64_t seed, const struct sim_profile *profile, unsigned budget_s)
{
	struct search s = {.shared = sim_shared_new(),
		.best = {.seed = seed, .profile = profile},
		.run_ms = budget_s * 1000,
		.budget_s = budget_s,
		.nowhere = open("/dev/null", O_WRONLY)};
	struct sim_outcome first;
	uint32_t first_count;
	double begin = spent_s();

	if (sim_run_isolated(&s.best, s.shared, s.run_ms, s.nowhere)) {
		printf("seed %lu (%s) does not fail\n", (unsigned long)seed, profile->name);
		return false;
	}
	s.run_ms = 200 + (unsigned)(4000 * (spent_s() - begin));
	first = s.outcome = s.shared->outcome;
	first_count = s.shared->recorded;
	s.most_steps = first.steps + first.steps / 4 + 10;
	memcpy(s.kind, first.kind, sizeof(s.kind));
	drop_streams(&s);
	if (write_down(&s)) {
		shrink(&s);
		print_result(&s, &first, first_count);
	} else {
		printf("seed %lu (%s) fails, but not each time\n", (unsigned long)seed,
			profile->name);
	}
	sim_script_free(&s.script);
	sim_script_free(&s.candidate);
	close(s.nowhere);
	return true;
}
