/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The turns to send, among principals and the clients of each: deficit round robin. In each round a
 * principal may send ROCE_TURN_BYTES times its weight, and each of its clients ROCE_TURN_BYTES of
 * that. What was sent too much or could not be sent of it counts in the next round; what a
 * principal has not used when it has nothing to send is lost. Frames are charged by their bytes and
 * by a price for each, since a small one takes more time than its bytes; so is each look at a queue
 * pair, also if nothing came of it.
 *
 * One client alone is not charged: it takes its way past all of this.
 */
#ifndef ROCE_TURNS_H
#define ROCE_TURNS_H

#include "base/compiler.h"
#include "base/list.h"
#include "roce/shard/shard.h"

#define ROCE_TURN_BYTES	    4096
#define ROCE_PRICE_OF_FRAME 256
#define ROCE_PRICE_OF_LOOK  128

/* s->is_shared has changed. */
void roce_turns_find_alone(struct roce_shard *s);
void roce_turns_enter(struct roce_shard *s, struct roce_client *c);
/* c may have something to send. It leaves when it is found to have nothing. */
static inline void
roce_turns_join(struct roce_shard *s, struct roce_client *c)
{
	if (base_unlikely(!base_linked(&c->turn.link)))
		roce_turns_enter(s, c);
}
/* c has nothing to send. Harmless if that is known. */
void roce_turns_leave(struct roce_shard *s, struct roce_client *c);

/* The client that alone may have something to send; NULL: there is none, there are several, or
 * what it may have under way is shared with others (flight.h). */
static inline struct roce_client *
roce_turns_alone(const struct roce_shard *s)
{
	return s->alone;
}

/* The client whose turn it is; NULL: none has something to send. */
struct roce_client *roce_turns_next(struct roce_shard *s);
/* How many bytes c may send before its turn ends, by the credit of it and its principal. */
uint32_t roce_turns_left(const struct roce_client *c);
void roce_turns_charge(struct roce_client *c, uint32_t bytes);

/* May any client have something to send; has any rung? */
bool roce_turns_pending(const struct roce_shard *s);
bool roce_turns_rung(const struct roce_shard *s);

#endif
