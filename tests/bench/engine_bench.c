/* SPDX-License-Identifier: BSD-3-Clause */
/* What a message costs the engine alone. Figures of one run may be compared, and no others. */
#include <getopt.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"

#define MEMORY_QPS 100000u

struct options {
	uint64_t us, messages;
	regex_t only;
	bool json;
};

static void
usage(FILE *to)
{
	fprintf(to,
		"usage: engine_bench [--us N] [--only REGEX] [--json] [--messages N] [--list]\n"
		"  --us N        microseconds for each case, in %u slices; 200000\n"
		"  --only REGEX  the cases whose whole name matches\n"
		"  --json        for programs\n"
		"  --messages N  so many messages of each case instead, always the same work:\n"
		"                for who counts instructions\n"
		"  --list        the names of all cases\n",
		BENCH_SLICES);
}

static uint64_t
number(const char *name, const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (n > 0 && n <= 1000000000 && *end == 0 && *text != '-')
		return n;
	fprintf(stderr, "engine_bench: --%s wants a number from 1 to 1000000000, not %s\n", name,
		text);
	exit(2);
}

static void
only(struct options *o, const char *regex)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "^(%s)$", regex);
	regfree(&o->only);
	if (regcomp(&o->only, whole, REG_EXTENDED | REG_NOSUB) == 0)
		return;
	fprintf(stderr, "engine_bench: --only %s is no regular expression\n", regex);
	exit(2);
}

static void
list(void)
{
	for (unsigned i = 0; i < bench_num_cases; i++)
		puts(bench_cases[i].name);
	exit(0);
}

static void
options(struct options *o, int argc, char **argv)
{
	static const struct option known[] = {{"us", required_argument, NULL, 'u'},
		{"only", required_argument, NULL, 'o'}, {"json", no_argument, NULL, 'j'},
		{"messages", required_argument, NULL, 'm'}, {"list", no_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'}, {0}};
	int c;

	regcomp(&o->only, ".", REG_NOSUB);
	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (c) {
		case 'u':
			o->us = number("us", optarg);
			break;
		case 'o':
			only(o, optarg);
			break;
		case 'j':
			o->json = true;
			break;
		case 'm':
			o->messages = number("messages", optarg);
			break;
		case 'l':
			list();
			break;
		default:
			usage(c == 'h' ? stdout : stderr);
			exit(c == 'h' ? 0 : 2);
		}
	}
	if (optind == argc)
		return;
	usage(stderr);
	exit(2);
}

static void
show(const struct bench_case *c, const struct bench_result *r, bool json)
{
	if (json)
		printf("{\"name\": \"%s\", \"bytes\": %u, \"qps\": %u, \"depth\": %u, "
		       "\"cycles\": %.1f, \"cycles_median\": %.1f, \"per_second\": %.0f}",
			c->name, c->bytes, c->qps, c->depth, r->best, r->median, r->rate);
	else
		printf("%-16s %8u B %6u QP %4u deep %10.1f cycles (median %10.1f) %8.3f M/s "
		       "%7.2f GB/s\n",
			c->name, c->bytes, c->qps, c->depth, r->best, r->median, r->rate / 1e6,
			r->rate * c->bytes / 1e9);
	fflush(stdout);
}

static void
show_count(const struct bench_case *c, uint64_t done, bool json)
{
	printf(json ? "{\"name\": \"%s\", \"messages\": %lu}" : "%-16s %8lu messages\n", c->name,
		done);
	fflush(stdout);
}

static unsigned
run_all(const struct options *o)
{
	unsigned ran = 0;

	for (unsigned i = 0; i < bench_num_cases; i++) {
		const struct bench_case *c = &bench_cases[i];

		if (regexec(&o->only, c->name, 0, NULL, 0) != 0)
			continue;
		if (o->json && ran > 0)
			printf(",\n");
		ran++;
		if (o->messages != 0) {
			show_count(c, bench_count(c, o->messages), o->json);
		} else {
			struct bench_result r = bench_measure(c, o->us);

			show(c, &r, o->json);
		}
	}
	return ran;
}

static void
begin(const struct options *o)
{
	if (o->json)
		printf("{\"slices\": %u, \"qp_bytes\": %zu, \"cases\": [\n", BENCH_SLICES,
			roce_qp_bytes());
	else
		printf("engine alone, both sides on one core, path MTU 4096, best of %u slices\n",
			BENCH_SLICES);
}

static void
show_memory(const struct options *o)
{
	struct bench_memory m = bench_memory(MEMORY_QPS);

	if (o->json)
		printf(", \"idle_qps\": %u, \"idle_qp_bytes\": %.0f, "
		       "\"idle_qp_bytes_reserved\": %.0f",
			MEMORY_QPS, m.resident, m.reserved);
	else
		printf("%.0f bytes of engine memory for each of %u idle connected queue pairs with "
		       "its share\nof all pools, %zu of them its own; %.0f more are set aside for "
		       "when it meets\nmemory of movers (%zu) or congestion (%zu)\n",
			m.resident, MEMORY_QPS, roce_qp_bytes(), m.reserved - m.resident,
			roce_moved_bytes(), roce_cc_bytes());
}

int
main(int argc, char **argv)
{
	struct options o = {.us = 200000};
	unsigned ran;

	options(&o, argc, argv);
	begin(&o);
	ran = run_all(&o);
	if (o.json)
		printf("\n]");
	if (o.messages == 0)
		show_memory(&o);
	if (o.json)
		printf("}\n");
	regfree(&o.only);
	if (ran == 0)
		fprintf(stderr, "engine_bench: no case has such a name; --list tells them\n");
	return ran == 0;
}
