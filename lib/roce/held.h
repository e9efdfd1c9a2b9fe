/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs whose principal has as much under way as it may have (shard/flight.h). */
#ifndef ROCE_HELD_H
#define ROCE_HELD_H

#include <stdbool.h>
#include <stdint.h>

struct roce_principal;
struct roce_qp;
struct roce_shard;

/* How many packets qp may send now. */
uint32_t roce_held_room(const struct roce_shard *s, const struct roce_qp *qp);
/* qp, which has its turn, waits for its principal to have room. */
void roce_held_join(struct roce_shard *s, struct roce_qp *qp);
/* Is there a principal with some that wait, and with room for them? */
bool roce_held_may_go_on(const struct roce_shard *s);
/* Once in each turn while s->is_shared: those that may go on, some at a time, are the next of their
 * clients to send. */
void roce_held_look(struct roce_shard *s);

#endif
