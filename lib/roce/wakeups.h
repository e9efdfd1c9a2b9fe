/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients that are to be woken, and principals that have been woken as often as they may be. */
#ifndef ROCE_WAKEUPS_H
#define ROCE_WAKEUPS_H

#include "roce/queue/cq.h"
#include "roce/shard/shard.h"

/* cq has fired, and its client is to be woken, unless that waits already. */
void roce_wakeups_join(struct roce_shard *s, struct roce_cq *cq);
/* When the first principal that rests may go on, or rests once more; UINT64_MAX: none rests. */
uint64_t roce_wakeups_next(const struct roce_shard *s);

#endif
