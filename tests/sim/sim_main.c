/* SPDX-License-Identifier: BSD-3-Clause */
/*
 *	sim --seeds A..B [--profile NAME]... [--replay] [--stop] [--counters] [--dialects] [--kinds]
 *		[--insiders] [--pairs]
 *	sim --seed N [--profile NAME] [--verbose]
 *	sim --shrink N [--profile NAME] [--budget SECONDS]
 *	sim --scenario FILE [--verbose]
 *	sim --scenarios FOLDER
 *
 * The seed chooses one of the profiles, or of all. --replay runs each seed twice and fails
 * if their traces differ. --stop ends at the first failure. --counters shows what
 * the engine and the CM saw in all of it. --dialects fails if there is a dialect (sim_dialect.c)
 * that no peer has spoken, --kinds if one of the rare things (sim_kind.h) never happened,
 * --insiders if there is a trick that no insider has tried (sim_insider.c). A failing seed prints
 * one line that starts with "seed N"; so does one that crashes, and ends the run. --pairs shows
 * which packets met queue pairs in which states, and which messages exchanges in which states.
 *
 * --shrink prints a scenario of what little of a failing seed fails in the same way, found in so
 * much CPU time, with its trace; --scenario runs one, --scenarios all of a folder.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim.h"
#include "sim_crash.h"
#include "sim_kind.h"
#include "sim_pair.h"
#include "sim_scenario.h"
#include "sim_shrink.h"

#define PROFILES_MAX 16u

struct options {
	uint64_t first, last;
	const struct sim_profile *profile[PROFILES_MAX];
	unsigned n_profiles;
	bool verbose, replay, stop, counters, dialects, kinds, insiders, pairs, shrink;
	const char *scenario, *scenarios;
	unsigned budget_s;
	bool any; /* of what may be done */
};

static int
usage(void)
{
	fprintf(stderr, "usage: sim --seeds A..B | --seed N [--profile NAME]... [--verbose] "
			"[--replay] [--stop] [--counters] [--dialects] [--kinds] [--insiders] "
			"[--pairs]\n"
			"       sim --shrink N [--profile NAME] [--budget SECONDS]\n"
			"       sim --scenario FILE [--verbose] | --scenarios FOLDER\n"
			"profiles:");
	for (const struct sim_profile *p = sim_profiles; p->name != NULL; p++)
		fprintf(stderr, " %s", p->name);
	fprintf(stderr, "\n");
	return 2;
}

static bool
parse_seeds(const char *s, struct options *o)
{
	char *end;

	o->first = strtoull(s, &end, 0);
	if (end == s)
		return false;
	o->last = o->first;
	if (strncmp(end, "..", 2) == 0) {
		s = end + 2;
		o->last = strtoull(s, &end, 0);
	}
	return end != s && *end == '\0' && o->last >= o->first;
}

/* False: there is no such flag. */
static bool
parse_flag(const char *name, struct options *o)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {{"--verbose", &o->verbose}, {"--replay", &o->replay}, {"--stop", &o->stop},
		{"--counters", &o->counters}, {"--dialects", &o->dialects}, {"--kinds", &o->kinds},
		{"--insiders", &o->insiders}, {"--pairs", &o->pairs}};

	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strcmp(name, flags[i].name) == 0)
			return *flags[i].flag = true;
	return false;
}

static bool
parse_profile(const char *name, struct options *o)
{
	if (o->n_profiles == PROFILES_MAX)
		return false;
	o->profile[o->n_profiles] = sim_profile_find(name);
	return o->profile[o->n_profiles++] != NULL;
}

static bool
parse_value(const char *name, const char *value, struct options *o)
{
	if (strcmp(name, "--seed") == 0 || strcmp(name, "--seeds") == 0)
		return o->any = parse_seeds(value, o);
	if (strcmp(name, "--shrink") == 0)
		return o->any = o->shrink = parse_seeds(value, o);
	if (strcmp(name, "--profile") == 0)
		return parse_profile(value, o);
	if (strcmp(name, "--budget") == 0)
		return (o->budget_s = (unsigned)strtoul(value, NULL, 0)) > 0;
	if (strcmp(name, "--scenario") == 0)
		return o->any = (o->scenario = value) != NULL;
	if (strcmp(name, "--scenarios") == 0)
		return o->any = (o->scenarios = value) != NULL;
	return false;
}

static bool
parse(int argc, char **argv, struct options *o)
{
	for (int i = 1; i < argc; i++) {
		if (parse_flag(argv[i], o))
			continue;
		if (i + 1 == argc || !parse_value(argv[i], argv[i + 1], o))
			return false;
		i++;
	}
	return o->any;
}

/* CPU time: on a shared machine the wall clock proves nothing. */
static uint64_t
spent_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * SIM_S + (uint64_t)t.tv_nsec;
}

/* How much of the world was seen, and how fast. */
static void
print_figures(uint64_t seeds, uint64_t ns)
{
	double s = (double)ns / (double)SIM_S;

	printf("%lu seeds in %.1f s of CPU time: %.0f seeds/s, %.0f packets/s; %lu packets, "
	       "%lu completions, %lu handed over between shards, %lu dropped there; %lu datagrams, "
	       "%lu questions\n",
		(unsigned long)seeds, s, (double)seeds / s, (double)sim_totals.packets / s,
		(unsigned long)sim_totals.packets, (unsigned long)sim_totals.completions,
		(unsigned long)sim_totals.handed_over, (unsigned long)sim_totals.dropped,
		(unsigned long)sim_totals.datagrams, (unsigned long)sim_totals.asks);
}

static void
print_counters(void)
{
#define ROCE_X(name) printf("%-24s %12lu\n", #name, (unsigned long)sim_counters.name);
	ROCE_COUNTERS(ROCE_X)
#undef ROCE_X
#define ROCE_X(name) printf("cm %-21s %12lu\n", #name, (unsigned long)sim_cm_counters.name);
	ROCE_CM_COUNTERS(ROCE_X)
#undef ROCE_X
	sim_cm_print();
	sim_dialect_print();
	sim_kinds_print();
	sim_insider_print();
}

static const struct sim_profile *
profile_of(const struct options *o, uint64_t seed)
{
	return o->n_profiles > 0 ? o->profile[seed % o->n_profiles] : sim_profile_of_seed(seed);
}

static bool
run_seed(const struct options *o, uint64_t seed)
{
	struct sim_case c = {.seed = seed, .profile = profile_of(o, seed), .verbose = o->verbose};
	struct sim_outcome first, again;

	sim_crash_seed(seed, c.profile->name);
	if (!sim_run(&c, &first) || !o->replay)
		return first.passed;
	c.verbose = false;
	if (sim_run(&c, &again) && again.hash == first.hash)
		return true;
	printf("seed %lu: two runs, two traces\n", (unsigned long)seed);
	return false;
}

static int
close_with(uint64_t passed, uint64_t failed)
{
	printf("%lu passed, %lu failed, 0 skipped\n", (unsigned long)passed, (unsigned long)failed);
	return failed == 0 ? 0 : 1;
}

static int
run_scenarios(const struct options *o)
{
	unsigned passed, failed;

	if (o->scenarios != NULL) {
		failed = sim_scenarios_run(o->scenarios, &passed);
	} else {
		passed = sim_scenario_run(o->scenario, o->verbose);
		failed = !passed;
	}
	if (o->counters)
		print_counters();
	return close_with(passed, failed);
}

int
main(int argc, char **argv)
{
	struct options o = {.budget_s = 120};
	uint64_t passed = 0, failed = 0, begin;

	if (!parse(argc, argv, &o))
		return usage();
	mallopt(M_MMAP_THRESHOLD, 64 << 10); /* pages that are not touched cost nothing */
	if (o.scenarios != NULL || o.scenario != NULL)
		return run_scenarios(&o);
	if (o.shrink)
		return sim_shrink(o.first, profile_of(&o, o.first), o.budget_s) ? 0 : 1;
	sim_crash_watch();
	begin = spent_ns();
	for (uint64_t seed = o.first; seed <= o.last && !(o.stop && failed > 0); seed++) {
		bool ok = run_seed(&o, seed);

		passed += ok;
		failed += !ok;
		fflush(stdout);
	}
	if (o.counters)
		print_counters();
	if (o.pairs) {
		sim_pairs_print();
		sim_pairs_cm_print();
	}
	if (o.dialects && !sim_dialect_all_spoken())
		failed++;
	if (o.kinds && !sim_kinds_all())
		failed++;
	if (o.insiders && !sim_insider_all_tricks())
		failed++;
	print_figures(passed + failed, spent_ns() - begin);
	return close_with(passed, failed);
}
