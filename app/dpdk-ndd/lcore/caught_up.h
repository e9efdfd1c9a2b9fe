/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Has an lcore handled all that had been received at a certain moment? What may not overtake a
 * peer's packets waits for that: the end of a queue pair whose client disconnects, and timers.
 */
#ifndef NDD_CAUGHT_UP_H
#define NDD_CAUGHT_UP_H

#include <stdbool.h>
#include <stdint.h>

struct ndd_shard;

/* Of a shard. Frames pass the I/O owner first, so it has to catch up before the shard does; those
 * of a queue of its own the shard has read by then as well. What is steered to another shard that
 * is not the owner comes late, as it may in a network. */
struct ndd_moment {
	uint64_t io, own; /* rounds of either; own 0: the owner has not come so far */
};

/* ---- the control thread ---- */

/* This moment. Lcores that sleep go on; each wakes the control thread when the last moment that was
 * begun is past for it, but may miss one that comes just then. */
void ndd_moment_begin(struct ndd_moment *m, struct ndd_shard *s);
/* Has what had been received then been handled? It has when each of the two lcores has read
 * 2 * NDD_BEHIND_FRAMES frames of each of its sources. */
bool ndd_moment_is_past(struct ndd_moment *m, struct ndd_shard *s);

/* ---- the lcore ---- */

/* In each turn, behind its polls; advance: as ndd_lcore_rx() gave it. Returns whether what had been
 * received when the turn before began has been handled. */
bool ndd_lcore_catches_up(struct ndd_shard *s, unsigned advance);

#endif
