/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of moved memory, as posts see them. */
#ifndef ND_MOVED_H
#define ND_MOVED_H

#include <stdbool.h>
#include <stdint.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_ring.h"

#define ND_MOVED 256u /* of an adapter */

struct nd_moved {	/* all atomic */
	uint32_t token; /* 0: none */
	uint32_t pd;
	uintptr_t va;
	uint64_t iova_offset;
	uint64_t bytes;
};

/* Posts find the region; no longer. nd_admin.lock held. */
void nd_moved_add(const struct nd_mr *mr);
void nd_moved_remove(const struct nd_mr *mr);
#define ND_MOVED_NOT UINT32_MAX
/* How many bytes has the request, if they are from moved memory as a whole, at most ND_COPY_MAX and
 * may be copied at the post? how: NDSH_WRF_*. Otherwise ND_MOVED_NOT. places, of n: where the bytes
 * of each SGE lie, which may name them by an iova. */
uint32_t nd_moved_bytes(const struct nd_qp *qp, enum ndsh_op op, const struct nd_sge *sge,
	uint32_t n, uint32_t how, struct nd_sge *places);

#endif
