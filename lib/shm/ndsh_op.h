/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ABI, part 4: kinds of operations, for both sides.
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

#endif
