/* SPDX-License-Identifier: BSD-3-Clause */
/* DPDK on one lcore, without huge pages, files or devices that are not asked for. */
#ifndef EAL_RIG_H
#define EAL_RIG_H

#include <rte_mbuf.h>

/* vdev: a device, or NULL. Once in a process. */
void eal_rig_start(const char *vdev);
/* So many mbufs, each with room for a frame. */
struct rte_mempool *eal_rig_pool(unsigned mbufs);

#endif
