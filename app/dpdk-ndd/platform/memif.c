/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/memif.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_ether.h>

#include "platform/directory.h"
#include "platform/log.h"

#define VALUE_BYTES PATH_MAX
#define BUFFER_MIN  64u

bool
ndd_memif_is(const char *vdev)
{
	return strncmp(vdev, "net_memif", strlen("net_memif")) == 0;
}

/* ---- values: false, it is none ---- */

static bool
read_number(const char *value, uint32_t min, uint32_t max, uint32_t *out)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (*value < '0' || *value > '9' || *end != 0 || n < min || n > max)
		return false;
	*out = (uint32_t)n;
	return true;
}

static bool
read_role(const char *value, struct memif_cfg *cfg)
{
	cfg->server = strcmp(value, "server") == 0 || strcmp(value, "master") == 0;
	return cfg->server || strcmp(value, "client") == 0 || strcmp(value, "slave") == 0;
}

static bool
read_id(const char *value, struct memif_cfg *cfg)
{
	return read_number(value, 0, UINT32_MAX, &cfg->id);
}

static bool
read_buffer_bytes(const char *value, struct memif_cfg *cfg)
{
	return read_number(value, BUFFER_MIN, UINT16_MAX, &cfg->buffer_bytes);
}

static bool
read_ring(const char *value, struct memif_cfg *cfg)
{
	uint32_t n = 0;
	bool is = read_number(value, 1, MEMIF_LOG2_RING_MAX, &n);

	cfg->log2_ring = (uint8_t)n;
	return is;
}

static bool
read_abstract(const char *value, struct memif_cfg *cfg)
{
	cfg->is_abstract = strcmp(value, "yes") == 0;
	return cfg->is_abstract || strcmp(value, "no") == 0;
}

static bool
read_socket(const char *value, struct memif_cfg *cfg)
{
	int n = snprintf(cfg->socket, sizeof(cfg->socket), "%s", value);

	return n > 0 && (size_t)n < sizeof(cfg->socket);
}

static bool
read_secret(const char *value, struct memif_cfg *cfg)
{
	memset(cfg->secret, 0, sizeof(cfg->secret));
	if (strlen(value) >= sizeof(cfg->secret))
		return false;
	memcpy(cfg->secret, value, strlen(value));
	return true;
}

static bool
read_mac(const char *value, struct memif_cfg *cfg)
{
	struct rte_ether_addr addr;

	cfg->has_mac = rte_ether_unformat_addr(value, &addr) == 0 &&
		       rte_is_valid_assigned_ether_addr(&addr);
	memcpy(cfg->mac, addr.addr_bytes, sizeof(cfg->mac));
	return cfg->has_mac;
}

/* Frames are copied before anything looks into them: the peer may write at any moment. */
static bool
read_zero_copy(const char *value, struct memif_cfg *cfg)
{
	(void)cfg;
	return strcmp(value, "no") == 0;
}

static const struct {
	const char *key, *allowed;
	bool (*read)(const char *value, struct memif_cfg *cfg);
} arguments[] = {
	{"role", "server or client", read_role},
	{"id", "a number", read_id},
	{"bsize", "bytes of a buffer, 64 to 65535", read_buffer_bytes},
	{"rsize", "1 to 14: a ring has two to the power of that many buffers", read_ring},
	{"socket", "a path of 1 to 106 characters", read_socket},
	{"socket-abstract", "yes or no", read_abstract},
	{"secret", "1 to 23 characters", read_secret},
	{"mac", "the MAC address of a station", read_mac},
	{"zero-copy", "no: each frame is copied", read_zero_copy},
};
#define ARGUMENTS (sizeof(arguments) / sizeof(arguments[0]))

/* ---- all of them ---- */

/* The one that begins there. */
static const char *
read_argument(const char *at, struct memif_cfg *cfg, char *why, size_t why_bytes)
{
	const size_t bytes = strcspn(at, ","), key = strcspn(at, "=,");
	char value[VALUE_BYTES] = "";
	size_t i = 0;

	while (i < ARGUMENTS &&
		(strlen(arguments[i].key) != key || memcmp(arguments[i].key, at, key) != 0))
		i++;
	if (i == ARGUMENTS) {
		(void)snprintf(why, why_bytes, "%.*s: a memif has no such argument", (int)key, at);
		return why;
	}
	if (key < bytes)
		(void)snprintf(value, sizeof(value), "%.*s", (int)(bytes - key - 1), at + key + 1);
	if (value[0] != 0 && arguments[i].read(value, cfg))
		return NULL;
	(void)snprintf(why, why_bytes, "%s=%.128s: %s is wanted", arguments[i].key, value,
		arguments[i].allowed);
	return why;
}

static const char *
read_arguments(const char *vdev, struct memif_cfg *cfg, char *why, size_t why_bytes)
{
	const char *err = NULL;

	for (const char *at = strchr(vdev, ','); err == NULL && at != NULL; at = strchr(at, ','))
		err = read_argument(++at, cfg, why, why_bytes);
	return err;
}

/* ---- its socket ---- */

static void
warn_abstract(const char *vdev)
{
	ndd_warning("%.*s: its socket is abstract, which has no access rights: every user of this "
		    "machine can be its peer. Say socket-abstract=no, and socket=PATH in a "
		    "directory that only both ends may enter",
		(int)strcspn(vdev, ","), vdev);
}

/* The daemon may be somewhere else when it connects again. */
static const char *
path_complete(struct memif_cfg *cfg, char *why, size_t why_bytes)
{
	char here[PATH_MAX] = "", whole[PATH_MAX + sizeof(cfg->socket) + 1];
	int n;

	if (cfg->socket[0] != '/' && getcwd(here, sizeof(here) - 1) != NULL)
		strcat(here, "/");
	n = snprintf(whole, sizeof(whole), "%s%s", here, cfg->socket);
	if (n < 0 || (size_t)n >= sizeof(((struct sockaddr_un *)NULL)->sun_path)) {
		(void)snprintf(why, why_bytes, "%.*s: too long a path for a socket",
			(int)(why_bytes / 2), whole);
		return why;
	}
	memcpy(cfg->socket, whole, (size_t)n + 1);
	return NULL;
}

/* Nothing is made, and nothing said. */
static const char *
read_vdev(const char *vdev, struct memif_cfg *cfg, char *why, size_t why_bytes)
{
	const char *err;

	/* As DPDK has them. */
	*cfg = (struct memif_cfg){.is_abstract = true,
		.socket = "/run/memif.sock",
		.buffer_bytes = 2048,
		.log2_ring = 10};
	err = read_arguments(vdev, cfg, why, why_bytes);
	if (err != NULL || cfg->is_abstract)
		return err;
	return path_complete(cfg, why, why_bytes);
}

const char *
ndd_memif_read(const char *vdev, struct memif_cfg *cfg, char *why, size_t why_bytes)
{
	const char *err = read_vdev(vdev, cfg, why, why_bytes);

	if (err != NULL)
		return err;
	if (cfg->is_abstract)
		warn_abstract(vdev);
	else
		ndd_directory_of(cfg->socket, 0700);
	return NULL;
}

bool
ndd_memif_check(const struct config *cfg, const char *file, char *err, size_t err_bytes)
{
	struct memif_cfg mc;
	char why[256];
	size_t used = 0;

	for (uint32_t i = 0; i < cfg->vdevs && used < err_bytes; i++)
		if (ndd_memif_is(cfg->vdev[i]) &&
			read_vdev(cfg->vdev[i], &mc, why, sizeof(why)) != NULL)
			used += (size_t)snprintf(err + used, err_bytes - used,
				"%s: eal.vdevs[%u]: %s\n", file, i, why);
	return used == 0;
}
