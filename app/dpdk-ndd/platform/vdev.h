/* SPDX-License-Identifier: BSD-3-Clause */
/* What DPDK's virtual devices need from their host beyond an ethdev's life. */
#ifndef NDD_VDEV_H
#define NDD_VDEV_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"

/* The value of a device's argument, in out; false: it has none, or too long a one. */
bool ndd_vdev_argument(const char *vdev, const char *key, char *out, size_t bytes);
/* The vdev of that device among cfg's; "" if there is none. */
const char *ndd_vdev_of(const struct config *cfg, const char *device);
/* Before EAL: a server's socket that a killed daemon left behind would refuse the new one. */
void ndd_vdev_remove_stale(const struct config *cfg);

#endif
