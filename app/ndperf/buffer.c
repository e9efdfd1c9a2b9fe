/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer.h"

#include <stdlib.h>

#include "common/fail.h"

/* --memory adopted must not fall back silently to memory that is moved: the figures would be those
 * of another case than the user asked for. */
static nd_status
buffer_check_adopted(struct nd_adapter *adapter)
{
	struct nd_adoption now;
	nd_status st = nd_adoption(adapter, &now);

	if (st != ND_SUCCESS || now.ranges > 0)
		return st;
	app_complain("this system, or the daemon, does not let memory be adopted: use "
		     "--memory heap");
	return ND_NOT_SUPPORTED;
}

nd_status
buffer_create(struct buffer *b, struct nd_adapter *adapter, struct nd_pd *pd,
	enum ndperf_memory from, uint64_t bytes, uint32_t flags)
{
	bool adopt = from == NDPERF_MEMORY_ADOPTED;
	uint32_t more = adopt			     ? ND_MR_FLAG_ADOPT
			: from == NDPERF_MEMORY_HEAP ? ND_MR_FLAG_DO_NOT_ADOPT
						     : 0;
	nd_status st;

	b->adapter = adapter;
	b->from = from;
	if (adopt && bytes < ND_ADOPT_BYTES_MIN)
		bytes = ND_ADOPT_BYTES_MIN;
	b->mem = from == NDPERF_MEMORY_ARENA ? nd_alloc(adapter, bytes) : calloc(1, bytes);
	if (b->mem == NULL)
		return ND_NO_MEMORY;
	st = nd_mr_create(pd, &b->mr);
	if (st == ND_SUCCESS)
		st = nd_mr_register(b->mr, b->mem, bytes, flags | more, NULL);
	return st == ND_SUCCESS && adopt ? buffer_check_adopted(adapter) : st;
}

void
buffer_destroy(struct buffer *b)
{
	if (b->mr != NULL)
		nd_mr_close(b->mr);
	if (b->from != NDPERF_MEMORY_ARENA)
		free(b->mem);
	else if (b->mem != NULL)
		nd_free(b->adapter, b->mem);
}
