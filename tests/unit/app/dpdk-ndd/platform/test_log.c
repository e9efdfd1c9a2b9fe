/* SPDX-License-Identifier: BSD-3-Clause */
/* Log lines, as they reach stderr. */
#include "platform/log.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <regex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int captured;  /* a file in place of stderr */
static time_t frozen; /* 0: clocks run */

/* In place of libc's: the second is the test's to choose. */
int
clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (frozen == 0 || clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, ts);
	*ts = (struct timespec){.tv_sec = frozen};
	return 0;
}

static void
capture_stderr(void)
{
	captured = memfd_create("stderr", MFD_CLOEXEC);
	cr_assert_geq(dup2(captured, STDERR_FILENO), 0);
}

TestSuite(log, .init = capture_stderr);

/* What was logged since the last call. */
static char *
take_log(void)
{
	static char text[65536];
	ssize_t n = pread(captured, text, sizeof(text) - 1, 0);

	cr_assert_geq(n, 0);
	text[n] = 0;
	cr_assert_eq(ftruncate(captured, 0), 0);
	lseek(captured, 0, SEEK_SET);
	return text;
}

static unsigned
lines_of(const char *text)
{
	unsigned n = 0;

	for (; *text != 0; text++)
		n += *text == '\n';
	return n;
}

Test(log, a_line_has_time_level_and_text)
{
	regex_t form;

	cr_assert_eq(
		regcomp(&form,
			"^[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3} dpdk-ndd warning: 1 and two\n$",
			REG_EXTENDED | REG_NOSUB),
		0);
	ndd_warning("%d and %s", 1, "two");
	cr_expect(eq(int, regexec(&form, take_log(), 0, NULL, 0), 0));
}

Test(log, levels_above_the_chosen_one_are_silent)
{
	static const char *const names[] = {"error", "warning", "notice", "info", "debug"};

	for (int chosen = NDD_LOG_ERROR; chosen <= NDD_LOG_DEBUG; chosen++) {
		ndd_log_set_level((enum ndd_log_level)chosen);
		for (int level = NDD_LOG_ERROR; level <= NDD_LOG_DEBUG; level++) {
			const char *text;

			ndd_log((enum ndd_log_level)level, "x");
			text = take_log();
			if (level <= chosen)
				cr_expect_not_null(strstr(text, names[level]), "%s", text);
			else
				cr_expect_str_empty(text);
		}
	}
}

/* In one piece, and with its end of line, however long it is. */
Test(log, a_long_line_is_cut)
{
	char text[3000];
	const char *line;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	ndd_error("%s", text);
	line = take_log();
	cr_expect(eq(u32, lines_of(line), 1));
	cr_expect(eq(chr, line[strlen(line) - 1], '\n'));
	cr_expect(le(u64, strlen(line), 1024));
	cr_expect(ge(u64, strlen(line), 1000));
}

static void
drops(int n)
{
	for (int i = 0; i < n; i++)
		ndd_log_limited(NDD_LOG_WARNING, "drop");
}

Test(log, a_flood_of_lines_is_counted_instead)
{
	frozen = 1000;
	drops(1234);
	cr_expect(eq(u32, lines_of(take_log()), 10));
	frozen++;
	drops(1);
	cr_expect_not_null(strstr(take_log(), "(1224 lines like this were left out)"));
	frozen++;
	drops(1);
	cr_expect(eq(u32, lines_of(take_log()), 1), "nothing was left out");
}

Test(log, a_flood_of_one_kind_hides_no_other)
{
	frozen = 1000;
	drops(1234);
	(void)take_log();
	ndd_log_limited(NDD_LOG_WARNING, "a link is down");
	cr_expect_not_null(strstr(take_log(), "a link is down"));
	frozen++;
	ndd_log_limited(NDD_LOG_WARNING, "a link is down");
	cr_expect_null(strstr(take_log(), "left out"), "those were of the other kind");
}

Test(log, what_is_not_logged_at_all_uses_up_nothing)
{
	frozen = 1000;
	for (int i = 0; i < 100; i++)
		ndd_log_limited(NDD_LOG_DEBUG, "silent");
	drops(10);
	cr_expect(eq(u32, lines_of(take_log()), 10));
}
