/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

#define ACTIONS_MAX 300u

void
world_play(struct world *w)
{
	for (unsigned i = 0; i < ACTIONS_MAX && fuzz_left(w->in) > 0; i++) {
		unsigned which = fuzz_below(w->in, 16);

		if (which < 9)
			world_packet(w);
		else if (which == 9 && w->hostile)
			world_scribble(w, w->in);
		else if (which == 9)
			world_raw_frame(w);
		else if (which < 14)
			world_client(w);
		else
			world_host(w);
		if (which & 1) /* several packets of one burst */
			world_turn(w);
	}
	world_turn(w);
	world_end(w);
}
