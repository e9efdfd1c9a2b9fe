/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fast-register regions on the two engines of windows.h: side 1 owns them, side 0 is the peer. The
 * owner's shared memory is two extents, whose order in the client is not that in the host.
 */
#ifndef FAST_H
#define FAST_H

#include "rigs/windows.h"

#define FAST_PAGE   NDSH_PAGE_BYTES
#define FAST_VA	    UINT64_C(0x7e0000000000)
#define FAST_EXTENT (1u << 20)
#define FAST_PAGES  16u
#define FAST_BASE   (PAIR_VA + WINDOW_AT) /* a number: nothing of the client's has this address */
#define FAST_LOCAL  NDSH_ACCESS_LOCAL_WRITE

struct fast {
	struct roce_mr *mr;
	void *mem;
	uint64_t lists[NDSH_FRMR_LISTS][FAST_PAGES];
	struct roce_extent extent[2];
	struct roce_arena arena;
	uint32_t slot, generation, token, local;
	uint64_t secret;
	uint32_t offset; /* of the first byte in the first page, for the next registration */
};

struct fast *fast_new(struct pair *p, bool remote);
void fast_free(struct pair *p, struct fast *f);
/* Pages of both extents, none behind the one before it. */
void fast_fill_list(struct fast *f, uint32_t list);
/* Post a registration of bytes in pages of a list; base: FAST_BASE + f->offset. */
void fast_register(struct pair *p, unsigned i, uint64_t context, struct fast *f, uint32_t list,
	uint32_t pages, uint32_t bytes, uint32_t access);
/* Where byte at of the registration with that list lies. */
uint8_t *fast_byte(struct pair *p, const struct fast *f, uint32_t list, uint32_t at);
/* Registered, with all pages of list 0 and these rights. */
struct fast *fast_ready(struct pair *p, uint32_t access);

#endif
