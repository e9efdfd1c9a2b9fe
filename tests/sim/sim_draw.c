/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams and their numbers. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

uint32_t sim_ordinals[SIM_STREAMS_MAX][SIM_ACTORS];
static const struct sim_site *streams[SIM_STREAMS_MAX]; /* from 1 on */
static uint32_t n_streams;

/* FNV-1a */
static uint64_t
hash_text(uint64_t h, const char *s)
{
	for (; *s != '\0'; s++)
		h = (h ^ (uint8_t)*s) * UINT64_C(0x100000001b3);
	return h * UINT64_C(0x100000001b3);
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

void
sim_site_meet(struct sim_site *s)
{
	s->file = base_name(s->file);
	s->hash = hash_text(
		hash_text(hash_text(UINT64_C(0xcbf29ce484222325), s->file), s->func), s->what);
	for (uint32_t i = 1; i <= n_streams; i++)
		if (streams[i]->hash == s->hash) {
			s->stream = i;
			return;
		}
	if (n_streams + 1 == SIM_STREAMS_MAX)
		abort();
	streams[++n_streams] = s;
	s->stream = n_streams;
}

void
sim_draws_begin(struct sim_draws *d, uint64_t seed)
{
	memset(sim_ordinals, 0, (n_streams + 1) * sizeof(sim_ordinals[0]));
	*d = (struct sim_draws){.key = sim_mix(seed + UINT64_C(0x9e3779b97f4a7c15))};
}
