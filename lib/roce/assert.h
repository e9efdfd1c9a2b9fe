/* SPDX-License-Identifier: BSD-3-Clause */
/* Assertions of the engine. */
#ifndef ROCE_ASSERT_H
#define ROCE_ASSERT_H

#include "base/compiler.h"

/* For what memory safety depends on: if x is false the process stops, in release builds too. */
#define roce_assert(x)                                                                             \
	do {                                                                                       \
		if (base_unlikely(!(x)))                                                           \
			__builtin_trap();                                                          \
	} while (0)

#endif
