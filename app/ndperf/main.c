/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/run.h"
#include "common/wait.h"
#include "options.h"
#include "perftest/run.h"
#include "server/server.h"

int
main(int argc, char **argv)
{
	struct ndperf_options opt;
	int rc;

	if (!ndperf_options_parse(&opt, argc, argv, &rc))
		return rc;
	app_catch_signals();
	if (opt.perftest)
		return perftest_run(&opt);
	return opt.server ? server_run(&opt) : client_run(&opt);
}
