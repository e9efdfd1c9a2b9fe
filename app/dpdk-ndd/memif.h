/* SPDX-License-Identifier: BSD-3-Clause */
/* What DPDK's memif device needs from its host beyond an ethdev's life. */
#ifndef NDD_MEMIF_H
#define NDD_MEMIF_H

#include <stdbool.h>

#include "config/config.h"

/* A memif client: the driver tries to connect once, when started, and never again. */
bool ndd_memif_is_client(const struct config *cfg, const char *device);
/* Before EAL: a server's socket that a killed daemon left behind would refuse the new one. */
void ndd_memif_remove_stale(const struct config *cfg);

#endif
