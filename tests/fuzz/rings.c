/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors and ring words that change while the engine looks at them. The engine here is
 * compiled with tests/models/edge.h: behind each of its accesses to shared memory the client may
 * act, and this one changes any word of any block. An input has two parts: what happens in turns,
 * and what the client does in between; its first byte says where the second begins.
 */
#include "models/edge.h"

#include "world.h"

#define ACTIONS_MAX 200u

struct other_side {
	struct world *w;
	struct fuzz_in in;
	unsigned wait; /* so many accesses */
};

static void
client_acts(const struct edge_access *a, void *ctx)
{
	struct other_side *o = ctx;

	(void)a;
	edge.count = 0; /* its record is not used here, and an input is long */
	if (fuzz_left(&o->in) == 0 || o->wait-- > 0)
		return;
	world_scribble(o->w, &o->in);
	o->wait = (unsigned)fuzz_take(&o->in, 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	size_t split = n > 0 ? 1 + (n - 1) * bytes[0] / 256 : 0;
	struct fuzz_in in = {bytes + (n > 0), bytes + split};
	struct world w;
	struct other_side other = {.w = &w, .in = {bytes + split, bytes + n}};

	edge_begin(NULL, NULL);
	world_new(&w, &in, true, false);
	edge_begin(client_acts, &other);
	for (unsigned i = 0; i < ACTIONS_MAX && fuzz_left(&in) > 0; i++) {
		unsigned which = fuzz_below(&in, 16);

		if (which < 4)
			world_packet(&w);
		else if (which < 11)
			world_client(&w);
		else if (which < 14)
			world_scribble(&w, &in);
		else
			world_host(&w);
		world_turn(&w);
	}
	edge_begin(NULL, NULL);
	world_end(&w);
	return 0;
}
