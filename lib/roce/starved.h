/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs whose next request found no room in a pool. */
#ifndef ROCE_STARVED_H
#define ROCE_STARVED_H

#include <stdbool.h>

struct roce_shard;

/* Is there a principal with some that may take of that pool again? */
bool roce_starved_may_go_on(const struct roce_shard *s);
/* Those of such principals, some at a time, are the next of their clients to send. */
void roce_starved_wake(struct roce_shard *s);

#endif
