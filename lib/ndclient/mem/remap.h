/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages that are moved to where others are mapped. */
#ifndef ND_REMAP_H
#define ND_REMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * mremap() over what is mapped at `at`, in one step; false: nothing happened. Not by the C library:
 * programs put functions of their own in its place to hear of mappings (UCX does), and those lose
 * the fifth argument. The pages would be somewhere else then, and the call a success.
 */
static inline bool
nd_remap_over(void *from, size_t bytes, void *at)
{
	return syscall(SYS_mremap, from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) ==
	       (long)(uintptr_t)at;
}

#endif
