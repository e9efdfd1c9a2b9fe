/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The edge of shared memory. A test includes this header, then the .c files it wants to look at:
 * each of their atomic accesses is noted, and right behind each the other side may act, once for
 * all moments at which it could. So a test sees in which order words go over the edge, how often,
 * and what is there at the moment when one is seen.
 */
#ifndef EDGE_H
#define EDGE_H

#include <stddef.h>
#include <stdint.h>

enum edge_kind { EDGE_LOAD, EDGE_STORE, EDGE_LOCKED };
struct edge_access {
	enum edge_kind kind;
	const volatile void *p; /* NULL: a barrier without a word */
	size_t bytes;
	int order; /* __ATOMIC_* */
};
/* The other side; its own accesses are not noted. */
typedef void edge_other(const struct edge_access *a, void *ctx);

#define EDGE_MAX 512u
extern struct edge {
	struct edge_access seen[EDGE_MAX];
	unsigned count;
	edge_other *other; /* NULL: it does nothing */
	void *ctx;
} edge;

/* From now on: nothing is noted yet, and the other side is this. */
void edge_begin(edge_other *other, void *ctx);
/* How many accesses of this kind there were to the word at p. */
unsigned edge_count(enum edge_kind kind, const volatile void *p);
/* Of this kind to any of these bytes. */
unsigned edge_count_in(enum edge_kind kind, const volatile void *p, size_t bytes);

uint64_t edge_load(const volatile void *p, size_t bytes, int order);
void edge_store(volatile void *p, uint64_t v, size_t bytes, int order);
uint64_t edge_exchange(volatile void *p, uint64_t v, size_t bytes);
uint64_t edge_or(volatile void *p, uint64_t v, size_t bytes);
void edge_fence(int order);

#define __atomic_load_n(p, order)     ((__typeof__(*(p)))edge_load(p, sizeof(*(p)), order))
#define __atomic_store_n(p, v, order) edge_store(p, (uint64_t)(v), sizeof(*(p)), order)
#define __atomic_exchange_n(p, v, order)                                                           \
	((__typeof__(*(p)))edge_exchange(p, (uint64_t)(v), sizeof(*(p))))
#define __atomic_fetch_or(p, v, order) ((__typeof__(*(p)))edge_or(p, (uint64_t)(v), sizeof(*(p))))
#define __atomic_thread_fence(order)   edge_fence(order)

#endif
