/* SPDX-License-Identifier: BSD-3-Clause */
#include "choose.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

double
scenario_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int
choose_scenario(int argc, char **argv, const struct scenario *all, size_t count)
{
	for (size_t i = 0; argc == 2 && i < count; i++) {
		if (strcmp(argv[1], all[i].name) == 0) {
			all[i].run();
			return 0;
		}
	}
	fprintf(stderr, "usage: %s SCENARIO\n", program_invocation_short_name);
	return 2;
}
