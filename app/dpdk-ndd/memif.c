/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "log.h"
#include "memif.h"

static bool
is_memif(const char *vdev)
{
	return strncmp(vdev, "net_memif", 9) == 0;
}

static bool
has(const char *vdev, const char *arg)
{
	return strstr(vdev, arg) != NULL;
}

static bool
is_client(const char *vdev)
{
	return has(vdev, ",role=client") || has(vdev, ",role=slave");
}

bool
ndd_memif_is_client(const struct config *cfg, const char *device)
{
	size_t n = strlen(device);

	for (uint32_t i = 0; i < cfg->vdevs; i++)
		if (strncmp(cfg->vdev[i], device, n) == 0 && cfg->vdev[i][n] == ',')
			return is_memif(device) && is_client(cfg->vdev[i]);
	return false;
}

static void
remove_if_dead(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct stat st;
	int fd;

	if (stat(path, &st) != 0 || !S_ISSOCK(st.st_mode) || strlen(path) >= sizeof(addr.sun_path))
		return;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	strcpy(addr.sun_path, path);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0 && errno == ECONNREFUSED) {
		ndd_info("removing %s, whose owner is gone", path);
		(void)unlink(path);
	}
	close(fd);
}

void
ndd_memif_remove_stale(const struct config *cfg)
{
	for (uint32_t i = 0; i < cfg->vdevs; i++) {
		const char *vdev = cfg->vdev[i], *at = strstr(vdev, ",socket=");
		char path[CONFIG_PATH_BYTES];

		/* memif sockets are abstract unless told otherwise. */
		if (!is_memif(vdev) || is_client(vdev) || at == NULL ||
			!has(vdev, ",socket-abstract=no"))
			continue;
		snprintf(path, sizeof(path), "%s", at + strlen(",socket="));
		path[strcspn(path, ",")] = 0;
		remove_if_dead(path);
	}
}
