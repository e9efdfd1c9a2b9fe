/* SPDX-License-Identifier: BSD-3-Clause */
/* Rare things of which each must happen in the standard seeds: sim --kinds counts them. */
#ifndef SIM_KIND_H
#define SIM_KIND_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
#define SIM_KINDS(X)                                                                               \
	X(long_starvation, "receives that are missing for seconds, under loss")                    \
	X(long_messages, "messages of a hundred packets and more")                                 \
	X(vlans, "connections in a VLAN")                                                          \
	X(new_macs, "hosts that change their MAC address under traffic")                           \
	X(new_paths, "paths changed in SQD")                                                       \
	X(new_attributes, "other attributes changed in SQD")                                       \
	X(early_attributes, "... refused, as it was not drained")                                  \
	X(resets, "queue pairs reset under traffic, and set up again")                             \
	X(hogs, "shards with a client that takes what it can")                                     \
	X(held, "queue pairs held back, as their principal had its share under way")              \
	X(breaches, "... more in flight than its rings hold")                                      \
	X(late_wakeups, "turns in which a client waited for a token to be woken")                \
	X(full_tables, "tables of regions, domains and queue pairs that were full")                \
	X(read_invalidates, "READs that ended the registration of their sink")                    \
	X(full_cm, "REQs that found a CM's table full")                                           \
	X(full_share, "... their host to have its share of it")                                   \
	X(flooded, "... strangers to have their share of it")                                     \
	X(full_backlog, "... a listener's backlog full")                                          \
	X(full_at_home, "... their own CM's table full")                                          \
	X(full_answers, "hosts asked for more answers at once than they keep")                     \
	X(full_staging, "movers whose staging was full")                                           \
	X(attachments, "queue pairs attached to a group, or detached")                            \
	X(copies, "datagrams to groups that were taken")                                          \
	X(lost_payload, "requests whose payload had gone")                                         \
	X(lost_result, "... whose result had no place any more")                                   \
	X(lost_target, "... whose memory at the peer had gone")                                    \
	X(lost_receive, "... whose receive had")                                                   \
	X(corrected, "completions corrected, as a copy failed behind them")                        \
	X(impostures, "packets from another UDP port than the peer's")                             \
	X(marks, "packets that the network marked")                                                \
	X(rates, "rates compared with DCQCN's")                                                    \
	X(paced_packets, "packets whose time was checked")
/* clang-format on */
enum sim_kind {
#define X(name, text) SIM_KIND_##name,
	SIM_KINDS(X)
#undef X
		SIM_KINDS_END
};

extern uint64_t sim_kinds[SIM_KINDS_END];
extern uint64_t sim_rnr_codes[32];     /* of RNR NAKs that arrived */
extern uint64_t sim_timeout_codes[32]; /* of queue pairs that came to RTS, */
extern uint64_t sim_retries[8];	       /* ... and their retry counts */

static inline void
sim_kind(enum sim_kind k)
{
	sim_kinds[k]++;
}

void sim_kinds_print(void);
/* False, and a line for each: some never happened. */
bool sim_kinds_all(void);

#endif
