/* SPDX-License-Identifier: BSD-3-Clause */
#include <numa.h>
#include <sys/mman.h>

#include "platform/numamem.h"

static int
numa_usable(void)
{
	return numa_available() >= 0 && numa_num_configured_nodes() > 1;
}

void
ndd_numa_prefer(void *mem, size_t bytes, int node)
{
	if (node >= 0 && numa_usable())
		numa_tonode_memory(mem, bytes, node);
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
