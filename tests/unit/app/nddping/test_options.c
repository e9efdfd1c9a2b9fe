/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <getopt.h>

#include "nddping/options.h"

/* Parse a NULL-terminated command line; -1: accepted, else the exit code. */
static int
parse(struct ping_options *o, char **args)
{
	int argc = 0, rc = -2;

	while (args[argc] != NULL)
		argc++;
	optind = 0; /* a new command line */
	return ping_options_parse(o, argc, args, &rc) == 0 ? -1 : rc;
}
#define PARSE(o, ...) parse(o, (char *[]){"nddping", __VA_ARGS__, NULL})

Test(nddping_options, a_client_as_rping_takes_it)
{
	struct ping_options o;

	cr_assert_eq(PARSE(&o, "-c", "-vVd", "-S", "100", "-C", "10", "-I", "192.0.2.1", "-a",
			     "192.0.2.2", "-p", "80", "-T", "0x68"),
		-1);
	cr_assert_eq(o.dscp, 26);
	cr_assert(!o.server && o.print && o.validate && o.debug && o.has_source);
	cr_assert_eq(o.bytes, 100);
	cr_assert_eq(o.count, 10);
	cr_assert_eq(app_addr_port(&o.addr), 80);
	cr_assert_eq(app_addr_port(&o.source), 0);
}

Test(nddping_options, defaults_are_rpings)
{
	struct ping_options o;

	cr_assert_eq(PARSE(&o, "-c", "-a", "fd00::1"), -1);
	cr_assert_eq(o.bytes, 64);
	cr_assert_eq(o.count, 0);
	cr_assert_eq(app_addr_port(&o.addr), 7174);
	cr_assert_eq(PARSE(&o, "-s"), -1);
	cr_assert(o.server && !o.has_addr && !o.persistent);
	cr_assert_eq(o.port, 7174);
}

Test(nddping_options, port_behind_the_address_counts_as_well)
{
	struct ping_options o;

	cr_assert_eq(PARSE(&o, "-c", "-a", "[fd00::1]:99", "-p", "80"), -1);
	cr_assert_eq(app_addr_port(&o.addr), 99);
}

Test(nddping_options, what_can_not_be_is_refused)
{
	struct ping_options o;

	cr_assert_eq(PARSE(&o, "-c"), 1, "no address");
	cr_assert_eq(PARSE(&o, "-a", "192.0.2.2"), 1, "no role");
	cr_assert_eq(PARSE(&o, "-c", "-s", "-a", "192.0.2.2"), 1);
	cr_assert_eq(PARSE(&o, "-c", "-P", "-a", "192.0.2.2"), 1);
	cr_assert_eq(PARSE(&o, "-c", "192.0.2.2"), 1);
	cr_assert_eq(PARSE(&o, "-c", "-a", "192.0.2.2", "-S", "25"), 1);
	cr_assert_eq(PARSE(&o, "-c", "-a", "192.0.2.2", "-S", "65536"), 1);
	cr_assert_eq(PARSE(&o, "-c", "-a", "192.0.2.2", "-C", "-1"), 1);
	cr_assert_eq(PARSE(&o, "-s", "-p", "0"), 1);
	cr_assert_eq(PARSE(&o, "-c", "-a", "192.0.2.2", "-T", "256"), 1);
	cr_assert_eq(PARSE(&o, "-c", "-a", "192.0.2.2", "-T", "106"), 1, "ECT(0)");
}
