/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders and small files that a program makes in a folder, and takes away again. */
#ifndef VERBS_TREE_H
#define VERBS_TREE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Paths are relative to the folder at. No symbolic link is followed on the way, nothing that was
 * there is overwritten, and only what is in made is replaced or removed.
 */
struct verbs_tree {
	int at;
	char **made; /* in this order */
	size_t count;
};

/* false: complained, here and below. */
bool verbs_tree_folder(struct verbs_tree *t, const char *path);
/* A file of one line, that everybody may read. */
bool verbs_tree_file(struct verbs_tree *t, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A file of the tree gets another line, at once for those that read it. stage: a folder of the same
 * file system, in which nobody else writes. */
bool verbs_tree_replace(struct verbs_tree *t, int stage, const char *path, const char *line);
/* Remove what was made; a folder into which others have put something stays. false: complained. */
bool verbs_tree_remove(struct verbs_tree *t);
/* Leave all as it is. */
void verbs_tree_forget(struct verbs_tree *t);

#endif
