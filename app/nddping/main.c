/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/fail.h"
#include "common/wait.h"
#include "options.h"
#include "roles.h"

int
main(int argc, char **argv)
{
	struct ping_options opt;
	int rc;

	if (ping_options_parse(&opt, argc, argv, &rc) != 0)
		return rc;
	app_catch_signals();
	return opt.server ? ping_server(&opt) : ping_client(&opt);
}
