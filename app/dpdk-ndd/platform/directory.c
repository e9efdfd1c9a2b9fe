/* SPDX-License-Identifier: BSD-3-Clause */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>

#include "platform/directory.h"

void
ndd_directory_of(const char *path, mode_t mode)
{
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", path);
	(void)mkdir(dirname(copy), mode);
}
