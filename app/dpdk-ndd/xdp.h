/* SPDX-License-Identifier: BSD-3-Clause */
/* What DPDK's AF_XDP driver must be told about the interface that it is given. */
#ifndef NDD_XDP_H
#define NDD_XDP_H

#include <stdbool.h>
#include <stddef.h>

bool ndd_xdp_is(const char *vdev);
/*
 * The device with all of its arguments, in out: without queue_count the driver would take one of
 * the interface's queues and leave to the kernel what arrives at the others. False: it was said why
 * not.
 */
bool ndd_xdp_vdev(const char *vdev, char *out, size_t bytes);

#endif
