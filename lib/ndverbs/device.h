/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices: one for each address of the daemon. */
#ifndef NDV_DEVICE_H
#define NDV_DEVICE_H

#include <infiniband/verbs.h>
#include <sys/socket.h>

/* Lives as long as the process: programs and librdmacm compare pointers to devices. */
struct ndv_device {
	struct ibv_device base;
	struct sockaddr_storage address;
	struct ndv_device *next;
};

/* The device with this address, whatever its port; NULL: none. */
struct ndv_device *ndv_device_at(const struct sockaddr_storage *address);
/* One after the other, of all that were ever listed; NULL: the first, and at the end. */
struct ndv_device *ndv_device_next(const struct ndv_device *device);

static inline struct ndv_device *
ndv_device(struct ibv_device *device)
{
	return (struct ndv_device *)device;
}

#endif
