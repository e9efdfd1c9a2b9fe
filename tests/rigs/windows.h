/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory windows on the two engines of engine_pair.h: side 1 owns them, side 0 is the peer that
 * comes through them.
 */
#ifndef WINDOWS_H
#define WINDOWS_H

#include "rigs/engine_pair.h"

#define WINDOW_MTU   1024u
#define WINDOW_READ  NDSH_ACCESS_REMOTE_READ
#define WINDOW_WRITE NDSH_ACCESS_REMOTE_WRITE
#define WINDOW_RW    (WINDOW_READ | WINDOW_WRITE)
#define WINDOW_AT    65536u /* where windows begin, unless a test says otherwise */
#define WINDOW_BYTES 4096u

/* A client's view of a window of side 1. */
struct window {
	struct roce_mr *mw;
	uint32_t type; /* enum ndsh_mw_type */
	uint32_t slot, generation, token;
	uint64_t secret;
};

/* Two queue pairs, a region that grants the peer nothing (R-MW-04). */
struct pair *window_pair(void);
struct window window_new(struct pair *p);
/* The same with a region that windows of all types may be bound to; and of another type than
 * DERIVED: each bind has the token of the last one, whose chosen bits count up. */
struct pair *window_keyed_pair(void);
struct window window_new_keyed(struct pair *p, uint32_t type);
void window_free(struct pair *p, struct window *v);
/* The end of a test: the window may go bound, before its queue pair. */
void window_pair_free(struct pair *p, struct window *v);
void window_bind_at(struct pair *p, unsigned i, uint64_t context, struct window *v, uint32_t region,
	uint32_t at, uint64_t bytes, uint32_t access, uint32_t flags);
void window_bind(struct pair *p, unsigned i, uint64_t context, struct window *v, uint32_t access);
void window_invalidate(
	struct pair *p, unsigned i, uint64_t context, uint32_t token, uint32_t flags);
/* The peer comes through a token; the data are at the same offset on its side. */
void window_use(struct pair *p, unsigned i, uint64_t context, uint8_t op, uint32_t token,
	uint32_t at, uint32_t bytes);
void window_send_inv(struct pair *p, unsigned i, uint64_t context, uint32_t bytes, uint32_t token,
	uint32_t flags);
/* Whatever the peer tries through queue pair i, it is refused, and the queue pair dies of it. */
void window_expect_closed(
	struct pair *p, unsigned i, uint8_t op, uint32_t token, uint32_t at, uint32_t bytes);

#endif
