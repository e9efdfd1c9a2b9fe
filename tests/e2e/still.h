/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A daemon stands still. SIGSTOP stops each thread when that comes to see it: an lcore on another
 * CPU goes on for a while, and may answer what nobody should have answered.
 */
#ifndef STILL_H
#define STILL_H

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static inline bool
thread_is_still(pid_t process, const char *thread)
{
	char path[64], stat[512] = "";
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%.16s/stat", (int)process, thread);
	f = fopen(path, "r");
	if (f == NULL)
		return true; /* it has ended */
	if (fgets(stat, sizeof(stat), f) == NULL)
		stat[0] = 0;
	(void)fclose(f);
	return strstr(stat, ") T ") != NULL;
}

static inline bool
process_is_still(pid_t process)
{
	char path[64];
	const struct dirent *e;
	bool still = true;
	DIR *d;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
	d = opendir(path);
	while (d != NULL && still && (e = readdir(d)) != NULL)
		still = e->d_name[0] == '.' || thread_is_still(process, e->d_name);
	if (d != NULL)
		(void)closedir(d);
	return still;
}

/* When it returns, each thread of the process stands still; false: it can't be stopped. */
static inline bool
process_stop(pid_t process)
{
	if (process <= 0 || kill(process, SIGSTOP) != 0)
		return false;
	while (!process_is_still(process))
		(void)usleep(100);
	return true;
}

#endif
