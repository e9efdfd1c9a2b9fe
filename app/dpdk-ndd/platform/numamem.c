/* SPDX-License-Identifier: BSD-3-Clause */
#include <numa.h>
#include <numaif.h>
#include <sys/mman.h>

#include "platform/numamem.h"

#define NODES_MAX      1024u /* of Linux */
#define NODES_PER_WORD (8u * sizeof(unsigned long))

static int
numa_usable(void)
{
	return numa_available() >= 0 && numa_num_configured_nodes() > 1;
}

/* Not by numa_tonode_memory(): without memory for its mask, that ends the process. */
void
ndd_numa_prefer(void *mem, size_t bytes, int node)
{
	unsigned long mask[NODES_MAX / NODES_PER_WORD] = {0};

	if (node < 0 || node >= (int)NODES_MAX || !numa_usable())
		return;
	mask[(unsigned)node / NODES_PER_WORD] = 1ul << (unsigned)node % NODES_PER_WORD;
	(void)mbind(mem, bytes, MPOL_PREFERRED, mask, NODES_MAX, 0);
}

void *
ndd_numa_alloc(size_t bytes, int node)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		return NULL;
	ndd_numa_prefer(mem, bytes, node);
	/* Tables are looked up at random: fewer TLB misses where the kernel gives huge pages. */
	(void)madvise(mem, bytes, MADV_HUGEPAGE);
	return mem;
}

void
ndd_numa_free(void *mem, size_t bytes)
{
	if (mem != NULL)
		munmap(mem, bytes);
}

int
ndd_numa_of_cpu(unsigned cpu)
{
	return numa_available() < 0 ? -1 : numa_node_of_cpu((int)cpu);
}
