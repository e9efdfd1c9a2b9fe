/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim_isolate.h"

struct sim_shared *
sim_shared_new(void)
{
	void *p = mmap(NULL, sizeof(struct sim_shared), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

static void
run_child(const struct sim_case *c, struct sim_shared *shared, unsigned cpu_ms, int fd)
{
	const struct itimerval limit = {
		.it_value = {cpu_ms / 1000, (suseconds_t)(cpu_ms % 1000) * 1000}};
	struct sim_script empty = {.list = NULL}, *script = c->script != NULL ? c->script : &empty;
	struct sim_case recorded = *c;

	setitimer(ITIMER_PROF, &limit, NULL);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	setlinebuf(stdout); /* a crash loses nothing */
	if (c->script == NULL)
		sim_script_seal(script);
	script->record = shared->record;
	script->recorded = &shared->recorded;
	recorded.script = script;
	sim_run(&recorded, &shared->outcome);
	shared->counters = sim_counters;
	shared->cm_counters = sim_cm_counters;
	fflush(stdout);
	_exit(0);
}

bool
sim_run_isolated(const struct sim_case *c, struct sim_shared *shared, unsigned cpu_ms, int fd)
{
	struct sim_outcome *o = &shared->outcome;
	int status;
	pid_t pid;

	*o = (struct sim_outcome){.passed = false};
	shared->recorded = 0;
	memset(&shared->counters, 0, sizeof(shared->counters));
	memset(&shared->cm_counters, 0, sizeof(shared->cm_counters));
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		abort();
	if (pid == 0)
		run_child(c, shared, cpu_ms, fd);
	if (waitpid(pid, &status, 0) != pid)
		abort();
	if (WIFSIGNALED(status)) {
		o->passed = false;
		snprintf(o->line, sizeof(o->line), "%s",
			WTERMSIG(status) == SIGPROF ? "takes too long"
						    : strsignal(WTERMSIG(status)));
		memcpy(o->kind, o->line, sizeof(o->kind) - 1);
	}
	return o->passed;
}
