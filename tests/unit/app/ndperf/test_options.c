/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <getopt.h>

#include "ndperf/options.h"

/* Parse a NULL-terminated command line; -1: accepted, else the exit code. */
static int
parse(struct ndperf_options *o, char **args)
{
	int argc = 0, rc = -2;

	while (args[argc] != NULL)
		argc++;
	optind = 0; /* a new command line */
	return ndperf_options_parse(o, argc, args, &rc) ? -1 : rc;
}
#define PARSE(o, ...) parse(o, (char *[]){"ndperf", __VA_ARGS__, NULL})

Test(ndperf_options, defaults_of_bandwidth)
{
	struct ndperf_options o;

	cr_assert_eq(PARSE(&o, "192.0.2.7"), -1);
	cr_assert_eq(o.params.op, NDPERF_WRITE);
	cr_assert_eq(o.params.mode, NDPERF_BW);
	cr_assert_eq(o.first_bytes, 65536);
	cr_assert_eq(o.last_bytes, 65536);
	cr_assert_eq(o.iterations, 0);
	cr_assert_eq(o.seconds, 1.0);
	cr_assert_eq(app_addr_port(&o.addr), NDPERF_PORT);
	cr_assert_eq(o.wait, NDPERF_WAIT_ADAPTIVE);
}

Test(ndperf_options, defaults_of_latency)
{
	struct ndperf_options o;

	cr_assert_eq(PARSE(&o, "-m", "lat", "-t", "send", "[fd00::1]:99"), -1);
	cr_assert_eq(o.params.op, NDPERF_SEND);
	cr_assert_eq(o.first_bytes, 8);
	cr_assert_eq(o.iterations, 1000);
	cr_assert_eq(o.cq_mod, 1);
	cr_assert_eq(app_addr_port(&o.addr), 99);
	cr_assert_eq(o.addr.ss.ss_family, AF_INET6);
}

Test(ndperf_options, all_sizes_and_letters)
{
	struct ndperf_options o;

	cr_assert_eq(PARSE(&o, "-a", "-q", "4", "-d", "8", "-n", "1K", "-p", "7", "-T", "104",
			     "192.0.2.7"),
		-1);
	cr_assert_eq(o.dscp, 26);
	cr_assert_eq(o.first_bytes, 2);
	cr_assert_eq(o.last_bytes, 8u << 20);
	cr_assert_eq(o.params.max_bytes, 8u << 20);
	cr_assert_eq(o.params.qps, 4);
	cr_assert_eq(o.cq_mod, 8);
	cr_assert_eq(o.iterations, 1024);
	cr_assert_eq(o.warmup, 8);
	cr_assert_eq(app_addr_port(&o.addr), 7);
}

/* A short run of large messages must not spend its time on warming up. */
Test(ndperf_options, warmup_is_no_longer_than_the_run)
{
	struct ndperf_options o;

	cr_assert_eq(PARSE(&o, "-n", "5", "192.0.2.7"), -1);
	cr_assert_eq(o.warmup, 5);
	cr_assert_eq(PARSE(&o, "-n", "5", "--warmup", "9", "192.0.2.7"), -1);
	cr_assert_eq(o.warmup, 9);
	cr_assert_eq(PARSE(&o, "-m", "lat", "192.0.2.7"), -1);
	cr_assert_eq(o.warmup, 100);
}

Test(ndperf_options, the_server)
{
	struct ndperf_options o;

	cr_assert_eq(PARSE(&o, "-s", "--bind", "192.0.2.7", "-p", "5", "--once"), -1);
	cr_assert(o.server && o.once && o.has_bind);
	cr_assert_eq(app_addr_port(&o.bind), 5);
	cr_assert_eq(PARSE(&o, "-s", "192.0.2.7"), 1);
}

Test(ndperf_options, both_ends_in_one_process)
{
	struct ndperf_options o;

	cr_assert_eq(PARSE(&o, "--loopback", "-m", "lat", "192.0.2.7:9"), -1);
	cr_assert(o.loopback && !o.server);
	cr_assert_eq(app_addr_port(&o.addr), 9);
	cr_assert_eq(o.wait, NDPERF_WAIT_POLL);
	cr_assert_eq(PARSE(&o, "--loopback"), 1);
	cr_assert_eq(PARSE(&o, "--loopback", "-s"), 1);
	cr_assert_eq(PARSE(&o, "--loopback", "--once", "192.0.2.7"), 1);
	cr_assert_eq(PARSE(&o, "--loopback", "--sessions", "2", "192.0.2.7"), 1);
	cr_assert_eq(PARSE(&o, "--loopback", "--event", "192.0.2.7"), 1);
	cr_assert_eq(PARSE(&o, "--loopback", "--bind", "192.0.2.7", "192.0.2.7"), 1);
	cr_assert_eq(PARSE(&o, "--loopback", "--peer", "perftest", "192.0.2.7"), 1);
}

Test(ndperf_options, what_can_not_be_is_refused)
{
	struct ndperf_options o;

	cr_assert_eq(PARSE(&o, "-q", "4"), 1, "no server named");
	cr_assert_eq(PARSE(&o, "192.0.2.7", "192.0.2.8"), 1);
	cr_assert_eq(PARSE(&o, "-t", "erase", "192.0.2.7"), 1);
	cr_assert_eq(PARSE(&o, "-q", "0", "192.0.2.7"), 1);
	cr_assert_eq(PARSE(&o, "-q", "257", "192.0.2.7"), 1);
	cr_assert_eq(PARSE(&o, "-q", "x", "192.0.2.7"), 1);
	cr_assert_eq(PARSE(&o, "-d", "8", "--cq-mod", "9", "192.0.2.7"), 1);
	cr_assert_eq(PARSE(&o, "-a", "--size", "8", "192.0.2.7"), 1);
	cr_assert_eq(PARSE(&o, "-n", "1", "-D", "1", "192.0.2.7"), 1);
	cr_assert_eq(PARSE(&o, "-m", "lat", "-q", "2", "192.0.2.7"), 1);
	cr_assert_eq(PARSE(&o, "-m", "lat", "--event", "192.0.2.7"), 1);
	cr_assert_eq(PARSE(&o, "-m", "lat", "-t", "read", "--event", "192.0.2.7"), -1);
	cr_assert_eq(o.wait, NDPERF_WAIT_EVENT);
}
