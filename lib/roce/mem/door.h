/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong keys of peers, and what they cost. A peer that names a key which opens nothing loses its
 * queue pair; but it may connect again and guess again, and a key has 32 bits. So each protection
 * domain has doors, one for each class of peers' addresses, and each wrong key costs its door's
 * budget ROCE_GUESS_NS of time. A door whose budget of ROCE_GUESSES is used up is closed: no queue
 * pair of the domain gets a way to peers behind it. Queue pairs that have one are not looked at,
 * which keeps doors out of the way of packets; each may guess once more, and the door stays closed
 * for longer by as much.
 *
 * So in the long run a door lets one guess pass in ROCE_GUESS_NS, however many connections there
 * are (doc/design-notes/isolation.md, Keys).
 */
#ifndef ROCE_DOOR_H
#define ROCE_DOOR_H

#include "roce/roce.h"

#define ROCE_DOORS    8u
#define ROCE_GUESSES  1024u /* an application that ends in disorder may leave so many */
#define ROCE_GUESS_NS UINT64_C(10000000000)

/* The doors of a protection domain: when what was guessed will be paid for. */
struct roce_doors {
	uint64_t due_ns[ROCE_DOORS];
};

/* The door that peers at this address come through. */
uint8_t roce_door_of(const struct roce_shard *s, const struct roce_gid *peer);
/* May a queue pair of pd get a way to peers behind that door, now? */
bool roce_door_open(const struct roce_shard *s, uint32_t pd, uint8_t door);
/* The peer of qp named a wrong key. True: its door is open still. */
bool roce_door_guess(struct roce_shard *s, const struct roce_qp *qp);

#endif
