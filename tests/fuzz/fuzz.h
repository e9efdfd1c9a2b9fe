/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all fuzzers have in common. A fuzzer is one function that is given bytes, libFuzzer's or
 * those of a file of inputs (replay.c), and takes them for a sequence of decisions. Each begins
 * anew: what one input has done is over before the next one.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libFuzzer's name for it. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Before the first input. */
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

/* What is left of an input. */
struct fuzz_in {
	const uint8_t *at, *end;
};

static inline size_t
fuzz_left(const struct fuzz_in *in)
{
	return (size_t)(in->end - in->at);
}

/* The next bytes as a number; those that are missing are 0. */
static inline uint64_t
fuzz_take(struct fuzz_in *in, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes && in->at < in->end; i++)
		v |= (uint64_t)*in->at++ << 8 * i;
	return v;
}

/* One of n, which is at most 256. */
static inline unsigned
fuzz_below(struct fuzz_in *in, unsigned n)
{
	return (unsigned)fuzz_take(in, 1) % n;
}

/* Up to 255 << (least + n - 1): a time of any order. Values are taken one by one, since compilers
 * differ in which operand of an expression comes first. */
static inline uint64_t
fuzz_time(struct fuzz_in *in, unsigned least, unsigned n)
{
	uint64_t v = fuzz_take(in, 1);

	return v << (least + fuzz_below(in, n));
}

/* The input has found something: what must always hold does not. */
#define fuzz_need(ok, ...)                                                                         \
	do {                                                                                       \
		if (ok)                                                                            \
			break;                                                                     \
		fprintf(stderr, "%s:%d: " #ok ": ", __FILE__, __LINE__);                           \
		fprintf(stderr, __VA_ARGS__);                                                      \
		fputc('\n', stderr);                                                               \
		abort();                                                                           \
	} while (0)

/* Memory for what is shared between cache lines, all 0. */
static inline void *
fuzz_zeroed(size_t bytes)
{
	size_t whole = (bytes + 63) & ~(size_t)63;
	void *mem = aligned_alloc(64, whole);

	fuzz_need(mem != NULL, "memory");
	return memset(mem, 0, whole);
}

/* A copy that ends where its memory does: a sanitizer sees an access behind it. */
static inline uint8_t *
fuzz_copy(const uint8_t *from, size_t bytes)
{
	uint8_t *exact = malloc(bytes);

	fuzz_need(exact != NULL || bytes == 0, "memory");
	if (bytes > 0)
		memcpy(exact, from, bytes);
	return exact;
}

#endif
