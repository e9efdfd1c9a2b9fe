/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As packets.c, in a world whose connections are unreliable (UC). By the input's first byte the
 * client is a good one, or changes words of the rings between the turns, too; the rest is an input
 * of that fuzzer.
 */
#include "world.h"

#define ACTIONS_MAX 300u

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fuzz_in in = {bytes, bytes + n};
	struct world w;
	bool hostile = fuzz_below(&in, 2);

	world_new(&w, &in, hostile, true);
	for (unsigned i = 0; i < ACTIONS_MAX && fuzz_left(&in) > 0; i++) {
		unsigned which = fuzz_below(&in, 16);

		if (which < 9)
			world_packet(&w);
		else if (which == 9 && hostile)
			world_scribble(&w, &in);
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
