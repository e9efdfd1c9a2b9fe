/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of devices. It is made anew with each call; devices that are known keep their place. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ndclient/ndclient.h"
#include "ndverbs/address.h"
#include "ndverbs/device.h"
#include "ndverbs/errors.h"
#include "ndverbs/unlisted.h"

static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ndv_device *devices; /* all that were ever listed */
static unsigned device_count;

/* nd_query_addresses() until there was room for all of them. *list: to be freed. */
static nd_status
list_addresses(struct sockaddr_storage **list, uint32_t *count)
{
	nd_status st;

	*list = NULL;
	*count = 0;
	do {
		struct sockaddr_storage *more;

		*count += 8;
		more = realloc(*list, *count * sizeof(**list));
		if (more == NULL)
			return ND_NO_MEMORY;
		*list = more;
		st = nd_query_addresses(NULL, *list, count);
	} while (st == ND_BUFFER_OVERFLOW);
	return st;
}

static bool
same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	union ibv_gid x, y;

	ndv_gid_of(a, &x);
	ndv_gid_of(b, &y);
	return memcmp(&x, &y, sizeof(x)) == 0;
}

static struct ndv_device *
make_device(const struct sockaddr_storage *address)
{
	struct ndv_device *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return NULL;
	d->address = *address;
	d->base.node_type = IBV_NODE_CA;
	d->base.transport_type = IBV_TRANSPORT_IB;
	snprintf(d->base.name, sizeof(d->base.name), "ndd%u", device_count);
	snprintf(d->base.dev_name, sizeof(d->base.dev_name), "uverbs%u", device_count);
	/* Where ndd-verbs lets the program find it. */
	snprintf(d->base.ibdev_path, sizeof(d->base.ibdev_path), "/sys/class/infiniband/ndd%u",
		device_count);
	snprintf(d->base.dev_path, sizeof(d->base.dev_path), "/sys/class/infiniband_verbs/uverbs%u",
		device_count);
	device_count++;
	d->next = devices;
	devices = d;
	return d;
}

static struct ndv_device *
device_at(const struct sockaddr_storage *address)
{
	for (struct ndv_device *d = devices; d != NULL; d = d->next)
		if (same_address(&d->address, address))
			return d;
	return make_device(address);
}

struct ndv_device *
ndv_device_at(const struct sockaddr_storage *address)
{
	struct ndv_device *d;

	pthread_mutex_lock(&devices_lock);
	for (d = devices; d != NULL; d = d->next)
		if (same_address(&d->address, address))
			break;
	pthread_mutex_unlock(&devices_lock);
	return d;
}

struct ndv_device *
ndv_device_next(const struct ndv_device *device)
{
	struct ndv_device *next;

	pthread_mutex_lock(&devices_lock);
	next = device == NULL ? devices : device->next;
	pthread_mutex_unlock(&devices_lock);
	return next;
}

static struct ibv_device **
list_devices(const struct sockaddr_storage *addresses, uint32_t count)
{
	struct ibv_device **list = calloc(count + 1, sizeof(struct ibv_device *));

	pthread_mutex_lock(&devices_lock);
	for (uint32_t i = 0; list != NULL && i < count; i++) {
		struct ndv_device *d = device_at(&addresses[i]);

		if (d == NULL) {
			free(list);
			list = NULL;
		} else {
			list[i] = &d->base;
		}
	}
	pthread_mutex_unlock(&devices_lock);
	if (list == NULL)
		errno = ENOMEM;
	return list;
}

struct ibv_device **
ibv_get_device_list(int *num_devices)
{
	struct sockaddr_storage *addresses;
	struct ibv_device **list = NULL;
	uint32_t count;
	nd_status st = list_addresses(&addresses, &count);

	if (st == ND_SUCCESS)
		list = list_devices(addresses, count);
	else
		errno = ndv_no_daemon(st);
	if (num_devices != NULL)
		*num_devices = list != NULL ? (int)count : 0;
	free(addresses);
	return list;
}

void
ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *
ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

__be64
ibv_get_device_guid(struct ibv_device *device)
{
	return ndv_guid_of(&ndv_device(device)->address);
}

/* The kernel's number of the device; it has none. */
int
ibv_get_device_index(struct ibv_device *device)
{
	(void)device;
	return -1;
}

/* ---- sysfs, as ndd-verbs shows it ----------------------------------------------------- */

const char *
ibv_get_sysfs_path(void)
{
	const char *path = getenv("SYSFS_PATH");

	return path != NULL ? path : "/sys";
}

/* Without the line's end. */
int
ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
	char path[512];
	ssize_t n;
	int fd;

	if (*dir == 0 || size == 0 ||
		snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, buf, size);
	close(fd);
	if (n <= 0)
		return -1;
	if (buf[n - 1] == '\n')
		buf[--n] = 0;
	else if ((size_t)n < size)
		buf[n] = 0;
	else
		return -1;
	return (int)n;
}
