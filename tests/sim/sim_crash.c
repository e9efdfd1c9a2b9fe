/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim_crash.h"

/* Asked by the sanitizers' run-time libraries. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))
static struct sigaction before[SIGNALS];
static char line[160]; /* written before it is needed: a handler formats nothing */

/* A sanitizer ends the run by SIGABRT; by default a seed with undefined behaviour would pass. */
const char *
__asan_default_options(void)
{
	return "abort_on_error=1";
}

const char *
__ubsan_default_options(void)
{
	return "halt_on_error=1:abort_on_error=1:print_stacktrace=1";
}

/* Once: a sanitizer that handles the signal aborts. */
static void
say_line(void)
{
	size_t bytes = strlen(line);

	if (bytes > 0 && write(STDOUT_FILENO, line, bytes) < 0)
		_exit(1);
	line[0] = '\0';
}

/* What caused the signal happens again, and meets the handler before this one. */
static void
on_signal(int number)
{
	say_line();
	for (unsigned i = 0; i < SIGNALS; i++)
		if (signals[i] == number)
			sigaction(number, &before[i], NULL);
	if (number == SIGABRT) /* which nothing causes again, if it was sent */
		raise(number);
}

void
sim_crash_watch(void)
{
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	for (unsigned i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &act, &before[i]);
}

void
sim_crash_seed(uint64_t seed, const char *profile)
{
	snprintf(line, sizeof(line), "seed %lu (%s): crashed; again: sim --seed %lu --profile %s\n",
		(unsigned long)seed, profile, (unsigned long)seed, profile);
}
