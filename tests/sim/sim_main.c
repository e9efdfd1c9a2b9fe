/* SPDX-License-Identifier: BSD-3-Clause */
/*
 *	sim --seeds A..B [--profile NAME]... [--replay] [--stop] [--counters] [--dialects]
 *	sim --seed N [--profile NAME] [--verbose]
 *
 * The seed chooses one of the profiles, or of all. --replay runs each seed twice and fails
 * if their traces differ. --stop ends at the first failure. --counters shows what
 * the engine and the CM saw in all of it. --dialects fails if there is a dialect (sim_dialect.c)
 * that no peer has spoken. A failing seed prints one line that starts
 * with "seed N".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim.h"

#define PROFILES_MAX 16u

struct options {
	uint64_t first, last;
	const struct sim_profile *profile[PROFILES_MAX];
	unsigned n_profiles;
	bool verbose, replay, stop, counters, dialects;
};

static int
usage(void)
{
	fprintf(stderr, "usage: sim --seeds A..B | --seed N [--profile NAME]... [--verbose] "
			"[--replay] [--stop] [--counters] [--dialects]\n"
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

static bool
parse(int argc, char **argv, struct options *o)
{
	bool seeds = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--verbose") == 0) {
			o->verbose = true;
		} else if (strcmp(argv[i], "--replay") == 0) {
			o->replay = true;
		} else if (strcmp(argv[i], "--stop") == 0) {
			o->stop = true;
		} else if (strcmp(argv[i], "--counters") == 0) {
			o->counters = true;
		} else if (strcmp(argv[i], "--dialects") == 0) {
			o->dialects = true;
		} else if (i + 1 < argc && strncmp(argv[i], "--seed", 6) == 0) {
			seeds = parse_seeds(argv[++i], o);
		} else if (i + 1 < argc && strcmp(argv[i], "--profile") == 0) {
			if (o->n_profiles == PROFILES_MAX ||
				(o->profile[o->n_profiles++] = sim_profile_find(argv[++i])) == NULL)
				return false;
		} else {
			return false;
		}
	}
	return seeds;
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
}

int
main(int argc, char **argv)
{
	struct options o = {0};
	uint64_t passed = 0, failed = 0, begin;

	if (!parse(argc, argv, &o))
		return usage();
	begin = spent_ns();
	for (uint64_t seed = o.first; seed <= o.last && !(o.stop && failed > 0); seed++) {
		const struct sim_profile *p = o.n_profiles > 0 ? o.profile[seed % o.n_profiles]
							       : sim_profile_of_seed(seed);
		uint64_t hash, again;
		bool ok = sim_run(seed, p, o.verbose, &hash);

		if (ok && o.replay) {
			ok = sim_run(seed, p, false, &again) && again == hash;
			if (!ok)
				printf("seed %lu: two runs, two traces\n", (unsigned long)seed);
		}
		passed += ok;
		failed += !ok;
		fflush(stdout);
	}
	if (o.counters)
		print_counters();
	if (o.dialects && !sim_dialect_all_spoken())
		failed++;
	print_figures(passed + failed, spent_ns() - begin);
	printf("%lu passed, %lu failed, 0 skipped\n", (unsigned long)passed, (unsigned long)failed);
	return failed == 0 ? 0 : 1;
}
