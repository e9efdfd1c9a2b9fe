/* SPDX-License-Identifier: BSD-3-Clause */
/* Two engines whose queue pairs are for datagrams, with a handle each to the other one. */
#ifndef UD_WORLD_H
#define UD_WORLD_H

#include "rigs/engine_pair.h"
#include "roce/ud/ud.h"

#define UD_MTU	  1024u
#define UD_Q_KEY  0x01234567u
#define UD_AHS	  4u
#define UD_AH	  (3u << ROCE_AH_INDEX_BITS | 2u) /* the token of the handle to the other side */
#define UD_GRH	  NDSH_GRH_BYTES
#define UD_TARGET (64u << 10) /* offset of receives */

struct ud_world {
	struct pair *p;
	struct roce_ah ah[2][UD_AHS];
	struct roce_ah_table table[2];
};

struct ud_world ud_world_new(const struct pair_opts *opts);
/* All queue pairs of both sides are for datagrams. */
void ud_world_start(struct ud_world *w);
/* Queue pair i of one side anew, as one of datagrams. */
void ud_start(struct ud_world *w, unsigned side, unsigned i, uint32_t q_key);
const struct roce_counters *ud_count(const struct ud_world *w, unsigned side);
/* From side 0's queue pair 0 to side 1's queue pair i. */
void ud_post(struct ud_world *w, unsigned i, uint64_t context, uint32_t bytes, uint32_t q_key,
	uint32_t flags);
void ud_send(struct ud_world *w, unsigned i, uint64_t context, uint32_t bytes);
/* What ud_send() sends. */
void ud_fill(struct ud_world *w, uint32_t bytes);
/* A receive of side 1 that was posted at TARGET holds bytes from side 0. */
struct ndsh_cqe ud_arrived(struct ud_world *w, uint64_t context, uint32_t bytes);

#endif
