/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports of memif, described by the arguments that DPDK's driver of that name takes; they are the
 * daemon's own (drivers/memif). */
#ifndef NDD_MEMIF_VDEV_H
#define NDD_MEMIF_VDEV_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "memif/memif.h"

bool ndd_memif_is(const char *vdev);
/* What vdev says, with the whole path of the socket, whose directory is made if need be, for this
 * user alone. An abstract socket is a warning. NULL, or what is wrong with it, in why. */
const char *ndd_memif_read(const char *vdev, struct memif_cfg *cfg, char *why, size_t why_bytes);
/* Can all memifs of this configuration be read? Else err has a line for each that can't, with the
 * name of the configuration's file. */
bool ndd_memif_check(const struct config *cfg, const char *file, char *err, size_t err_bytes);

#endif
