/* SPDX-License-Identifier: BSD-3-Clause */
/* The log's reader may be slow, stuck or gone: a thread that logs does not wait. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/log.h"
#include "platform/log_writer.h"

#define MANY 5000

static int kept;

/* stderr is a pipe from now on; its other end. */
static int
begin(void)
{
	int ends[2];

	alarm(60); /* one that waits fails by that */
	signal(SIGPIPE, SIG_IGN);
	kept = dup(STDERR_FILENO);
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	cr_assert_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	close(ends[1]);
	return ends[0];
}

static void
end(void)
{
	cr_assert_eq(dup2(kept, STDERR_FILENO), STDERR_FILENO);
}

static void
fill(void)
{
	char page[4096] = "";

	cr_assert_eq(fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK), 0);
	while (write(STDERR_FILENO, page, sizeof(page)) > 0)
		;
	cr_assert_eq(fcntl(STDERR_FILENO, F_SETFL, 0), 0);
}

/* All that is there until the other end is closed; bytes that are 0 are the filling. */
static char *
read_all(int fd)
{
	char *text = calloc(1, 4u << 20);
	size_t used = 0;
	ssize_t n;

	while ((n = read(fd, text + used, 4096)) > 0)
		for (ssize_t i = 0, at = (ssize_t)used; i < n; i++)
			if (text[at + i] != 0)
				text[used++] = text[at + i];
	memset(text + used, 0, 4096);
	return text;
}

Test(log_writer, lines_come_in_their_order_and_all_before_the_end)
{
	int reader = begin();
	char *text, *at, want[32];

	cr_assert(ndd_log_writer_start());
	for (int i = 0; i < 100; i++)
		ndd_error("line %d.", i);
	ndd_log_writer_stop();
	ndd_error("line %d.", 100);
	end();
	at = text = read_all(reader);
	for (int i = 0; i <= 100; i++) {
		(void)snprintf(want, sizeof(want), "line %d.\n", i);
		at = strstr(at, want);
		cr_assert_not_null(at, "%s", want);
	}
	free(text);
}

Test(log_writer, nobody_waits_for_a_pipe_that_nobody_reads)
{
	int reader = begin();

	cr_assert(ndd_log_writer_start());
	fill();
	for (int i = 0; i < MANY; i++)
		ndd_error("line %d", i);
	ndd_log_writer_stop(); /* gives up */
	ndd_error("one more");
	end();
	close(reader);
}

Test(log_writer, lines_that_found_no_room_are_counted)
{
	int reader = begin();
	char page[65536], *text;

	cr_assert(ndd_log_writer_start());
	fill();
	for (int i = 0; i < MANY; i++)
		ndd_error("line %d", i);
	cr_assert_gt(read(reader, page, sizeof(page)), 0);
	ndd_log_writer_stop(); /* all that waited has room now */
	end();
	text = read_all(reader);
	cr_assert_not_null(strstr(text, "line 0\n"));
	cr_assert_not_null(strstr(text, "(lines that were not written: "));
	free(text);
}

Test(log_writer, a_full_disk_loses_lines_and_nothing_else)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC), reader = begin();
	char *text;

	cr_assert(ndd_log_writer_start());
	cr_assert_eq(dup2(full, STDERR_FILENO), STDERR_FILENO);
	ndd_error("lost");
	ndd_log_writer_stop();
	cr_assert(ndd_log_writer_start());
	end();
	ndd_error("to the test's own stderr");
	ndd_log_writer_stop();
	text = read_all(reader);
	cr_assert_null(strstr(text, "lost"));
	free(text);
}
