/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies from and to memory that may have gone: the application's, which it may unmap any time. */
#ifndef ND_COPIER_H
#define ND_COPIER_H

#include <stdbool.h>
#include <sys/types.h>

#include "shm/ndsh_mover.h"

#define ND_COPIER_PACKED                                                                           \
	1024u /* bytes of a command, at most, that are copied with those of others */

struct nd_copier {
	pid_t self;
	bool by_pipe; /* process_vm_readv() is not to be had */
	int pipe[2];
	uint32_t npacked;
	uint8_t packed[NDSH_MOVER_BATCH * ND_COPIER_PACKED];
};

void nd_copier_init(struct nd_copier *c);
void nd_copier_fini(struct nd_copier *c);
/* A ndsh_mover_copy; ctx: struct nd_copier. One thread at a time. */
uint32_t nd_copier_run(
	void *ctx, const struct ndsh_mover *m, const struct ndsh_cqe *commands, uint32_t n);

#endif
