/* SPDX-License-Identifier: BSD-3-Clause */
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fail.h"

#define STAGED "line"

static bool
complain_of(const char *path)
{
	app_complain("%s of the devices: %s", path, strerror(errno));
	return false;
}

/* The folder that path lies in, opened, and its name in there; negative: errno. */
static int
open_parent(int at, const char *path, const char **name)
{
	char part[NAME_MAX + 1];
	const char *slash;
	int next, fd = openat(at, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (; fd >= 0 && (slash = strchr(path, '/')) != NULL; path = slash + 1) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		next = openat(fd, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(fd);
		fd = next;
	}
	*name = path;
	return fd;
}

static bool
tree_note(struct verbs_tree *t, const char *path)
{
	char **made = reallocarray(t->made, t->count + 1, sizeof(*made));

	if (made == NULL)
		return complain_of(path);
	t->made = made;
	made[t->count] = strdup(path);
	if (made[t->count] == NULL)
		return complain_of(path);
	t->count++;
	return true;
}

bool
verbs_tree_folder(struct verbs_tree *t, const char *path)
{
	const char *name;
	int in = open_parent(t->at, path, &name);
	bool ok = in >= 0 && mkdirat(in, name, 0755) == 0;

	if (!ok)
		(void)complain_of(path);
	if (in >= 0)
		close(in);
	return ok && tree_note(t, path);
}

/* A new file with a line. */
static bool
write_line(int in, const char *name, const char *line)
{
	int fd = openat(in, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	bool ok = fd >= 0 && dprintf(fd, "%s\n", line) == (int)strlen(line) + 1;

	if (fd >= 0)
		close(fd);
	return ok;
}

bool
verbs_tree_file(struct verbs_tree *t, const char *path, const char *format, ...)
{
	char line[256];
	const char *name;
	int in = open_parent(t->at, path, &name);
	va_list args;
	bool ok;

	va_start(args, format);
	(void)vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	ok = in >= 0 && write_line(in, name, line);
	if (!ok)
		(void)complain_of(path);
	if (in >= 0)
		close(in);
	return ok && tree_note(t, path);
}

bool
verbs_tree_replace(struct verbs_tree *t, int stage, const char *path, const char *line)
{
	const char *name;
	int in = open_parent(t->at, path, &name);
	bool ok;

	(void)unlinkat(stage, STAGED, 0); /* of a time that failed */
	ok = in >= 0 && write_line(stage, STAGED, line) && renameat(stage, STAGED, in, name) == 0;
	if (!ok)
		(void)complain_of(path);
	if (in >= 0)
		close(in);
	return ok;
}

static bool
remove_one(int at, const char *path)
{
	const char *name;
	int in = open_parent(at, path, &name);
	bool ok;

	if (in < 0)
		return errno == ENOENT || complain_of(path);
	ok = unlinkat(in, name, 0) == 0 ||
	     ((errno == EISDIR || errno == EPERM) && unlinkat(in, name, AT_REMOVEDIR) == 0) ||
	     errno == ENOENT;
	if (!ok)
		(void)complain_of(path);
	close(in);
	return ok;
}

bool
verbs_tree_remove(struct verbs_tree *t)
{
	bool ok = true;

	for (size_t i = t->count; i-- > 0;)
		ok &= remove_one(t->at, t->made[i]);
	verbs_tree_forget(t);
	return ok;
}

void
verbs_tree_forget(struct verbs_tree *t)
{
	while (t->count > 0)
		free(t->made[--t->count]);
	free(t->made);
	t->made = NULL;
}
