/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "platform/log.h"
#include "platform/log_writer.h"

#define LIMITED_LINES 10u /* a second */

static enum ndd_log_level log_level = NDD_LOG_NOTICE;

static const char *const level_name[] = {"error", "warning", "notice", "info", "debug"};

void
ndd_log_set_level(enum ndd_log_level level)
{
	log_level = level;
}

static void
put_line(enum ndd_log_level level, const char *fmt, va_list ap)
{
	char line[NDD_LOG_LINE_BYTES];
	struct timespec ts;
	struct tm tm;
	int n, m;

	clock_gettime(CLOCK_REALTIME, &ts);
	localtime_r(&ts.tv_sec, &tm);
	n = snprintf(line, sizeof(line), "%02d:%02d:%02d.%03ld dpdk-ndd %s: ", tm.tm_hour,
		tm.tm_min, tm.tm_sec, ts.tv_nsec / 1000000, level_name[level]);
	m = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, ap);
	if (m < 0)
		return;
	n += m;
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n++] = '\n';
	ndd_log_writer_put(line, (size_t)n);
}

void
ndd_log(enum ndd_log_level level, const char *fmt, ...)
{
	va_list ap;

	if (level > log_level)
		return;
	va_start(ap, fmt);
	put_line(level, fmt, ap);
	va_end(ap);
}

void
ndd_log_at(struct ndd_log_place *place, enum ndd_log_level level, const char *fmt, ...)
{
	struct timespec ts;
	va_list ap;

	if (level > log_level)
		return;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	if (ts.tv_sec != place->second) {
		if (place->left_out != 0)
			ndd_log(level, "(%u lines like this were left out)", place->left_out);
		*place = (struct ndd_log_place){.second = ts.tv_sec};
	}
	if (++place->lines > LIMITED_LINES) {
		place->left_out++;
		return;
	}
	va_start(ap, fmt);
	put_line(level, fmt, ap);
	va_end(ap);
}
