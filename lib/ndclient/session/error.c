/* SPDX-License-Identifier: BSD-3-Clause */
/* The words behind a status that a call returned: the last ones of each thread. */
#include <stdarg.h>
#include <stdio.h>

#include "ndclient/session/error.h"

static __thread char last_error[256];

nd_status
nd_fail(nd_status st, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(last_error, sizeof(last_error), fmt, args);
	va_end(args);
	return st;
}

const char *
nd_last_error(void)
{
	return last_error;
}
