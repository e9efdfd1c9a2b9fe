/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that begins and ends with a cache line, all zero; free() gives it back. */
#ifndef ZEROED_H
#define ZEROED_H

#include <stdlib.h>
#include <string.h>

static inline void *
zeroed(size_t bytes)
{
	size_t round = (bytes + 63) & ~(size_t)63;
	void *mem = aligned_alloc(64, round);

	if (mem == NULL)
		abort();
	return memset(mem, 0, round);
}

#endif
