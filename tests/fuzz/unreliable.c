/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As packets.c, in a world whose connections are unreliable (UC). By the input's first byte the
 * client is a good one, or changes words of the rings between the turns, too; the rest is an input
 * of that fuzzer.
 */
#include "world.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fuzz_in in = {bytes, bytes + n};
	bool hostile = fuzz_below(&in, 2);
	struct world w;

	world_new(&w, &in, hostile, true);
	world_play(&w);
	return 0;
}
