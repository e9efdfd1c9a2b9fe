/* SPDX-License-Identifier: BSD-3-Clause */
/* Send rings that the shard polls, so that their clients need not ring. */
#ifndef ROCE_SEND_RING_H
#define ROCE_SEND_RING_H

struct roce_qp;
struct roce_shard;

#define ROCE_SEND_RING_IDLE_NS	100000u /* a ring empty for so long falls back to doorbells */
#define ROCE_SEND_RING_AGAIN_NS 25000u	/* one that rings again so soon is polled from then on */

/* From now on the ring is polled. */
void roce_send_ring_watch(struct roce_shard *s, struct roce_qp *qp);
/* Polls up to budget rings, each once. Returns how many queue pairs have work that had none. */
unsigned roce_send_rings_poll(struct roce_shard *s, unsigned budget);
/* The ring is polled no more: its client must ring when it posts. */
void roce_send_ring_leave(struct roce_qp *qp);

#endif
