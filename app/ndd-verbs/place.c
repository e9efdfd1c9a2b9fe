/* SPDX-License-Identifier: BSD-3-Clause */
#include "place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fail.h"
#include "sysfs.h"

#define CLASS "class/" VERBS_CLASS_DEVICES
#define STAGE ".ndd-verbs"
#define NEW   "new"

static bool
complain_of(const struct verbs_place *p, const char *what)
{
	app_complain("%s%s%s: %s", p->folder, what[0] != 0 ? "/" : "", what, strerror(errno));
	return false;
}

static bool
is_empty(const struct verbs_place *p)
{
	int fd = openat(p->tree.at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *e;

	if (dir == NULL) {
		if (fd >= 0)
			close(fd);
		return complain_of(p, "");
	}
	do
		e = readdir(dir);
	while (e != NULL && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0));
	if (e != NULL)
		app_complain("%s is not empty (%s is in it), and only what is made here is ever "
			     "overwritten or removed: name an empty folder, or a new one",
			p->folder, e->d_name);
	closedir(dir);
	return e == NULL;
}

/* Others may look into what they are let into: the folder itself decides. */
static bool
make_folders(struct verbs_place *p)
{
	if (!verbs_tree_folder(&p->tree, STAGE) || !verbs_tree_folder(&p->tree, "class") ||
		!verbs_tree_folder(&p->tree, CLASS))
		return false;
	p->stage = openat(p->tree.at, STAGE, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	p->class = openat(p->tree.at, CLASS, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return (p->stage >= 0 && p->class >= 0) || complain_of(p, CLASS);
}

bool
verbs_place_open(struct verbs_place *p, const char *folder)
{
	struct stat st;

	*p = (struct verbs_place){.folder = folder, .tree.at = -1, .class = -1, .stage = -1};
	(void)umask(022);
	p->own = mkdir(folder, 0750) == 0;
	if (!p->own && errno != EEXIST)
		return complain_of(p, "");
	if (lstat(folder, &st) == 0 && S_ISLNK(st.st_mode)) {
		app_complain("%s is a symbolic link, which is not followed", folder);
		return false;
	}
	p->tree.at = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p->tree.at < 0)
		return complain_of(p, "");
	if (!is_empty(p)) {
		close(p->tree.at);
		return false;
	}
	if (make_folders(p))
		return true;
	(void)verbs_place_close(p);
	return false;
}

bool
verbs_place_close(struct verbs_place *p)
{
	bool ok = verbs_tree_remove(&p->tree);

	if (p->class >= 0)
		close(p->class);
	if (p->stage >= 0)
		close(p->stage);
	close(p->tree.at);
	if (ok && p->own && rmdir(p->folder) != 0)
		ok = complain_of(p, "");
	return ok;
}

bool
verbs_place_begin(struct verbs_place *p, struct verbs_placed *d)
{
	*d = (struct verbs_placed){.tree.at = -1};
	if (mkdirat(p->stage, NEW, 0755) != 0)
		return complain_of(p, STAGE "/" NEW);
	(void)snprintf(d->name, sizeof(d->name), NEW);
	d->tree.at = openat(p->stage, NEW, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return d->tree.at >= 0 || complain_of(p, STAGE "/" NEW);
}

bool
verbs_place_show(struct verbs_place *p, struct verbs_placed *d, uint32_t number)
{
	char name[sizeof(d->name)];

	(void)snprintf(name, sizeof(name), "ndd%u", number);
	if (renameat2(p->stage, d->name, p->class, name, RENAME_NOREPLACE) != 0) {
		app_complain("%s/" CLASS "/%s: %s", p->folder, name, strerror(errno));
		return false;
	}
	memcpy(d->name, name, sizeof(name));
	d->shown = true;
	return true;
}

bool
verbs_place_replace(
	struct verbs_place *p, struct verbs_placed *d, const char *path, const char *line)
{
	return verbs_tree_replace(&d->tree, p->stage, path, line);
}

/* It goes back to where nobody looks first; if something of its name is left there, it can't. */
bool
verbs_place_end(struct verbs_place *p, struct verbs_placed *d)
{
	bool ok;

	if (d->name[0] == 0)
		return true;
	if (d->shown && renameat(p->class, d->name, p->stage, d->name) == 0)
		d->shown = false;
	ok = verbs_tree_remove(&d->tree);
	if (d->tree.at >= 0)
		close(d->tree.at);
	if (ok && unlinkat(d->shown ? p->class : p->stage, d->name, AT_REMOVEDIR) != 0)
		ok = complain_of(p, d->name);
	return ok;
}
