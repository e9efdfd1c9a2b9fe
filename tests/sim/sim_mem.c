/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roce/mem/mr.h"
#include "sim.h"

/* Requests name no byte of moved memory by its address; words are words in both. */
#define IOVA_OFFSET (UINT64_C(0x5eed0008) << 16)

#define LINE 64u

struct sim_block { /* in front of each allocation, one cache line */
	struct sim_block *next;
	void *allocated; /* it, and what comes before for its alignment */
	uint8_t reserved[LINE - 2 * sizeof(void *)];
};

/* Zeroed and 64-byte aligned; lives as long as the world. */
void *
sim_alloc(struct sim_world *w, size_t bytes)
{
	/* Of most of it nothing is ever touched; what the kernel gives is zeroed by page. */
	uint8_t *p = calloc(1, LINE + sizeof(struct sim_block) + bytes);
	struct sim_block *b = (void *)(p + (LINE - (uintptr_t)p % LINE));

	if (p == NULL)
		abort();
	b->allocated = p;
	b->next = w->blocks;
	w->blocks = b;
	return b + 1;
}

void
sim_free_all(struct sim_world *w)
{
	while (w->blocks != NULL) {
		struct sim_block *b = w->blocks;

		w->blocks = b->next;
		free(b->allocated);
	}
}

static void
fill(struct sim_world *w, uint8_t *p, uint32_t bytes)
{
	uint64_t first = sim_unique(w);

	for (uint32_t i = 0; i < bytes; i += 8) {
		uint64_t r = sim_mix(first + i);

		memcpy(p + i, &r, bytes - i < 8 ? bytes - i : 8);
	}
}

uint8_t *
sim_random_bytes(struct sim_world *w, uint32_t bytes)
{
	uint8_t *p = sim_alloc(w, bytes + 1);

	fill(w, p, bytes);
	return p;
}

void
sim_arena_init(struct sim_client *c, struct sim_arena *a, uint32_t slot_bytes, uint32_t access,
	const char *fmt, ...)
{
	struct sim_world *w = c->w;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(a->name, sizeof(a->name), fmt, ap);
	va_end(ap);
	a->slot_bytes = slot_bytes;
	a->bytes = slot_bytes * SIM_SLOTS;
	a->client = c;
	a->moved = c->mover.engine != NULL && sim_chance(w, c->mover.share);
	a->mem = a->moved ? sim_mover_alloc(w, a->bytes) : sim_alloc(w, a->bytes);
	a->shadow = sim_alloc(w, a->bytes);
	if (a->moved) /* another world's before */
		memset(a->mem, 0, a->bytes);
	if (access & NDSH_ACCESS_REMOTE_READ) { /* also where nothing was written */
		fill(w, a->mem, a->bytes);
		memcpy(a->shadow, a->mem, a->bytes);
	}
	if (a->moved) {
		a->va = (uintptr_t)a->mem + IOVA_OFFSET;
		a->mr = roce_mr_register_moved(
			c->shard->s, c->pd, a->va, a->bytes, c->mover.engine, access);
		if (a->mr != NULL)
			a->mr->at = (uintptr_t)a->mem;
	} else {
		/* Not the host's pointer: replays see the same, and the engine both kinds. A
		 * word is one to both. */
		a->va = w->next_va + 8 * sim_below(w, 4096 / 8);
		w->next_va += (a->bytes + 0xffffu + 4096) & ~UINT64_C(0xffff);
		a->mr = roce_mr_register(c->shard->s, c->pd, a->va, a->bytes, a->mem, access);
	}
	sim_check(w, a->mr != NULL, "no region left");
	a->key = roce_mr_key(a->mr);
}

int
sim_arena_slot(struct sim_world *w, const struct sim_arena *a)
{
	unsigned first = (unsigned)sim_below(w, SIM_SLOTS);

	for (unsigned i = 0; i < SIM_SLOTS; i++)
		if (a->users[(first + i) % SIM_SLOTS] == 0)
			return (int)((first + i) % SIM_SLOTS);
	return -1;
}

uint64_t
sim_arena_va(const struct sim_arena *a, uint64_t address)
{
	return a->va + (address - (uintptr_t)a->mem);
}

uint32_t
sim_arena_offset(const struct sim_arena *a, uint64_t va)
{
	return (uint32_t)(va - a->va);
}

void
sim_arena_check(struct sim_world *w, const struct sim_arena *a)
{
	if (a->mem == NULL)
		return;
	sim_mover_finish(a->client);
	if (a->mr == NULL && roce_crc32(0, a->mem, a->bytes) != a->frozen)
		sim_fail(w, "%s changed after it was deregistered", a->name);
	for (unsigned s = 0; s < SIM_SLOTS; s++) {
		uint32_t at = s * a->slot_bytes;

		if (a->undefined[s] || memcmp(a->mem + at, a->shadow + at, a->slot_bytes) == 0)
			continue;
		while (a->mem[at] == a->shadow[at])
			at++;
		sim_fail(w, "%s: byte %u of slot %u is %02x, not %02x", a->name,
			at - s * a->slot_bytes, s, a->mem[at], a->shadow[at]);
	}
}

void
sim_arena_deregister(struct sim_client *c, struct sim_arena *a)
{
	if (a->mr == NULL)
		return;
	sim_check(c->w, roce_mr_deregister(c->shard->s, a->mr), "%s is busy", a->name);
	a->mr = NULL;
	sim_mover_finish(c);
	a->frozen = roce_crc32(0, a->mem, a->bytes);
}

unsigned
sim_sges(struct sim_world *w, const struct sim_arena *a, unsigned slot, uint32_t bytes,
	unsigned max, struct ndsh_sge *sge)
{
	unsigned n = sim_chance(w, 5000) ? 1 : 1 + (unsigned)sim_below(w, max);
	uint32_t slack = a->slot_bytes - bytes;
	uint64_t va = a->va + (uint64_t)slot * a->slot_bytes + sim_below(w, slack + 1);
	uint32_t left = bytes;

	if (bytes == 0 && sim_chance(w, 5000))
		return 0;
	for (unsigned i = 0; i < n; i++) {
		uint32_t len = i == n - 1 ? left : (uint32_t)sim_below(w, left + 1);

		sge[i] = (struct ndsh_sge){.addr = va, .len = len, .key = a->key};
		va += len;
		left -= len;
	}
	for (unsigned i = n - 1; i > 0; i--) {
		unsigned j = (unsigned)sim_below(w, i + 1);
		struct ndsh_sge t = sge[i];

		sge[i] = sge[j];
		sge[j] = t;
	}
	return n;
}

void
sim_gather(const struct sim_arena *a, const uint8_t *base, const struct ndsh_sge *sge, unsigned n,
	uint8_t *out, uint32_t bytes)
{
	for (unsigned i = 0; i < n && bytes > 0; i++) {
		uint32_t len = sge[i].len < bytes ? sge[i].len : bytes;

		memcpy(out, base + sim_arena_offset(a, sge[i].addr), len);
		out += len;
		bytes -= len;
	}
}

void
sim_scatter(const struct sim_arena *a, uint8_t *base, const struct ndsh_sge *sge, unsigned n,
	const uint8_t *data, uint32_t bytes)
{
	for (unsigned i = 0; i < n && bytes > 0; i++) {
		uint32_t len = sge[i].len < bytes ? sge[i].len : bytes;

		memcpy(base + sim_arena_offset(a, sge[i].addr), data, len);
		data += len;
		bytes -= len;
	}
}
