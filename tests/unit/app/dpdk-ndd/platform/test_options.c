/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's command line. */
#include "platform/options.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/redirect.h>
#include <getopt.h>

static int
parse(struct ndd_options *o, char *a, char *b, char *c)
{
	char *argv[] = {"dpdk-ndd", a, b, c, NULL};
	int argc = 1;

	while (argv[argc] != NULL)
		argc++;
	optind = 0; /* begin anew */
	return ndd_options_parse(o, argc, argv);
}

TestSuite(options, .init = cr_redirect_stderr);

Test(options, defaults)
{
	struct ndd_options o;

	cr_expect(eq(int, parse(&o, NULL, NULL, NULL), -1));
	cr_expect(eq(str, (char *)o.config, "/etc/dpdk-ndd/dpdk-ndd.json"));
	cr_expect(not(o.check_config));
	cr_expect(eq(int, o.verbose, 0));
}

Test(options, each_in_its_forms)
{
	struct ndd_options o;

	cr_expect(eq(int, parse(&o, "-c", "a.json", NULL), -1));
	cr_expect(eq(str, (char *)o.config, "a.json"));
	cr_expect(eq(int, parse(&o, "--config=b.json", "--check-config", NULL), -1));
	cr_expect(eq(str, (char *)o.config, "b.json"));
	cr_expect(o.check_config);
	cr_expect(eq(int, parse(&o, "-v", NULL, NULL), -1));
	cr_expect(eq(int, o.verbose, 1));
	cr_expect(eq(int, parse(&o, "-vv", "--verbose", NULL), -1));
	cr_expect(eq(int, o.verbose, 3));
}

Test(options, udp_has_no_configuration)
{
	struct ndd_options o;

	cr_expect(eq(int, parse(&o, "--udp", "-v", NULL), -1));
	cr_expect(o.udp);
	cr_expect(eq(int, parse(&o, "--udp", "-c", "a.json"), 2));
	cr_expect(eq(int, parse(&o, "-c", "a.json", NULL), -1));
	cr_expect(not(o.udp));
}

Test(options, help_and_version_end_well)
{
	struct ndd_options o;

	cr_redirect_stdout();
	cr_expect(eq(int, parse(&o, "-h", NULL, NULL), 0));
	cr_expect(eq(int, parse(&o, "--help", NULL, NULL), 0));
	cr_expect(eq(int, parse(&o, "-V", NULL, NULL), 0));
	cr_expect(eq(int, parse(&o, "--version", NULL, NULL), 0));
}

Test(options, what_is_wrong_ends_with_status_2)
{
	struct ndd_options o;

	cr_expect(eq(int, parse(&o, "--no-such-option", NULL, NULL), 2));
	cr_expect(eq(int, parse(&o, "-c", NULL, NULL), 2), "it needs a file");
	cr_expect(eq(int, parse(&o, "--check-config=1", NULL, NULL), 2));
}

Test(options, an_argument_is_named)
{
	struct ndd_options o;

	cr_expect(eq(int, parse(&o, "-v", "server.json", NULL), 2));
	fflush(stderr);
	cr_expect_stderr_eq_str("dpdk-ndd: unexpected argument \"server.json\"\n");
}
