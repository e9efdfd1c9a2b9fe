/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access to words that another process reads or writes. Relaxed atomics compile to
 * plain moves, but the compiler may neither repeat nor invent them: a byte that the
 * client can change is read exactly once.
 */
#ifndef NDSH_SHARED_H
#define NDSH_SHARED_H

#include <stdint.h>

#include "ndsh_abi.h"

/* Shared memory has no declared type; structures of it are also moved by the word. */
typedef uint64_t __attribute__((may_alias)) ndsh_word64;
typedef uint32_t __attribute__((may_alias)) ndsh_word32;

static inline uint64_t
ndsh_load64(const void *p)
{
	return __atomic_load_n((const ndsh_word64 *)p, __ATOMIC_RELAXED);
}

static inline uint32_t
ndsh_load32(const void *p)
{
	return __atomic_load_n((const ndsh_word32 *)p, __ATOMIC_RELAXED);
}

static inline uint32_t
ndsh_load32_acquire(const void *p)
{
	return __atomic_load_n((const ndsh_word32 *)p, __ATOMIC_ACQUIRE);
}

static inline void
ndsh_store64(void *p, uint64_t v)
{
	__atomic_store_n((ndsh_word64 *)p, v, __ATOMIC_RELAXED);
}

static inline void
ndsh_store32(void *p, uint32_t v)
{
	__atomic_store_n((ndsh_word32 *)p, v, __ATOMIC_RELAXED);
}

static inline void
ndsh_store32_release(void *p, uint32_t v)
{
	__atomic_store_n((ndsh_word32 *)p, v, __ATOMIC_RELEASE);
}

/* Copy words of 8 bytes, aligned on both sides, out of shared memory, each once. */
static inline void
ndsh_copy_in(void *private, const void *shared, uint32_t words)
{
	ndsh_word64 *to = private;
	const ndsh_word64 *from = shared;

	for (uint32_t i = 0; i < words; i++)
		to[i] = ndsh_load64(&from[i]);
}

/* One entry of a scatter/gather list, each byte once; returns its length. */
static inline uint32_t
ndsh_sge_in(struct ndsh_sge *private, const struct ndsh_sge *shared)
{
	private->addr = ndsh_load64(&shared->addr);
	private->len = ndsh_load32(&shared->len);
	private->key = ndsh_load32(&shared->key);
	return private->len;
}

/* Such words into shared memory. */
static inline void
ndsh_copy_out(void *shared, const void *private, uint32_t words)
{
	ndsh_word64 *to = shared;
	const ndsh_word64 *from = private;

	for (uint32_t i = 0; i < words; i++)
		ndsh_store64(&to[i], from[i]);
}

/* The phase that the slot of running index i has once it is filled: 1 in the first pass over a
 * ring of depth entries (a power of two), 0 in the second, and so on. */
static inline uint32_t
ndsh_phase(uint64_t i, uint32_t depth)
{
	return (i & depth) == 0;
}

#endif
