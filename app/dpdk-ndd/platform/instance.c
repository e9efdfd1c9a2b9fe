/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/directory.h"
#include "platform/instance.h"
#include "platform/log.h"

static void
lock_path(char *out, size_t bytes, const char *socket_path)
{
	snprintf(out, bytes, "%s.lock", socket_path);
}

int
ndd_instance_lock(const char *socket_path)
{
	char path[PATH_MAX], pid[16] = "";
	struct stat held, named;
	int fd;

	ndd_directory_of(socket_path, 0755);
	lock_path(path, sizeof(path), socket_path);
	for (;;) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
		if (fd < 0) {
			ndd_error("%s: %s", path, strerror(errno));
			return -1;
		}
		if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
			ssize_t n = read(fd, pid, sizeof(pid) - 1);

			if (n > 0)
				pid[strcspn(pid, "\n")] = 0;
			ndd_error("another dpdk-ndd (process %s) serves %s: stop it, or give this "
				  "one its own control.socket and eal.file_prefix",
				n > 0 ? pid : "unknown", socket_path);
			close(fd);
			return -1;
		}
		/* The last owner may have removed the file between our open() and flock(). */
		if (fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino)
			break;
		close(fd);
	}
	if (ftruncate(fd, 0) != 0 || dprintf(fd, "%d\n", getpid()) < 0)
		ndd_warning("%s: %s", path, strerror(errno));
	return fd;
}

void
ndd_instance_unlock(const char *socket_path, int fd)
{
	char path[PATH_MAX];

	lock_path(path, sizeof(path), socket_path);
	(void)unlink(path);
	close(fd);
}
