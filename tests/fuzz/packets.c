/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets to a shard with queue pairs in every state. The client is a good one: it posts through
 * the library's functions, though with any values. An input is a list of actions, most of them
 * packets.
 */
#include "world.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fuzz_in in = {bytes, bytes + n};
	struct world w;

	world_new(&w, &in, false, false);
	world_play(&w);
	return 0;
}
