/* SPDX-License-Identifier: BSD-3-Clause */
/* DPDK's environment, from our configuration. */
#ifndef NDD_EAL_H
#define NDD_EAL_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"

/* EAL's lcore 0 is the control thread; shard i runs on lcore NDD_LCORE_OF_SHARD(i). */
#define NDD_LCORE_OF_CONTROL  0u
#define NDD_LCORE_OF_SHARD(i) ((i) + 1u)

bool ndd_eal_init(const struct config *cfg, int verbose);
/* The CPU that an lcore is bound to. What DPDK says of an lcore's CPU and node is true of lcores
 * that have their CPU's number, which these have not. */
unsigned ndd_lcore_cpu(unsigned lcore);
/* All that it may run on, of the first group of 64 that has some: CPU 64 * *group + k for bit k. */
uint64_t ndd_lcore_cpus(unsigned lcore, uint32_t *group);

#endif
