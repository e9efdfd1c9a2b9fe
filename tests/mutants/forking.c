/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In place of Criterion's runner: a process that forks for each test it is asked for, which takes a
 * tenth of the time of a process that is started and linked anew. Assertions end the child.
 *
 * Without arguments it reads lines from standard input, NUMBER TEST CPU WALL FILE: the mutant that
 * is alive; the place of the test in --list; limits in seconds; where to record what is reached, or
 * "-". It answers each with "0" (passed) or "1", a space, and the CPU time in microseconds.
 */
#include "mutant.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern struct criterion_test *__start_cr_tst[] __attribute__((weak, visibility("hidden")));
extern struct criterion_test *__stop_cr_tst[] __attribute__((weak, visibility("hidden")));

extern struct criterion_suite *__start_cr_sts[] __attribute__((weak, visibility("hidden")));
extern struct criterion_suite *__stop_cr_sts[] __attribute__((weak, visibility("hidden")));

struct criterion_options criterion_options;
static struct criterion_test *running;

/* ---- what assertions call ------------------------------------------------------------ */

void
criterion_abort_test(void)
{
	_exit(1);
}

void
criterion_continue_test(void)
{
	_exit(1);
}

void
criterion_skip_test(const char *format, ...)
{
	(void)format;
	_exit(0);
}

void
criterion_send_assert(struct criterion_assert_stats *stats)
{
	if (!stats->passed)
		_exit(1);
}

void
cri_asserts_passed_incr(void)
{
}

char *
cr_translate_assert_msg(int index, ...)
{
	(void)index;
	_exit(1);
}

void
cri_assert_node_init(struct cri_assert_node *node)
{
	memset(node, 0, sizeof(*node));
}

struct cri_assert_node *
cri_assert_node_add(struct cri_assert_node *tree, struct cri_assert_node *node)
{
	(void)tree;
	return node;
}

void
cri_assert_node_negate(struct cri_assert_node *tree)
{
	(void)tree;
}

void
cri_assert_node_send(const char *file, size_t line, struct cri_assert_node *tree)
{
	(void)file;
	(void)line;
	(void)tree;
	_exit(1);
}

void
cri_assert_node_term(struct cri_assert_node *tree)
{
	(void)tree;
}

char *
cri_assert_message(const char *format, ...)
{
	(void)format;
	_exit(1);
}

/* ---- a test -------------------------------------------------------------------------- */

/* What the suite of the running test has for all of its tests. */
static const struct criterion_test_extra_data *
suite_data(void)
{
	static const struct criterion_test_extra_data nothing;

	for (struct criterion_suite **s = __start_cr_sts; s < __stop_cr_sts; s++)
		if (*s != NULL && strcmp((*s)->name, running->category) == 0)
			return (*s)->data;
	return &nothing;
}

void
criterion_internal_test_setup(void)
{
	if (suite_data()->init != NULL)
		suite_data()->init();
	if (running->data->init != NULL)
		running->data->init();
}

/* Each parameter has a process of its own, as it is with Criterion's runner. */
static void
body_take_all(void (*body)(void *))
{
	const struct criterion_test_params p = running->data->param_();
	int status;

	for (size_t i = 0; i < p.length; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			body((char *)p.params + i * p.size);
			return;
		}
		if (waitpid(pid, &status, 0) != pid || status != 0)
			_exit(1);
	}
}

void
criterion_internal_test_main(void (*body)(void))
{
	if (running->data->kind_ == CR_TEST_PARAMETERIZED)
		body_take_all((void (*)(void *))body);
	else
		body();
}

void
criterion_internal_test_teardown(void)
{
	if (running->data->fini != NULL)
		running->data->fini();
	if (suite_data()->fini != NULL)
		suite_data()->fini();
}

static void
limit(int what, rlim_t soft)
{
	setrlimit(what, &(struct rlimit){.rlim_cur = soft, .rlim_max = soft + 1});
}

static _Noreturn void
child_run(struct criterion_test *test, unsigned number, unsigned cpu, const char *file)
{
	sigset_t none;

	setpgid(0, 0);
	limit(RLIMIT_CPU, cpu);
	limit(RLIMIT_FSIZE, 64 << 20);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0});
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (strcmp(file, "-") != 0)
		mutant_record(file);
	mutant_number = number;
	running = test;
	test->test();
	_exit(0);
}

/* Whether the child ends as it should. */
static bool
child_passes(pid_t pid, const struct criterion_test *test, unsigned wall, uint64_t *cpu_us)
{
	sigset_t ended;
	struct timespec patience = {.tv_sec = wall};
	struct rusage used;
	int status;

	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	while (wait4(pid, &status, WNOHANG, &used) == 0)
		if (sigtimedwait(&ended, NULL, &patience) < 0 && errno == EAGAIN) {
			kill(-pid, SIGKILL);
			wait4(pid, &status, 0, &used);
			break;
		}
	kill(-pid, SIGKILL); /* what it left behind */
	*cpu_us = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
		  (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == test->data->signal && test->data->signal != 0;
	return test->data->signal == 0 && WEXITSTATUS(status) == test->data->exit_code;
}

static void
serve(FILE *requests, int answers)
{
	unsigned number, index, cpu, wall;
	char file[4096];
	sigset_t ended;

	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ended, NULL);
	while (fscanf(requests, "%u %u %u %u %4095s", &number, &index, &cpu, &wall, file) == 5) {
		struct criterion_test *test = __start_cr_tst[index];
		uint64_t cpu_us = 0;
		pid_t pid = fork();
		bool passes;

		if (pid == 0) {
			close(answers);
			child_run(test, number, cpu, file);
		}
		passes = child_passes(pid, test, wall, &cpu_us);
		dprintf(answers, "%d %llu\n", !passes, (unsigned long long)cpu_us);
	}
}

/* Weak: for the programs that have none of their own. */
__attribute__((weak)) int
main(int argc, char *argv[])
{
	int answers, nothing;

	if (argc > 1 && strcmp(argv[1], "--list") == 0) {
		for (struct criterion_test **t = __start_cr_tst; t < __stop_cr_tst; t++)
			printf("%s/%s\n", *t != NULL ? (*t)->category : "-",
				*t != NULL ? (*t)->name : "-");
		return 0;
	}
	answers = dup(STDOUT_FILENO);
	nothing = open("/dev/null", O_WRONLY);
	dup2(nothing, STDOUT_FILENO);
	dup2(nothing, STDERR_FILENO);
	serve(stdin, answers);
	return 0;
}
