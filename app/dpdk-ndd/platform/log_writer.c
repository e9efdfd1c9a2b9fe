/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/log_writer.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINES  512u /* all counters at once are fewer */
#define STOP_S 1

enum writer_state { DIRECT, RUNNING, ENDING, STUCK };

static struct {
	pthread_mutex_t lock; /* held while a line is copied, never while one is written */
	pthread_cond_t given, over;
	pthread_t thread;
	enum writer_state state;
	/* A ring; the first line may be under way. */
	uint32_t first, n;
	uint64_t left_out; /* not told yet */
	struct {
		uint16_t bytes;
		char text[NDD_LOG_LINE_BYTES];
	} line[LINES];
} writer = {.lock = PTHREAD_MUTEX_INITIALIZER, .given = PTHREAD_COND_INITIALIZER};

/* One write() per line: lines of several threads and processes don't mix. False: it is lost, as
 * stderr is closed, or its disk full. */
static bool
line_write(const char *line, size_t bytes)
{
	return write(STDERR_FILENO, line, bytes) == (ssize_t)bytes;
}

static bool
line_append(const char *line, size_t bytes)
{
	uint32_t at = (writer.first + writer.n) % LINES;

	if (writer.n == LINES)
		return false;
	memcpy(writer.line[at].text, line, bytes);
	writer.line[at].bytes = (uint16_t)bytes;
	writer.n++;
	return true;
}

void
ndd_log_writer_put(const char *line, size_t bytes)
{
	enum writer_state state;

	pthread_mutex_lock(&writer.lock);
	state = writer.state;
	if (state == RUNNING && !line_append(line, bytes))
		writer.left_out++;
	pthread_cond_signal(&writer.given);
	pthread_mutex_unlock(&writer.lock);
	if (state == DIRECT)
		(void)line_write(line, bytes);
}

/* ---- the thread ---------------------------------------------------------------------------- */

/* What was left out in between is told before the line behind it. */
static bool
tell_left_out(uint64_t left_out)
{
	char line[80];
	int n = snprintf(line, sizeof(line),
		"dpdk-ndd warning: (lines that were not written: %lu)\n", (unsigned long)left_out);

	return line_write(line, (size_t)n);
}

static void
write_first(void)
{
	const uint32_t at = writer.first;
	uint64_t left_out = writer.left_out, lost = 0;

	writer.left_out = 0;
	pthread_mutex_unlock(&writer.lock);
	if (left_out != 0 && !tell_left_out(left_out))
		lost = left_out;
	lost += !line_write(writer.line[at].text, writer.line[at].bytes);
	pthread_mutex_lock(&writer.lock);
	writer.left_out += lost;
	writer.first = (at + 1) % LINES;
	writer.n--;
}

static void *
writer_main(void *arg)
{
	pthread_mutex_lock(&writer.lock);
	for (;;) {
		while (writer.n == 0 && writer.state == RUNNING)
			pthread_cond_wait(&writer.given, &writer.lock);
		if (writer.n == 0)
			break;
		write_first();
	}
	writer.state = DIRECT;
	pthread_cond_signal(&writer.over);
	pthread_mutex_unlock(&writer.lock);
	return arg;
}

bool
ndd_log_writer_start(void)
{
	pthread_condattr_t clock;

	if (pthread_condattr_init(&clock) != 0)
		return false;
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&writer.over, &clock);
	pthread_condattr_destroy(&clock);
	writer.state = RUNNING;
	if (pthread_create(&writer.thread, NULL, writer_main, NULL) == 0) {
		(void)pthread_setname_np(writer.thread, "ndd-log");
		return true;
	}
	writer.state = DIRECT;
	return false;
}

void
ndd_log_writer_stop(void)
{
	struct timespec until;
	int rc = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += STOP_S;
	pthread_mutex_lock(&writer.lock);
	if (writer.state != RUNNING) {
		pthread_mutex_unlock(&writer.lock);
		return;
	}
	writer.state = ENDING;
	pthread_cond_signal(&writer.given);
	while (writer.state == ENDING && rc == 0)
		rc = pthread_cond_timedwait(&writer.over, &writer.lock, &until);
	if (writer.state == ENDING)
		writer.state = STUCK;
	pthread_mutex_unlock(&writer.lock);
}
