/* SPDX-License-Identifier: BSD-3-Clause */
/* One daemon for each control socket. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/instance.h"
#include "platform/log.h"

static char folder[64];

static void
make_folder(void)
{
	strcpy(folder, "/tmp/ndd-test-XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
	ndd_log_set_level(NDD_LOG_ERROR);
}

static void
remove_folder(void)
{
	rmdir(folder);
}

TestSuite(instance, .init = make_folder, .fini = remove_folder);

/* The exit status of a second daemon: 1, refused. */
static int
try_in_child(const char *path)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		freopen("/dev/null", "w", stderr);
		_exit(ndd_instance_lock(path) < 0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

Test(instance, second_is_refused_while_the_first_lives)
{
	char path[128], lock[160], pid[16] = "";
	int fd, at;

	snprintf(path, sizeof(path), "%s/s.sock", folder);
	snprintf(lock, sizeof(lock), "%s.lock", path);
	fd = ndd_instance_lock(path);
	cr_assert_geq(fd, 0);
	cr_assert_eq(try_in_child(path), 1);
	at = open(lock, O_RDONLY);
	cr_assert_gt(read(at, pid, sizeof(pid) - 1), 0);
	close(at);
	cr_assert_eq(atoi(pid), getpid(), "the file names the owner");
	ndd_instance_unlock(path, fd);
	cr_assert_neq(access(lock, F_OK), 0, "nothing is left");
}

Test(instance, a_dead_daemons_lock_is_no_obstacle)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/s.sock", folder);
	cr_assert_eq(try_in_child(path), 0);
	fd = ndd_instance_lock(path); /* the child died without unlocking */
	cr_assert_geq(fd, 0);
	ndd_instance_unlock(path, fd);
}

Test(instance, the_folder_is_made)
{
	char path[128], sub[96];
	int fd;

	snprintf(sub, sizeof(sub), "%s/run", folder);
	snprintf(path, sizeof(path), "%s/s.sock", sub);
	fd = ndd_instance_lock(path);
	cr_assert_geq(fd, 0);
	ndd_instance_unlock(path, fd);
	cr_assert_eq(rmdir(sub), 0);
}
