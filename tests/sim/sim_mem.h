/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the world. */
#ifndef SIM_MEM_H
#define SIM_MEM_H

#include "sim_types.h"

/* Registered memory of a client, in slots that one request uses at a time. */
struct sim_arena {
	char name[32];
	struct sim_client *client;
	bool moved;	       /* only the client's mover reaches it */
	uint8_t *mem, *shadow; /* shadow: what mem holds when all that was posted is done */
	uint64_t va;	       /* by which requests name it; of moved memory it is none of mem's */
	uint32_t slot_bytes, bytes;
	uint16_t users[SIM_SLOTS];   /* requests in flight that touch the slot */
	uint16_t readers[SIM_SLOTS]; /* READs among them */
	bool undefined[SIM_SLOTS];   /* a request on it failed half way */
	struct roce_mr *mr;
	uint32_t key;
	uint32_t frozen; /* checksum of what it held when it was deregistered */
};
void *sim_alloc(struct sim_world *w, size_t bytes);
uint8_t *sim_random_bytes(struct sim_world *w, uint32_t bytes);
void sim_free_all(struct sim_world *w);
void sim_arena_init(struct sim_client *c, struct sim_arena *a, uint32_t slot_bytes, uint32_t access,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* A free slot, or -1. */
int sim_arena_slot(struct sim_world *w, const struct sim_arena *a);
/* What requests name the client's own address by. */
uint64_t sim_arena_va(const struct sim_arena *a, uint64_t address);
uint32_t sim_arena_offset(const struct sim_arena *a, uint64_t va);
/* Everything outside undefined slots is as it must be. */
void sim_arena_check(struct sim_world *w, const struct sim_arena *a);
void sim_arena_deregister(struct sim_client *c, struct sim_arena *a);
/* Cut bytes of slot into a list of at most max entries, permuted; returns their number. */
unsigned sim_sges(struct sim_world *w, const struct sim_arena *a, unsigned slot, uint32_t bytes,
	unsigned max, struct ndsh_sge *sge);
void sim_gather(const struct sim_arena *a, const uint8_t *base, const struct ndsh_sge *sge,
	unsigned n, uint8_t *out, uint32_t bytes);
void sim_scatter(const struct sim_arena *a, uint8_t *base, const struct ndsh_sge *sge, unsigned n,
	const uint8_t *data, uint32_t bytes);

#endif
