/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERBS_COVER_H
#define VERBS_COVER_H

#include <stdbool.h>

/*
 * Mount a new folder over path, in this mount namespace, with all that is in the old one but the
 * names of without (ends with NULL): things may be added there though the old one does not allow
 * it. false: complained.
 */
bool verbs_cover(const char *path, const char *const *without);
/* Mount an empty folder over path. */
bool verbs_cover_empty(const char *path);

#endif
