/* SPDX-License-Identifier: BSD-3-Clause */
#include "cover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fail.h"

bool
verbs_cover_empty(const char *path)
{
	if (mount("ndd-verbs", path, "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0755,size=4m") == 0)
		return true;
	app_complain("mount over %s: %s", path, strerror(errno));
	return false;
}

static bool
copy_link(int old, const char *name, const char *to)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(old, name, target, sizeof(target) - 1);

	if (n < 0)
		return false;
	target[n] = 0;
	return symlink(target, to) == 0;
}

/* The old thing itself, not a copy of it. */
static bool
bind_entry(int old, const char *name, bool folder, const char *to)
{
	char from[NAME_MAX + 64];
	int fd;

	if (folder) {
		if (mkdir(to, 0755) != 0)
			return false;
	} else {
		fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
		if (fd < 0)
			return false;
		close(fd);
	}
	snprintf(from, sizeof(from), "/proc/self/fd/%d/%s", old, name);
	return mount(from, to, NULL, MS_BIND | MS_REC, NULL) == 0;
}

static bool
take_over(int old, const char *name, const char *path)
{
	char to[PATH_MAX];
	struct stat st;
	bool ok;

	if (snprintf(to, sizeof(to), "%s/%s", path, name) >= (int)sizeof(to))
		return true;
	if (fstatat(old, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT; /* devices come and go */
	ok = S_ISLNK(st.st_mode) ? copy_link(old, name, to)
				 : bind_entry(old, name, S_ISDIR(st.st_mode), to);
	if (!ok)
		app_complain("keep %s: %s", to, strerror(errno));
	return ok;
}

static bool
is_among(const char *name, const char *const *names)
{
	while (*names != NULL && strcmp(name, *names) != 0)
		names++;
	return *names != NULL;
}

static bool
take_over_all(DIR *entries, const char *path, const char *const *without)
{
	const struct dirent *e;
	bool ok = true;

	while (ok && (e = readdir(entries)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
			!is_among(e->d_name, without))
			ok = take_over(dirfd(entries), e->d_name, path);
	return ok;
}

bool
verbs_cover(const char *path, const char *const *without)
{
	DIR *old = opendir(path);
	bool ok;

	if (old == NULL) {
		app_complain("%s: %s", path, strerror(errno));
		return false;
	}
	ok = verbs_cover_empty(path) && take_over_all(old, path, without);
	closedir(old);
	return ok;
}
