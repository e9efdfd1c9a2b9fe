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

static inline struct ndv_device *
ndv_device(struct ibv_device *device)
{
	return (struct ndv_device *)device;
}

#endif
