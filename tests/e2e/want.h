/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs of NetworkDirect's and NDK's interfaces ask for, in C and in C++. */
#ifndef WANT_H
#define WANT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);             \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)
/* A status, which is shown if it is another. */
#define WANT(expected, call)                                                                       \
	do {                                                                                       \
		const int32_t wanted = (int32_t)(expected), got = (int32_t)(call);                 \
		if (got != wanted) {                                                               \
			printf("%s:%d: %s: %#x, not %#x\n", __FILE__, __LINE__, #call,             \
				(unsigned)got, (unsigned)wanted);                                  \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#endif
