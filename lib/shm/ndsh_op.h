/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ABI, part 4: kinds of operations, and which rights a region may have, in one place for
 * daemon, engine and libraries.
 */
#ifndef NDSH_OP_H
#define NDSH_OP_H

#include <stdbool.h>

#include "ndsh_abi.h"

static inline bool
ndsh_op_is_atomic(uint32_t op)
{
	return op == NDSH_OP_CMP_SWAP || op == NDSH_OP_FETCH_ADD;
}

/* READ or atomic: it brings something back. */
static inline bool
ndsh_op_is_fetch(uint32_t op)
{
	return op == NDSH_OP_READ || ndsh_op_is_atomic(op);
}

/* Nothing is sent for it. */
static inline bool
ndsh_op_is_local(uint32_t op)
{
	return op == NDSH_OP_BIND || op == NDSH_OP_INVALIDATE || op == NDSH_OP_FAST_REGISTER;
}

/* A message that brings its data: it needs nothing but SGEs, address and token. */
static inline bool
ndsh_op_is_data(uint32_t op)
{
	return op < NDSH_OP_READ;
}

/* ndsh_swr.arg[] means something. */
static inline bool
ndsh_op_has_arguments(uint32_t op)
{
	return op > NDSH_OP_READ;
}

/* May a region have these rights? Peers may write only where the client itself may (W-MEM-02). */
static inline bool
ndsh_access_ok(uint32_t access)
{
	return (access & ~(uint32_t)NDSH_ACCESS_MASK) == 0 &&
	       (!(access & (NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC)) ||
		       (access & NDSH_ACCESS_LOCAL_WRITE));
}

#endif
