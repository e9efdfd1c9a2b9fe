/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams and actors: their numbers and names. */
#include <stdio.h>
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

const char *
sim_site_file(const struct sim_site *s)
{
	const char *slash = strrchr(s->file, '/');

	return slash != NULL ? slash + 1 : s->file;
}

uint64_t
sim_stream_hash(const char *file, const char *func, const char *what)
{
	return hash_text(hash_text(hash_text(UINT64_C(0xcbf29ce484222325), file), func), what);
}

void
sim_site_meet(struct sim_site *s)
{
	s->hash = sim_stream_hash(sim_site_file(s), s->func, s->what);
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
sim_draws_begin(struct sim_draws *d, uint64_t seed, struct sim_script *script)
{
	memset(sim_ordinals, 0, (n_streams + 1) * sizeof(sim_ordinals[0]));
	*d = (struct sim_draws){
		.key = sim_mix(seed + UINT64_C(0x9e3779b97f4a7c15)), .script = script};
}

const char *
sim_actor_name(uint32_t actor)
{
	static const char *const sides[] = {"", "a", "p"};
	static char name[24];
	uint32_t n;

	if (actor == SIM_ACTOR_WORLD)
		return "world";
	if (actor < SIM_ACTOR_SHARD(0, 0)) {
		snprintf(name, sizeof(name), "host%u", actor - SIM_ACTOR_HOST(0));
	} else if (actor < SIM_ACTOR_CONN(0)) {
		n = actor - SIM_ACTOR_SHARD(0, 0);
		snprintf(name, sizeof(name), "shard%u.%u", n / SIM_SHARDS_MAX, n % SIM_SHARDS_MAX);
	} else if (actor < SIM_ACTOR_UD(0)) {
		n = actor - SIM_ACTOR_CONN(0);
		snprintf(name, sizeof(name), "conn%u%s", n / 3, sides[n % 3]);
	} else if (actor < SIM_ACTOR_ASK(0)) {
		snprintf(name, sizeof(name), "ud%u", actor - SIM_ACTOR_UD(0));
	} else {
		snprintf(name, sizeof(name), "ask%u", actor - SIM_ACTOR_ASK(0));
	}
	return name;
}

bool
sim_actor_parse(const char *name, uint32_t *actor)
{
	for (*actor = 0; *actor < SIM_ACTORS; ++*actor)
		if (strcmp(name, sim_actor_name(*actor)) == 0)
			return true;
	return false;
}
