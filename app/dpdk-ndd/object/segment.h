/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory of a session. */
#ifndef NDD_SEGMENT_H
#define NDD_SEGMENT_H

#include <stdint.h>

#include "object/mapping.h"
#include "object/memory.h"
#include "session/reply.h"

struct ndd;

enum ndd_segment_state {
	NDD_SEGMENT_MADE,    /* the client has it */
	NDD_SEGMENT_MAPPING, /* the session's worker maps it */
	NDD_SEGMENT_LIVE,
	NDD_SEGMENT_REFUSED, /* it can only be destroyed */
	NDD_SEGMENT_GOING,   /* the session's worker unmaps it */
};

struct ndd_segment {
	struct ndd_mapping map;
	struct ndd_memory memory; /* as it is counted */
	enum ndd_segment_state state;
	uint32_t id;
	uint32_t users;	 /* queue pairs and CQs that lie in it; regions the lcore counts */
	uint64_t cookie; /* of the request that is under way */
	struct ndd *daemon;
	struct ndd_session *session; /* NULL: it has ended */
	uint64_t client_va;
	uintptr_t lost_low,
		lost_high; /* pages that were missing when its completion queue failed */
};

ndd_handler ndd_segment_mapped, ndd_segment_destroy;
/* Pointer to [offset, offset+bytes) of a live segment, 64-byte aligned; NULL: it isn't so. */
void *ndd_segment_block(struct ndd_session *s, uint32_t id, uint64_t offset, uint64_t bytes,
	struct ndd_segment **seg);

#endif
