/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "log.h"

static enum ndd_log_level log_level = NDD_LOG_NOTICE;

static const char *const level_name[] = {"error", "warning", "notice", "info", "debug"};

void
ndd_log_set_level(enum ndd_log_level level)
{
	log_level = level;
}

/* One write() per line: lines of several threads and processes don't mix. */
void
ndd_log(enum ndd_log_level level, const char *fmt, ...)
{
	char line[1024];
	struct timespec ts;
	struct tm tm;
	va_list ap;
	int n, m;

	if (level > log_level)
		return;
	clock_gettime(CLOCK_REALTIME, &ts);
	localtime_r(&ts.tv_sec, &tm);
	n = snprintf(line, sizeof(line), "%02d:%02d:%02d.%03ld dpdk-ndd %s: ", tm.tm_hour, tm.tm_min,
		tm.tm_sec, ts.tv_nsec / 1000000, level_name[level]);
	va_start(ap, fmt);
	m = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, ap);
	va_end(ap);
	if (m < 0)
		return;
	n += m;
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return; /* nobody to tell */
}
