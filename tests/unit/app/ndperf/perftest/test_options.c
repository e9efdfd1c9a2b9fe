/* SPDX-License-Identifier: BSD-3-Clause */
/* The options with --peer perftest. */
#include <criterion/criterion.h>
#include <getopt.h>
#include <string.h>

#include "ndperf/options.h"

/* Parse a NULL-terminated command line; -1: accepted, else the exit code. */
static int
parse(struct ndperf_options *o, char **args)
{
	int argc = 0, rc = -2;

	while (args[argc] != NULL)
		argc++;
	optind = 0;
	return ndperf_options_parse(o, argc, args, &rc) ? -1 : rc;
}
#define PARSE(o, ...) parse(o, (char *[]){"ndperf", "--peer", "perftest", __VA_ARGS__, NULL})

Test(perftest_options, defaults_are_its_own)
{
	struct ndperf_options o;

	cr_assert_eq(PARSE(&o, "192.0.2.7"), -1);
	cr_expect(o.perftest && !o.cm && !o.both_ways);
	cr_expect_eq(o.iterations, 5000);
	cr_expect_eq(o.first_bytes, 65536);
	cr_assert_eq(PARSE(&o, "-t", "send", "192.0.2.7"), -1);
	cr_expect_eq(o.iterations, 1000);
	cr_assert_eq(PARSE(&o, "-t", "write", "-m", "lat", "-s", "-R"), -1);
	cr_expect_eq(o.iterations, 1000);
	cr_expect_eq(o.first_bytes, 2);
	cr_assert_eq(PARSE(&o, "-t", "atomic", "-s", "-p", "99"), -1);
	cr_expect_eq(o.first_bytes, 8);
	cr_expect_eq(app_addr_port(&o.tcp), 99);
	cr_assert_eq(PARSE(&o, "-D", "2", "-b", "192.0.2.7"), -1);
	cr_expect_eq(o.iterations, 0);
}

Test(perftest_options, what_does_not_go)
{
	static char *refused[][6] = {
		{"--verify"},
		{"--warmup", "5"},
		{"-t", "atomic", "-a"},
		{"-t", "atomic", "--size", "16"},
		{"-a", "-D", "1"},
		{"-n", "5", "-D", "1"},
		{"-m", "lat", "-q", "2"},
		{"-m", "lat", "-b"},
		{"-m", "lat", "-t", "send", "-D", "1"},
		{"--mtu", "1000"},
		{"-R", "--mtu", "1024"},
		{"--tcp", "192.0.2.9"},
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		char *args[16] = {"ndperf", "--peer", "perftest", "192.0.2.7"};
		struct ndperf_options o;

		memcpy(args + 4, refused[i], sizeof(refused[i]));
		cr_expect_eq(parse(&o, args), 1, "%s %s", refused[i][0], refused[i][1]);
	}
}

/* Options that mean something only with perftest are refused without --peer perftest. */
Test(perftest_options, without_it)
{
	static char *only[][3] = {
		{"-R"}, {"-b"}, {"--mtu", "1024"}, {"-t", "atomic"}, {"--tcp", "192.0.2.9"}};

	for (size_t i = 0; i < sizeof(only) / sizeof(only[0]); i++) {
		char *args[8] = {"ndperf", "192.0.2.7"};
		struct ndperf_options o;

		memcpy(args + 2, only[i], sizeof(only[i]));
		cr_expect_eq(parse(&o, args), 1, "%s", only[i][0]);
	}
	cr_expect_eq(parse(&(struct ndperf_options){0},
			     (char *[]){"ndperf", "--peer", "qperf", "192.0.2.7", NULL}),
		1);
}
