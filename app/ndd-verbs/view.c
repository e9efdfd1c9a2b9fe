/* SPDX-License-Identifier: BSD-3-Clause */
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fail.h"
#include "cover.h"
#include "sysfs.h"

#define CLASSES "/sys/class"
#define NODES	"/dev"
#define OWN	"infiniband"

/* ---- namespaces ---------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static bool
tell_kernel(const char *path, const char *format, ...)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	va_list args;
	bool ok;

	va_start(args, format);
	ok = fd >= 0 && vdprintf(fd, format, args) > 0;
	va_end(args);
	if (!ok)
		app_complain("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

/* The process keeps its user and group, as it sees them and as others do. */
static bool
enter_user_namespace(void)
{
	unsigned user = geteuid(), group = getegid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
		app_complain("user namespaces are not allowed here: %s",
			errno == ENOSPC ? "user.max_user_namespaces" : strerror(errno));
		return false;
	}
	return tell_kernel("/proc/self/setgroups", "deny") &&
	       tell_kernel("/proc/self/uid_map", "%u %u 1", user, user) &&
	       tell_kernel("/proc/self/gid_map", "%u %u 1", group, group);
}

/* What is mounted elsewhere later is still seen; what is mounted here stays here. */
static bool
enter_namespaces(void)
{
	if (unshare(CLONE_NEWNS) != 0 && !enter_user_namespace())
		return false;
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0)
		return true;
	app_complain("mounts of its own: %s", strerror(errno));
	return false;
}

/* ---- what is seen -------------------------------------------------------------------- */

static bool
show_classes(const struct verbs_devices *d)
{
	static const char *const without[] = {VERBS_CLASS_DEVICES, VERBS_CLASS_UVERBS, NULL};
	int class;
	bool ok;

	if (!verbs_cover(CLASSES, without))
		return false;
	class = open(CLASSES, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ok = class >= 0 && verbs_sysfs_write(class, d);
	if (class >= 0)
		close(class);
	return ok;
}

/* Programs look whether it is a character device that they may open, and leave it at that. */
static bool
show_node(uint32_t number)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), NODES "/" OWN "/uverbs%u", number);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && mount("/dev/null", path, NULL, MS_BIND, NULL) == 0)
		return true;
	app_complain("%s: %s", path, strerror(errno));
	return false;
}

static bool
show_nodes(const struct verbs_devices *d)
{
	static const char *const without[] = {NULL};
	bool ok;

	if (access(NODES "/" OWN, F_OK) == 0)
		ok = verbs_cover_empty(NODES "/" OWN);
	else
		ok = verbs_cover(NODES, without) && mkdir(NODES "/" OWN, 0755) == 0;
	for (uint32_t i = 0; ok && i < d->count; i++)
		ok = show_node(i);
	return ok;
}

bool
verbs_view_enter(const struct verbs_devices *d)
{
	return enter_namespaces() && show_classes(d) && show_nodes(d);
}

bool
verbs_view_possible(const struct verbs_devices *d, bool quiet)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (quiet && freopen("/dev/null", "w", stderr) == NULL)
			_exit(1);
		_exit(verbs_view_enter(d) ? 0 : 1);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}
