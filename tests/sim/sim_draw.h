/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The decisions of a world. Each is a draw from a stream, and a stream belongs to one place in the
 * source and one actor: "does the network lose this frame of host 1" is another stream than the
 * same question about host 2. A draw's value follows from the seed, its stream and how many the
 * stream gave before, so that one decision more or less leaves those of all other streams as they
 * were. That is what makes a failing seed shrink (sim_shrink.c).
 *
 * 0 is the plainest value of every draw: no fault, no error, the smallest size, one connection.
 */
#ifndef SIM_DRAW_H
#define SIM_DRAW_H

#include "sim_types.h"

#define SIM_STREAMS_MAX 1024u /* places in the source that draw */

/* Actors by number. */
#define SIM_ACTOR_WORLD	      0u
#define SIM_ACTOR_HOST(h)     (1 + (h))
#define SIM_ACTOR_SHARD(h, s) (SIM_ACTOR_HOST(SIM_HOSTS_MAX) + (h)*SIM_SHARDS_MAX + (s))
#define SIM_ACTOR_CONN(c)     (SIM_ACTOR_SHARD(SIM_HOSTS_MAX, 0) + 3 * (c))
#define SIM_ACTOR_EP(c, side) (SIM_ACTOR_CONN(c) + 1 + (side))
#define SIM_ACTOR_UD(u)	      (SIM_ACTOR_CONN(SIM_CONNS_MAX) + (u))
#define SIM_ACTOR_ASK(a)      (SIM_ACTOR_UD(SIM_UDS_MAX) + (a))
#define SIM_ACTORS	      SIM_ACTOR_ASK(SIM_ASKS_MAX)

struct sim_script;

/* A place in the source. Two with the same text in one function are one. */
struct sim_site {
	const char *file, *func, *what;
	uint64_t hash;
	uint32_t stream; /* 0: not met yet */
};
struct sim_draws {
	uint64_t key;		   /* of the seed */
	uint64_t unique;	   /* as many numbers were given that decide nothing */
	uint32_t actor;		   /* that decides now */
	struct sim_script *script; /* it may change values, and see them; NULL: none */
};

void sim_draws_begin(struct sim_draws *d, uint64_t seed, struct sim_script *script);
/* Its file, without the path. */
const char *sim_site_file(const struct sim_site *s);
uint64_t sim_stream_hash(const char *file, const char *func, const char *what);
/* The actor's name, in a buffer of its own; and back, false: there is none. */
const char *sim_actor_name(uint32_t actor);
bool sim_actor_parse(const char *name, uint32_t *actor);
/* sim_script.c: the value in place of this one */
uint64_t sim_script_value(struct sim_script *script, const struct sim_site *s, uint32_t actor,
	uint32_t ordinal, uint64_t n, uint64_t value);
void sim_site_meet(struct sim_site *s);

extern uint32_t sim_ordinals[SIM_STREAMS_MAX][SIM_ACTORS];

/* The finalizer of splitmix64. */
static inline uint64_t
sim_mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* n: values are below it; 0: any of 64 bits. of: chance of a value of 1, in 10,000; 0: no chance */
static inline uint64_t
sim_draw(struct sim_draws *d, struct sim_site *s, uint64_t n, unsigned of)
{
	uint32_t ordinal;
	uint64_t z;

	if (__builtin_expect(s->stream == 0, 0))
		sim_site_meet(s);
	ordinal = sim_ordinals[s->stream][d->actor]++;
	z = sim_mix((d->key ^ s->hash) + d->actor * UINT64_C(0xd1342543de82ef95) +
		    ordinal * UINT64_C(0x9e3779b97f4a7c15));
	if (n > 0)
		z = (uint64_t)(((unsigned __int128)z * n) >> 64);
	if (of > 0) {
		z = z < of;
		n = 2;
	}
	if (__builtin_expect(d->script != NULL, 0))
		z = sim_script_value(d->script, s, d->actor, ordinal, n, z);
	return z;
}

static inline uint64_t
sim_draw_below(struct sim_draws *d, struct sim_site *s, uint64_t n)
{
	return n == 0 ? 0 : sim_draw(d, s, n, 0);
}

static inline bool
sim_draw_chance(struct sim_draws *d, struct sim_site *s, unsigned of_10000)
{
	return of_10000 != 0 && sim_draw(d, s, 10000, of_10000) != 0;
}

#define SIM_SITE(text)                                                                             \
	__extension__({                                                                            \
		static struct sim_site site_ = {.file = __FILE__, .func = __func__, .what = text}; \
		&site_;                                                                            \
	})
#define sim_below(w, n) sim_draw_below(&(w)->draws, SIM_SITE(#n), n)
#define sim_chance(w, of_10000)                                                                    \
	sim_draw_chance(&(w)->draws, SIM_SITE("chance " #of_10000), of_10000)
#define sim_rand(w) sim_draw(&(w)->draws, SIM_SITE("any"), 0, 0)
/* A number that is unlike others and decides nothing: contents, secrets. */
#define sim_unique(w) sim_mix((w)->draws.key + ++(w)->draws.unique)

/* Those that decide until it is given back. Returns the ones before. */
#define sim_actor_set(w, who) sim_actor_swap(&(w)->draws, who)
static inline uint32_t
sim_actor_swap(struct sim_draws *d, uint32_t actor)
{
	uint32_t was = d->actor;

	d->actor = actor;
	return was;
}

#endif
