/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/session/thread.h"

#include <dirent.h>
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KCMP_FILES 2

struct own_thread {
	void *(*run)(void *);
	void *arg;
	sem_t *begun;
	pid_t id;
	LIST_ENTRY(own_thread) link;
};

static LIST_HEAD(, own_thread) own_threads = LIST_HEAD_INITIALIZER(own_threads);
static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;

/* A child has none of these threads, and the lock as it was in the moment of the fork. */
static void
own_forget(void)
{
	LIST_INIT(&own_threads);
	pthread_mutex_init(&own_lock, NULL);
}

static void
own_prepare(void)
{
	(void)pthread_atfork(NULL, NULL, own_forget);
}

bool
nd_thread_start_callbacks(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc == 0;
}

static void *
own_main(void *arg)
{
	struct own_thread *t = arg;
	void *result;

	t->id = gettid();
	pthread_mutex_lock(&own_lock);
	LIST_INSERT_HEAD(&own_threads, t, link);
	pthread_mutex_unlock(&own_lock);
	sem_post(t->begun);
	result = t->run(t->arg);
	pthread_mutex_lock(&own_lock);
	LIST_REMOVE(t, link);
	pthread_mutex_unlock(&own_lock);
	free(t);
	return result;
}

/* Its id is known when this returns. */
bool
nd_thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	static pthread_once_t prepared = PTHREAD_ONCE_INIT;
	struct own_thread *t = malloc(sizeof(*t));
	sem_t begun;
	bool ok;

	pthread_once(&prepared, own_prepare);
	if (t == NULL)
		return false;
	*t = (struct own_thread){.run = run, .arg = arg, .begun = &begun};
	sem_init(&begun, 0, 0);
	ok = nd_thread_start_callbacks(thread, own_main, t);
	while (ok && sem_wait(&begun) != 0)
		;
	sem_destroy(&begun);
	if (!ok)
		free(t);
	return ok;
}

static bool
is_own(pid_t id)
{
	const struct own_thread *t;

	pthread_mutex_lock(&own_lock);
	LIST_FOREACH (t, &own_threads, link)
		if (t->id == id)
			break;
	pthread_mutex_unlock(&own_lock);
	return t != NULL;
}

/* A thread that ends has given its descriptors up before it leaves the list of tasks; it makes no
 * system call any more. */
static bool
is_ending(pid_t id)
{
	char path[48], line[128];
	bool none = false;
	FILE *lines;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)id);
	lines = fopen(path, "re");
	if (lines == NULL)
		return errno == ENOENT;
	while (!none && fgets(line, sizeof(line), lines) != NULL)
		none = strcmp(line, "FDSize:\t0\n") == 0;
	none = none || ferror(lines);
	fclose(lines);
	return none;
}

static enum nd_other_threads
judge_thread(pid_t self, pid_t id)
{
	if (id == 0 || id == self || is_own(id)) /* 0: no number */
		return ND_OTHERS_NONE;
	if (syscall(SYS_kcmp, self, id, KCMP_FILES, 0, 0) == 0)
		return ND_OTHERS_SHARING;
	return is_ending(id) ? ND_OTHERS_NONE : ND_OTHERS_UNKNOWN;
}

enum nd_other_threads
nd_threads_look(void)
{
	enum nd_other_threads found = ND_OTHERS_NONE;
	DIR *all = opendir("/proc/self/task");
	pid_t self = gettid();
	struct dirent *e;

	if (all == NULL)
		return ND_OTHERS_UNKNOWN;
	while (found != ND_OTHERS_UNKNOWN && (e = readdir(all)) != NULL) {
		enum nd_other_threads one = judge_thread(self, (pid_t)strtol(e->d_name, NULL, 10));

		found = one > found ? one : found;
	}
	closedir(all);
	return found;
}
