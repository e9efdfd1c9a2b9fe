/* SPDX-License-Identifier: BSD-3-Clause */
/* A registered buffer for messages, in the memory that --memory chooses. */
#ifndef NDPERF_BUFFER_H
#define NDPERF_BUFFER_H

#include <stdint.h>

#include <ndclient.h>

#include "options.h"

struct buffer {
	struct nd_adapter *adapter;
	enum ndperf_memory from;
	uint8_t *mem;
	struct nd_mr *mr;
};

/* flags: ND_MR_FLAG_... of the registration. After a failure the caller calls buffer_destroy(). */
nd_status buffer_create(struct buffer *b, struct nd_adapter *adapter, struct nd_pd *pd,
	enum ndperf_memory from, uint64_t bytes, uint32_t flags);
/* b may be all zeros. */
void buffer_destroy(struct buffer *b);

#endif
