/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulator: hosts with their shards and CM, clients on real shared rings, a
 * network and a clock, all in one process and decided by one seed. Nothing in a world
 * reads the machine's clock, addresses or randomness: a seed replays to the bit.
 *
 *	sim_main.c	command line, many seeds
 *	sim_world.c	one seed: set up, run, take down, final checks
 *	sim_draw.c	decisions: each from a stream of its own
 *	sim_script.c	... or as a scenario wants them
 *	sim_scenario.c	scenarios: files of such decisions
 *	sim_crash.c	which seed it was that crashed
 *	sim_isolate.c	a run in a process of its own
 *	sim_shrink.c	a failing seed made small
 *	sim_profile.c	what kinds of trouble there are
 *	sim_net.c	frames on their way, and what happens to them
 *	sim_host.c	a host: its control thread
 *	sim_lcore.c	... and the turn of a shard, as the daemon's lcore does it
 *	sim_handover.c	rings between shards
 *	sim_conn.c	connections: what the CM tells
 *	sim_ep.c	... and their queue pairs
 *	sim_plan.c	their planned errors and ends
 *	sim_cm.c	planned faults of the messages that set them up and end them
 *	sim_death.c	hosts that die and come back
 *	sim_client.c	applications: polling, arming, posting
 *	sim_ops.c	random requests and their expected effect
 *	sim_window.c	memory windows, and fast-register regions as such
 *	sim_fast.c	what is special about fast-register regions
 *	sim_sink.c	... and what READs do to them
 *	sim_srq.c	shared receive queues
 *	sim_mover.c	memory that only the application can reach
 *	sim_loss.c	... and that goes while it is registered
 *	sim_resize.c	completion queues that change their rings
 *	sim_model.c	what completions must be
 *	sim_ud.c	datagrams: the life of a queue pair
 *	sim_ud_post.c	... what is posted to it
 *	sim_ud_model.c	... and what must become of that
 *	sim_ah.c	address handles
 *	sim_group.c	... that go to groups
 *	sim_sidr.c	SIDR: lookups of such a queue pair's number
 *	sim_stranger.c	forged frames
 *	sim_impostor.c	... from another UDP port than the peer's that they name
 *	sim_cc.c	congestion, and what rates must be
 *	sim_change.c	MAC addresses and attributes that change
 *	sim_exhaust.c	tables that are full
 *	sim_hog.c	several principals on a shard
 *	sim_flood.c	more questions than a CM keeps answers for
 *	sim_full.c	... also those of a CM
 *	sim_rare.c	codes, counts, lengths that are rare
 *	sim_kind.c	which rare things happened
 *	sim_pair.c	which packets met which states of queue pairs
 *	sim_pair_cm.c	which messages met which states of exchanges
 *	sim_wire.c	what every frame must be like
 *	sim_dialect.h	peers that are other implementations
 *	sim_insider.h	a peer that is hostile
 *	sim_mem.c	memory of the world; arenas with a shadow of what they must hold
 */
#ifndef SIM_H
#define SIM_H

#include "sim_conn.h"
#include "sim_dialect.h"
#include "sim_draw.h"
#include "sim_host.h"
#include "sim_insider.h"
#include "sim_net.h"
#include "sim_sidr.h"

struct sim_watch { /* notes that a run is to have */
	const char *text;
	bool seen;
};
struct sim_case { /* what is run */
	uint64_t seed;
	const struct sim_profile *profile;
	struct sim_script *script; /* or NULL */
	struct sim_watch *watch;
	unsigned n_watch;
	bool verbose;
};
struct sim_outcome {
	bool passed;
	char line[512]; /* why it failed */
	char kind[160]; /* ... without what differs between two seeds */
	uint64_t hash, steps, packets, completions, ns;
};

struct sim_world {
	uint64_t seed, now_ns, hash;
	struct sim_draws draws;
	const struct sim_case *run;
	struct sim_outcome *outcome;
	const struct sim_profile *profile;
	struct sim_host hosts[SIM_HOSTS_MAX];
	unsigned n_hosts;
	struct sim_conn *conns;
	unsigned n_conns;
	struct sim_ud *uds;
	unsigned n_uds; /* 0: a world without datagrams */
	struct sim_dgram *dgrams;
	unsigned n_dgrams;
	struct sim_ask *asks;
	unsigned n_asks;
	unsigned strangers; /* frames to come of one */
	uint64_t stranger_ns;
	unsigned impostures; /* to come, of an impostor; ports are checked */
	uint64_t imposture_ns, impostor_frames;
	struct sim_net net;
	uint64_t next_va;
	uint64_t progress_ns, progress; /* when anything last came forward */
	struct sim_block *blocks;
	struct roce_shard_cfg shard_cfg;
	unsigned ring_room;	   /* of the rings between shards */
	unsigned sharing;	   /* chance of an end to share its receives */
	uint64_t far_used, stalls; /* memory behind movers; how often one paused */
	uint64_t dialect_ns;	   /* when one says something by itself */
	uint64_t holds; /* atomics that may make their peer retransmit the packets behind them */
	uint64_t completions, deaths;
	unsigned changes; /* of MAC addresses, to come */
	uint64_t change_ns;
	bool moved_macs;			     /* one has changed */
	unsigned dying;				     /* hosts that died or are about to */
	uint64_t cm_faults[SIM_CM_STEPS][SIM_FATES]; /* planned ones that happened */
};
extern struct roce_counters sim_counters; /* of all worlds so far */
extern struct roce_cm_counters sim_cm_counters;
struct sim_totals {
	uint64_t packets, handed_over, dropped, completions, deaths, datagrams, asks;
	uint64_t cm_faults[SIM_CM_STEPS][SIM_FATES];
};
extern struct sim_totals sim_totals;
/* True: it passed. Counters are summed up in those of all worlds. */
bool sim_run(const struct sim_case *c, struct sim_outcome *o);

/* The seed failed: say why and leave sim_run(). */
void sim_fail(struct sim_world *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
/* Does anything look at notes? */
static inline bool
sim_is_noted(const struct sim_world *w)
{
	return w->run->verbose || w->run->n_watch > 0;
}

/* One line of the trace, printed with --verbose. */
void sim_note(struct sim_world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sim_hash(struct sim_world *w, uint64_t v);
#define sim_check(w, cond, ...)                                                                    \
	do {                                                                                       \
		if (!(cond))                                                                       \
			sim_fail(w, __VA_ARGS__);                                                  \
	} while (0)

static inline uint64_t
sim_earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline void
sim_progress(struct sim_world *w)
{
	w->progress_ns = w->now_ns;
	w->progress++;
}

/* Act *left times, with pauses of up to pause_ns. Returns when it is time again: *at_ns. */
static inline uint64_t
sim_now_and_then(struct sim_world *w, void (*act)(struct sim_world *w), unsigned *left,
	uint64_t *at_ns, uint64_t pause_ns)
{
	if (*left == 0)
		return SIM_NEVER;
	if (w->now_ns >= *at_ns) {
		--*left;
		act(w);
		*at_ns = w->now_ns + sim_below(w, pause_ns);
	}
	return *at_ns;
}

#endif
