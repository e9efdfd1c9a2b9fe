/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program of verbs needs: the library, and the daemon. */
#ifndef VERBS_CHECK_H
#define VERBS_CHECK_H

#include <stdbool.h>

#define VERBS_FOLDER_BYTES 4096

/* The folder of our libibverbs.so.1, by where this program lies: in the build or installed. false:
 * complained. */
bool verbs_find_library(char folder[VERBS_FOLDER_BYTES]);
/* Is there a daemon with addresses? Says what was found, on stderr, unless quiet; closely: opens
 * each device and describes it. false: complained. */
bool verbs_check_daemon(bool closely, bool quiet);

#endif
