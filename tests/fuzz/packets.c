/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets to a shard with queue pairs in every state. The client is a good one: it posts through
 * the library's functions, though with any values. An input is a list of actions, most of them
 * packets.
 */
#include "world.h"

#define ACTIONS_MAX 300u

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fuzz_in in = {bytes, bytes + n};
	struct world w;

	world_new(&w, &in, false, false);
	for (unsigned i = 0; i < ACTIONS_MAX && fuzz_left(&in) > 0; i++) {
		unsigned which = fuzz_below(&in, 16);

		if (which < 9)
			world_packet(&w);
		else if (which == 9)
			world_raw_frame(&w);
		else if (which < 14)
			world_client(&w);
		else
			world_host(&w);
		if (which & 1) /* several packets of one burst */
			world_turn(&w);
	}
	world_turn(&w);
	world_end(&w);
	return 0;
}
