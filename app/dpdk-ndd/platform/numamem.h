/* SPDX-License-Identifier: BSD-3-Clause */
/* Zeroed memory on a NUMA node; on machines without NUMA any memory. */
#ifndef NDD_NUMAMEM_H
#define NDD_NUMAMEM_H

#include <stddef.h>

/* Page aligned; node < 0: any. NULL: none left. */
void *ndd_numa_alloc(size_t bytes, int node);
void ndd_numa_free(void *mem, size_t bytes);
/* Pages of [mem, mem+bytes) not touched yet shall come from node; for shared mappings too. */
void ndd_numa_prefer(void *mem, size_t bytes, int node);
/* Node of a CPU; -1 if unknown. */
int ndd_numa_of_cpu(unsigned cpu);

#endif
