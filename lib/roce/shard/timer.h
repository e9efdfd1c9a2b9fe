/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timer wheel: one entry per queue pair. Moving a deadline back in time costs, moving it
 * forward does not.
 */
#ifndef ROCE_TIMER_H
#define ROCE_TIMER_H

#include <stdint.h>

struct roce_qp;
struct roce_shard;

#define ROCE_WHEEL_SHIFT 15u /* ns per tick, as a power of two: 32.8 us */
#define ROCE_WHEEL_SLOTS 4096u

/* At deadline_ns the timer of the queue pair runs out. */
void roce_timer_set(struct roce_shard *s, struct roce_qp *qp, uint64_t deadline_ns);
/* Its deadline has passed, or is none any more; it stays in the wheel. */
void roce_timer_end(struct roce_shard *s, struct roce_qp *qp);
/* The queue pair leaves the wheel. */
void roce_timer_remove(struct roce_shard *s, struct roce_qp *qp);
/* There is nothing to wait for until the timer is set again. */
void roce_timer_rest(struct roce_shard *s, struct roce_qp *qp);
/* Without a deadline: the keepalive of the queue pair is run at at_ns, or earlier. */
void roce_timer_watch(struct roce_shard *s, struct roce_qp *qp, uint64_t at_ns);

/* Takes a queue pair whose tick has come out of the wheel; NULL: there is none left. Its deadline
 * may have moved since it was put there, and may be 0. */
struct roce_qp *roce_timer_take(struct roce_shard *s);
/* When roce_timer_take() may find one, in ns of the shard's clock; UINT64_MAX: never. */
uint64_t roce_timer_next(const struct roce_shard *s);

#endif
