/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that carries out one of several scenarios. */
#ifndef VERBS_CHOOSE_H
#define VERBS_CHOOSE_H

#include <stddef.h>

struct scenario {
	const char *name;
	void (*run)(void); /* ends the program if something is not so */
};

/* Of CLOCK_MONOTONIC. */
double scenario_seconds(void);
/* Run that which the only argument names. Returns the exit code: 2 if there is none such. */
int choose_scenario(int argc, char **argv, const struct scenario *all, size_t count);

#endif
