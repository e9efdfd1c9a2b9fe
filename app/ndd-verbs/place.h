/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder in which class/infiniband is made, and its devices, which come and go as a whole. */
#ifndef VERBS_PLACE_H
#define VERBS_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "tree.h"

struct verbs_place {
	const char *folder;
	bool own; /* it was made */
	struct verbs_tree tree;
	int class, stage; /* where devices are shown, and where they are made */
};
struct verbs_placed {
	struct verbs_tree tree; /* its folder */
	char name[16];		/* in class or in stage */
	bool shown;
};

/* The folder is made, or is there and empty. false: complained, here and below. */
bool verbs_place_open(struct verbs_place *p, const char *folder);
/* Remove all that was made. */
bool verbs_place_close(struct verbs_place *p);
/* A device, in which files can be made, and which nobody sees. */
bool verbs_place_begin(struct verbs_place *p, struct verbs_placed *d);
/* From now on it is seen as ndd<number>. */
bool verbs_place_show(struct verbs_place *p, struct verbs_placed *d, uint32_t number);
/* As verbs_tree_replace(). */
bool verbs_place_replace(
	struct verbs_place *p, struct verbs_placed *d, const char *path, const char *line);
/* It is no more. */
bool verbs_place_end(struct verbs_place *p, struct verbs_placed *d);

#endif
