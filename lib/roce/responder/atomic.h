/* SPDX-License-Identifier: BSD-3-Clause */
/* Responder: atomic operations. */
#ifndef ROCE_ATOMIC_H
#define ROCE_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

struct roce_pkt;
struct roce_qp;
struct roce_read_slot;
struct roce_shard;

/* The word at va, if the peer may change it with key. NULL: it may not, or the host can't: the word
 * is behind a mover, or not aligned there, as a host that does not map pages to pages has it. */
uint8_t *roce_atomic_word(struct roce_shard *s, struct roce_qp *qp, uint32_t key, uint64_t va);
/* Carry out the atomic at host; returns what was there before. */
uint64_t roce_atomic_execute(uint8_t *host, uint8_t opcode, uint64_t swap_add, uint64_t compare);
/* The atomic of pkt, in slot r, waits until the writes before it are placed. */
void roce_atomic_hold(struct roce_qp *qp, struct roce_read_slot *r, const struct roce_pkt *pkt);
/* r waits no more: r->old is there. False: it is refused. */
bool roce_atomic_finish(struct roce_shard *s, struct roce_qp *qp, struct roce_read_slot *r);

#endif
