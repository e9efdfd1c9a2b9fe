/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "platform/log.h"
#include "privilege/threads.h"

#define THREADS_MAX 1024u
/* Times a tenth of a millisecond: on a crowded machine a thread was seen to wait seconds for a CPU,
 * and to end the daemon instead would help nobody. */
#define PATIENCE   300000u
#define PATIENCE_S (PATIENCE / 10000u)

enum outcome { NONE, DONE, FAILED }; /* and behind FAILED its errno */

/* The threads that are asked, all at once: each waits for its turn on a CPU at the same time. */
static struct asked {
	bool (*act)(const void *arg);
	const void *arg;
	int signal;
	uint32_t n;
	pid_t tid[THREADS_MAX];
	uint32_t outcome[THREADS_MAX];
} asked;

static void
on_signal(int number)
{
	pid_t self = (pid_t)syscall(SYS_gettid);
	uint32_t n = __atomic_load_n(&asked.n, __ATOMIC_ACQUIRE);
	int err = errno;

	(void)number;
	for (uint32_t i = 0; i < n; i++)
		if (asked.tid[i] == self)
			__atomic_store_n(&asked.outcome[i],
				asked.act(asked.arg) ? DONE : FAILED + (uint32_t)errno,
				__ATOMIC_RELEASE);
	errno = err;
}

/* A real-time signal that nobody has a use for: DPDK's TAP driver takes some. */
static int
free_signal(void)
{
	struct sigaction sa;

	for (int number = SIGRTMAX; number >= SIGRTMIN; number--)
		if (sigaction(number, NULL, &sa) == 0 && sa.sa_handler == SIG_DFL)
			return number;
	return -1;
}

static bool
was_asked(pid_t tid)
{
	for (uint32_t i = 0; i < asked.n; i++)
		if (asked.tid[i] == tid)
			return true;
	return false;
}

/* False: there are too many. One that has just ended has nothing to give up. */
static bool
thread_ask(pid_t tid)
{
	if (asked.n == THREADS_MAX)
		return false;
	asked.tid[asked.n] = tid;
	asked.outcome[asked.n] = NONE;
	__atomic_store_n(&asked.n, asked.n + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_tgkill, getpid(), tid, asked.signal) != 0)
		asked.outcome[asked.n - 1] = errno == ESRCH ? DONE : FAILED + (uint32_t)errno;
	return true;
}

static bool
thread_has_acted(uint32_t i)
{
	const struct timespec moment = {.tv_nsec = 100000};
	uint32_t got = __atomic_load_n(&asked.outcome[i], __ATOMIC_ACQUIRE);

	for (uint32_t k = 0; got == NONE && k < PATIENCE; k++) {
		nanosleep(&moment, NULL);
		got = __atomic_load_n(&asked.outcome[i], __ATOMIC_ACQUIRE);
		if (got == NONE && syscall(SYS_tgkill, getpid(), asked.tid[i], 0) != 0 &&
			errno == ESRCH)
			got = DONE;
	}
	if (got == NONE)
		ndd_error("thread %d does not answer in %u s", asked.tid[i], PATIENCE_S);
	else if (got != DONE)
		ndd_error("thread %d can't: %s", asked.tid[i], strerror((int)(got - FAILED)));
	return got == DONE;
}

/* All that have not been asked yet. *any: there were some. False: one of them could not. */
static bool
round_of_all(DIR *tasks, bool *any)
{
	const pid_t self = (pid_t)syscall(SYS_gettid);
	uint32_t first = asked.n;

	rewinddir(tasks);
	for (const struct dirent *e; (e = readdir(tasks)) != NULL;) {
		pid_t tid = (pid_t)atoi(e->d_name);

		if (tid > 0 && tid != self && !was_asked(tid) && !thread_ask(tid))
			return false;
	}
	*any = asked.n != first;
	for (uint32_t i = first; i < asked.n; i++)
		if (!thread_has_acted(i))
			return false;
	return true;
}

bool
ndd_threads_each(bool (*act)(const void *arg), const void *arg)
{
	const struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	DIR *tasks = opendir("/proc/self/task");
	bool any = true, done;

	asked.act = act;
	asked.arg = arg;
	asked.n = 0;
	asked.signal = free_signal();
	done = tasks != NULL && sigaction(asked.signal, &sa, NULL) == 0;
	if (!done)
		ndd_error("threads can't be asked: %s", strerror(errno));
	while (done && any)
		done = round_of_all(tasks, &any);
	if (tasks != NULL)
		closedir(tasks);
	/* A thread that was not waited for must not end the process. */
	(void)signal(asked.signal, done ? SIG_DFL : SIG_IGN);
	if (done && !act(arg)) {
		ndd_error("thread %d can't: %s", getpid(), strerror(errno));
		done = false;
	}
	return done;
}
