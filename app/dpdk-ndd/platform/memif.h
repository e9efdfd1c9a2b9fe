/* SPDX-License-Identifier: BSD-3-Clause */
/* The socket of a memif: a process that can connect to it is the daemon's peer, and trusted
 * (doc/ports.md). */
#ifndef NDD_MEMIF_H
#define NDD_MEMIF_H

#include <stdbool.h>
#include <stddef.h>

bool ndd_memif_is(const char *vdev);
/* The vdev as DPDK's driver takes it: with the whole path of the socket, whose directory is made if
 * need be, for this user alone. An abstract socket is a warning. False, after a log line: the path
 * is too long. */
bool ndd_memif_vdev(const char *vdev, char *out, size_t bytes);

#endif
