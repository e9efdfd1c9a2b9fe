/* SPDX-License-Identifier: BSD-3-Clause */
/* The blocks of memory that have logical addresses. */
#ifndef NDK_BLOCKS_H
#define NDK_BLOCKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ndk_block {
	uintptr_t at;
	size_t bytes;
};

struct ndk_blocks {
	pthread_mutex_t lock;
	struct ndk_block *v; /* sorted; the rest is guarded by lock */
	size_t count, room;
};

void ndk_blocks_init(struct ndk_blocks *b);
void ndk_blocks_fini(struct ndk_blocks *b);
/* False: no memory. */
bool ndk_blocks_add(struct ndk_blocks *b, const void *at, size_t bytes);
/* The block that begins there. */
void ndk_blocks_remove(struct ndk_blocks *b, const void *at);
/* Does [at, at+bytes) lie in one block? */
bool ndk_blocks_have(struct ndk_blocks *b, uintptr_t at, size_t bytes);
/* Has any block one of [at, at+bytes), which are 1 or more? */
bool ndk_blocks_meet(struct ndk_blocks *b, uintptr_t at, size_t bytes);

#endif
