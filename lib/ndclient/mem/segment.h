/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments: memory that the daemon made and that is mapped here, and blocks of it. */
#ifndef ND_SEGMENT_H
#define ND_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "ndclient/mem/arena.h"

struct nd_adapter;

/* A segment of the daemon's, mapped at *base and live; to the daemon it lies at known_as, or where
 * it is mapped if that is NULL. */
bool nd_segment_create(struct nd_adapter *a, uint64_t bytes, const void *known_as, uint32_t *id,
	uint8_t **base, int *fd);
/* Get another segment of at least bytes from the daemon; arena lock held. */
/* Would the daemon give so much now? */
bool nd_segment_fits(struct nd_adapter *a, uint64_t bytes);
bool nd_segment_grow(struct nd_adapter *a, uint64_t bytes);
void nd_segment_return(struct nd_adapter *a, struct nd_segment *seg);
/* A zeroed block for rings, and where it lies. nd_free() frees it. */
void *nd_block_alloc(struct nd_adapter *a, uint64_t bytes, uint32_t *segment, uint64_t *offset);

#endif
