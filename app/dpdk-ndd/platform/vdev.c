/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "platform/log.h"
#include "platform/vdev.h"

static bool
is_of(const char *vdev, const char *driver)
{
	return strncmp(vdev, driver, strlen(driver)) == 0;
}

bool
ndd_vdev_argument(const char *vdev, const char *key, char *out, size_t bytes)
{
	size_t n = strlen(key), length;

	for (const char *at = strchr(vdev, ','); at != NULL; at = strchr(at, ',')) {
		at++;
		if (strncmp(at, key, n) != 0 || at[n] != '=')
			continue;
		length = strcspn(at + n + 1, ",");
		if (length == 0 || length >= bytes)
			return false;
		memcpy(out, at + n + 1, length);
		out[length] = 0;
		return true;
	}
	return false;
}

static bool
vdev_is(const char *vdev, const char *key, const char *value)
{
	char is[16];

	return ndd_vdev_argument(vdev, key, is, sizeof(is)) && strcmp(is, value) == 0;
}

static bool
is_memif_client(const char *vdev)
{
	return vdev_is(vdev, "role", "client") || vdev_is(vdev, "role", "slave");
}

const char *
ndd_vdev_of(const struct config *cfg, const char *device)
{
	size_t n = strlen(device);

	for (uint32_t i = 0; i < cfg->vdevs; i++)
		if (strncmp(cfg->vdev[i], device, n) == 0 &&
			(cfg->vdev[i][n] == ',' || cfg->vdev[i][n] == 0))
			return cfg->vdev[i];
	return "";
}

/* ---- sockets that listen ---- */

/* memif sockets are abstract unless told otherwise. */
static bool
memif_listens(const char *vdev)
{
	return !is_memif_client(vdev) && vdev_is(vdev, "socket-abstract", "no");
}

static bool
vhost_listens(const char *vdev)
{
	return !vdev_is(vdev, "client", "1");
}

static bool
virtio_listens(const char *vdev)
{
	return vdev_is(vdev, "server", "1");
}

static const struct {
	const char *driver, *path;
	int type;
	bool (*listens)(const char *vdev);
} listeners[] = {
	{"net_memif", "socket", SOCK_SEQPACKET, memif_listens},
	{"net_vhost", "iface", SOCK_STREAM, vhost_listens},
	{"eth_vhost", "iface", SOCK_STREAM, vhost_listens},
	{"net_virtio_user", "path", SOCK_STREAM, virtio_listens},
	{"virtio_user", "path", SOCK_STREAM, virtio_listens},
};

static void
remove_if_dead(const char *path, int type)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct stat st;
	int fd;

	if (stat(path, &st) != 0 || !S_ISSOCK(st.st_mode) || strlen(path) >= sizeof(addr.sun_path))
		return;
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
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
ndd_vdev_remove_stale(const struct config *cfg)
{
	char path[CONFIG_PATH_BYTES];

	for (uint32_t i = 0; i < cfg->vdevs; i++)
		for (size_t k = 0; k < sizeof(listeners) / sizeof(listeners[0]); k++)
			if (is_of(cfg->vdev[i], listeners[k].driver) &&
				listeners[k].listens(cfg->vdev[i]) &&
				ndd_vdev_argument(
					cfg->vdev[i], listeners[k].path, path, sizeof(path)))
				remove_if_dead(path, listeners[k].type);
}
