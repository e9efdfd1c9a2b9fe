/* SPDX-License-Identifier: BSD-3-Clause */
/* What perftest's ends tell each other, as version 4.5 writes it, and the options for it. */
#include <criterion/criterion.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "ndperf/options.h"
#include "ndperf/perftest_wire.h"

static const uint8_t gid[16] = {[10] = 0xff, [11] = 0xff, 192, 0, 2, 7};
static const struct perftest_dest dest = {.out_reads = 128,
	.number = 0x1a,
	.psn = 0xd5b09e,
	.rkey = 0x5f3,
	.address = 0x7f12a4c01000,
	.gid = {[10] = 0xff, [11] = 0xff, 192, 0, 2, 7}};
static const char line[] = "0000:0080:00001a:d5b09e:000005f3:00007f12a4c01000:"
			   "00:00:00:00:00:00:00:00:00:00:ff:ff:c0:00:02:07:00000000:";

static void
expect_dest(const struct perftest_dest *d)
{
	cr_expect_eq(d->out_reads, dest.out_reads);
	cr_expect_eq(d->number, dest.number);
	cr_expect_eq(d->psn, dest.psn);
	cr_expect_eq(d->rkey, dest.rkey);
	cr_expect_eq(d->address, dest.address);
	cr_expect_arr_eq(d->gid, gid, sizeof(gid));
}

Test(ndperf_perftest, line)
{
	char text[PERFTEST_LINE_BYTES];
	struct perftest_dest d;

	cr_assert_eq(sizeof(line), PERFTEST_LINE_BYTES);
	perftest_dest_to_line(&dest, text);
	cr_expect_str_eq(text, line);
	cr_assert(perftest_dest_of_line(line, &d));
	expect_dest(&d);
}

/* It comes from a stranger: with no end, with fields that are missing, that are none, too large. */
Test(ndperf_perftest, lines_that_are_none)
{
	char text[PERFTEST_LINE_BYTES];
	struct perftest_dest d;

	memset(text, '0', sizeof(text));
	cr_expect_not(perftest_dest_of_line(text, &d));
	memset(text, 0, sizeof(text));
	cr_expect_not(perftest_dest_of_line(text, &d));
	memcpy(text, line, sizeof(text));
	text[60] = 0;
	cr_expect_not(perftest_dest_of_line(text, &d));
	memcpy(text, line, sizeof(text));
	text[0] = 'x';
	cr_expect_not(perftest_dest_of_line(text, &d));
	memset(text, 0, sizeof(text));
	snprintf(text, sizeof(text), "0:0:1000000:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:");
	cr_expect_not(perftest_dest_of_line(text, &d));
}

Test(ndperf_perftest, blob)
{
	uint8_t blob[PERFTEST_BLOB_BYTES];
	struct perftest_dest d = {0};

	perftest_dest_to_blob(&dest, blob);
	cr_expect_eq(blob[11], 0x1a);
	cr_expect_eq(blob[13], 0xd5);
	cr_expect_eq(blob[24 + 2], 0x7f);
	cr_expect_arr_eq(blob + 32, gid, sizeof(gid));
	perftest_dest_of_blob(blob, &d);
	expect_dest(&d);
}

Test(ndperf_perftest, addresses)
{
	static const char *const texts[] = {"192.0.2.7", "2001:db8::7"};

	for (int i = 0; i < 2; i++) {
		struct app_addr a, b;
		char text[APP_ADDR_TEXT];
		uint8_t g[16];

		cr_assert_null(app_addr_parse(texts[i], 0, &a));
		perftest_gid(&a, g);
		perftest_address(g, &b);
		cr_expect_str_eq(app_addr_text(&b, false, text), texts[i]);
	}
}

Test(ndperf_perftest, figures)
{
	const struct perftest_bw told = {65536, 5000, 1234.5, 1200.25, 0.0192};
	uint64_t words[PERFTEST_REPORT_WORDS];
	struct perftest_bw heard;
	uint8_t first[8];

	perftest_bw_to_words(&told, words);
	memcpy(first, &words[0], sizeof(first));
	cr_expect_eq(first[5], 1); /* the network's byte order */
	perftest_bw_of_words(words, &heard);
	cr_expect_eq(heard.bytes, told.bytes);
	cr_expect_eq(heard.iterations, told.iterations);
	cr_expect_eq(heard.peak, told.peak);
	cr_expect_eq(heard.average, told.average);
	cr_expect_eq(heard.rate, told.rate);
}

Test(ndperf_perftest, path_mtu)
{
	for (uint32_t mtu = 256; mtu <= 4096; mtu *= 2)
		cr_expect_eq(perftest_mtu_of_digit(perftest_mtu_digit(mtu)), mtu);
	cr_expect_eq(perftest_mtu_digit(1024), '3');
	cr_expect_eq(perftest_mtu_of_digit('0'), 0);
	cr_expect_eq(perftest_mtu_of_digit('6'), 0);
}

/* ---- options ------------------------------------------------------------------------- */

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

Test(ndperf_perftest, defaults_are_its_own)
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

Test(ndperf_perftest, what_does_not_go)
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

/* What is perftest's is refused without it. */
Test(ndperf_perftest, without_it)
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
