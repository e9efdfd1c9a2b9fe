/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory of a session. */
#ifndef NDD_SEGMENT_H
#define NDD_SEGMENT_H

#include <stdint.h>

#include "session/reply.h"

struct ndd_segment {
	uint32_t id;
	uint32_t users; /* queue pairs and CQs that lie in it; regions the lcore counts */
	int fd;
	bool live;
	uint8_t *host; /* mapping of the daemon, once live */
	uint64_t client_va, bytes;
	uintptr_t lost_low,
		lost_high; /* pages that were missing when its completion queue failed */
};

ndd_handler ndd_segment_mapped;
/* Pointer to [offset, offset+bytes) of a live segment, 64-byte aligned; NULL: it isn't so. */
void *ndd_segment_block(struct ndd_session *s, uint32_t id, uint64_t offset, uint64_t bytes,
	struct ndd_segment **seg);

#endif
