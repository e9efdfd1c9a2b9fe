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

/* At deadline_ns roce_req_timeout() is called. */
void roce_timer_set(struct roce_shard *s, struct roce_qp *qp, uint64_t deadline_ns);
/* The queue pair leaves the wheel. */
void roce_timer_remove(struct roce_shard *s, struct roce_qp *qp);
/* There is nothing to wait for until the timer is set again. */
void roce_timer_rest(struct roce_shard *s, struct roce_qp *qp);
/* Without a deadline: roce_keepalive_run() is called at at_ns, or earlier. */
void roce_timer_watch(struct roce_shard *s, struct roce_qp *qp, uint64_t at_ns);

#endif
