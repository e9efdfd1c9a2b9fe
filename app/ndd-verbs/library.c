/* SPDX-License-Identifier: BSD-3-Clause */
#include "library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fail.h"

#define LIBRARY "libibverbs.so.1"

/* Is it in that folder, which is told from this program's own? */
static bool
library_is_in(const char *own, const char *way, char folder[VERBS_FOLDER_BYTES])
{
	char path[2 * VERBS_FOLDER_BYTES];
	char *real;
	bool there;

	snprintf(path, sizeof(path), "%s/%s", own, way);
	real = realpath(path, NULL);
	if (real == NULL)
		return false;
	there = snprintf(folder, VERBS_FOLDER_BYTES, "%s", real) < VERBS_FOLDER_BYTES;
	free(real);
	snprintf(path, sizeof(path), "%s/" LIBRARY, folder);
	return there && access(path, R_OK) == 0;
}

bool
verbs_find_library(char folder[VERBS_FOLDER_BYTES])
{
	char own[VERBS_FOLDER_BYTES];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash;

	if (n > 0) {
		own[n] = 0;
		slash = strrchr(own, '/');
		*slash = 0;
		if (library_is_in(own, LIBRARY_INSTALLED, folder) ||
			library_is_in(own, LIBRARY_BUILT, folder))
			return true;
	}
	app_complain(LIBRARY " of dpdk-ndd is neither at %s/%s nor in the build: was it built "
			     "(libibverbs-dev)?",
		n > 0 ? own : "?", LIBRARY_INSTALLED);
	return false;
}
