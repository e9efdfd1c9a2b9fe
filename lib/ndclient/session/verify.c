/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verifier: reports on stderr that the application breaks a rule, with its number. While it is
 * off, a call costs one load of a word that never changes.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ndclient/qp/qp.h"
#include "ndclient/session/verify.h"

#define LINES_MAX 100u /* of one process: a breach in a loop must not fill a disk */

uint32_t nd_verify_on;

void
nd_verify_setup(const struct nd_open_options *opt)
{
	const char *env = secure_getenv("NDD_VERIFY");

	if ((opt != NULL && opt->verify != 0) ||
		(env != NULL && env[0] != 0 && strcmp(env, "0") != 0))
		__atomic_store_n(&nd_verify_on, 1, __ATOMIC_RELAXED);
}

/* One write: lines of several threads and processes stay whole. */
void
nd_breach(const char *rule, const char *fmt, ...)
{
	static uint32_t lines;
	char what[200], line[256];
	va_list args;
	int n;

	if (__atomic_fetch_add(&lines, 1, __ATOMIC_RELAXED) >= LINES_MAX)
		return;
	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	n = snprintf(line, sizeof(line), "libndclient: breach of %s: %s\n", rule, what);
	if (n > 0)
		(void)!write(STDERR_FILENO, line, (size_t)n);
}

void
nd_verify_post(uint32_t *inside, const char *queue, const struct nd_qp *qp)
{
	if (__atomic_exchange_n(inside, 1, __ATOMIC_ACQUIRE) != 0)
		nd_breach("R-POST-10", "two threads post to the %s queue of queue pair %#x at once",
			queue, qp->number);
}
