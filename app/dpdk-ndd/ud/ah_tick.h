/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Address handles go on when they have something to do, as connections do (conn/tick.h): each in
 * the time of its principal, and those that have nothing to do are never looked at.
 */
#ifndef NDD_AH_TICK_H
#define NDD_AH_TICK_H

#include <stdint.h>

struct ndd;
struct ndd_ah;

/* It is one of the daemon's, and follows its next hop when these change from now on. */
void ndd_ah_enlist(struct ndd_ah *ah);
/* It goes: out of all lists. */
void ndd_ah_unlist(struct ndd_ah *ah);
/* It goes on at this time at the latest, which is no earlier than that of any that waits. */
void ndd_ah_wait(struct ndd_ah *ah, uint64_t deadline_ns);
void ndd_ah_wait_no_more(struct ndd_ah *ah);
/* It goes on in the next turn that its principal has time in. */
void ndd_ah_is_due(struct ndd_ah *ah);
/* Those that are due, or whose next hop may have changed; some of those per call. */
void ndd_ah_tick(struct ndd *d, uint64_t now_ns);

#endif
