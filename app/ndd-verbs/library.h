/* SPDX-License-Identifier: BSD-3-Clause */
/* Where our libibverbs.so.1 is. */
#ifndef VERBS_LIBRARY_H
#define VERBS_LIBRARY_H

#include <stdbool.h>

#define VERBS_FOLDER_BYTES 4096

/* Its folder, by where this program lies: in the build or installed. false: complained. */
bool verbs_find_library(char folder[VERBS_FOLDER_BYTES]);

#endif
