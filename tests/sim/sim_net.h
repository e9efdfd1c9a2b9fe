/* SPDX-License-Identifier: BSD-3-Clause */
/* The network, and what kinds of trouble there are. */
#ifndef SIM_NET_H
#define SIM_NET_H

#include "sim_types.h"

struct sim_profile {
	const char *name;
	/* The network; chances are of 10,000. */
	unsigned loss, dup, reorder, corrupt, cut;
	uint64_t jitter_ns, straggle_ns; /* straggle: how late a frame may be */
	bool outages;
	/* The applications. */
	unsigned lazy_recv; /* chance that receives are posted late: RNR */
	unsigned poison;    /* chance that a connection has an error planned */
	unsigned abrupt;    /* chance that a connection ends in the middle of its work */
	unsigned together;  /* chance that two connections begin, or both ends end, at once */
	unsigned insiders;  /* chance that an end is hostile */
	unsigned dialects;  /* chance that an end is another implementation */
	/* The hosts. */
	unsigned cm;	 /* chance of each planned fault of a connection's CM messages */
	unsigned deaths; /* ... to be a host's death, and of a host to die in the middle of work */
	unsigned stalls; /* chance that a shard's next turn comes late */
	bool tight;	 /* small rings between shards */
	/* What is rare. */
	unsigned starve;  /* chance of an end to post no receives for a long time, once */
	unsigned changes; /* chance of new MAC addresses; of other attributes in SQD */
	unsigned marks;	  /* chance of a frame to be marked: ECN */
	unsigned unmaps;  /* chance of a connection to lose memory that is registered */
	unsigned sinks;	  /* chance of an end to read into a fast-register region */
	unsigned groups;  /* chance of a datagram to go to a group */
	unsigned narrow;  /* chance of a host to have a small CM table */
	unsigned flood;	  /* chance of a control turn that strangers ask for connections in it */
	unsigned rare;	  /* chance of a connection to have all values of codes and counts */
};
extern const struct sim_profile sim_profiles[];
const struct sim_profile *sim_profile_find(const char *name);
const struct sim_profile *sim_profile_of_seed(uint64_t seed);

struct sim_frame {
	struct sim_frame *next;
	uint64_t at_ns, seq;
	unsigned to; /* host */
	bool damaged;
	uint32_t bytes;
	uint8_t data[]; /* of exactly this size: sanitizers see what is read behind it */
};
struct sim_net {
	struct sim_frame **heap; /* by (at_ns, seq) */
	unsigned count, room;
	uint64_t seq, sent, lost, duplicated, reordered, corrupted, delivered;
	uint64_t handed_over, dropped; /* between shards; that found no room */
	unsigned ns_per_64_bytes;
	uint64_t link_free_ns[SIM_HOSTS_MAX];
	uint64_t outage_from_ns, outage_to_ns;
};
/* frame may be NULL: the caller fills it. */
struct sim_frame *sim_frame_new(const uint8_t *frame, uint32_t bytes);
void sim_net_send(struct sim_world *w, unsigned from, const uint8_t *frame, uint32_t bytes);
/* A copy of the frame comes at last, after late_ns. */
void sim_net_late(struct sim_world *w, unsigned to, const struct sim_frame *f, uint64_t late_ns);
uint64_t sim_net_next(const struct sim_world *w);
/* Move what has arrived by now to the hosts. */
void sim_net_deliver(struct sim_world *w);
void sim_net_free(struct sim_world *w);

#endif
