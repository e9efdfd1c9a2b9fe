/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "platform/directory.h"
#include "platform/log.h"
#include "platform/memif.h"
#include "platform/vdev.h"

bool
ndd_memif_is(const char *vdev)
{
	return strncmp(vdev, "net_memif", strlen("net_memif")) == 0;
}

/* memif's sockets are, unless told otherwise. */
static bool
is_abstract(const char *vdev)
{
	char abstract[8];

	return !ndd_vdev_argument(vdev, "socket-abstract", abstract, sizeof(abstract)) ||
	       strcmp(abstract, "no") != 0;
}

static void
warn_abstract(const char *vdev)
{
	ndd_warning(
		"%.*s: its socket is abstract, which has no access rights: every user of this "
		"machine can be its peer, and that is trusted with the daemon. Say "
		"socket-abstract=no, and socket=PATH in a directory that only both ends may enter",
		(int)strcspn(vdev, ","), vdev);
}

bool
ndd_memif_vdev(const char *vdev, char *out, size_t bytes)
{
	char path[PATH_MAX], here[PATH_MAX] = "";
	const char *value;
	int n;

	if (is_abstract(vdev) || !ndd_vdev_argument(vdev, "socket", path, sizeof(path))) {
		if (is_abstract(vdev))
			warn_abstract(vdev);
		return snprintf(out, bytes, "%s", vdev) < (int)bytes;
	}
	if (path[0] != '/' && getcwd(here, sizeof(here) - 1) != NULL)
		strcat(here, "/");
	if (strlen(here) + strlen(path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path)) {
		ndd_error("%s%s: too long a path for a socket", here, path);
		return false;
	}
	ndd_directory_of(path, 0700);
	value = strstr(vdev, ",socket=") + strlen(",socket=");
	n = snprintf(out, bytes, "%.*s%s%s", (int)(value - vdev), vdev, here, value);
	return n >= 0 && (size_t)n < bytes;
}
