/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the control thread that run on a shard's lcore. */
#ifndef NDD_CALL_H
#define NDD_CALL_H

#include <stdbool.h>
#include <stdint.h>

struct ndd_shard;

typedef void (*ndd_shard_fn)(struct ndd_shard *s, uint64_t now_ns, void *arg);
/* Run fn on the shard's lcore between two turns and wait for it. The lcore never waits. */
void ndd_shard_call(struct ndd_shard *s, ndd_shard_fn fn, void *arg);
/* The lcore's side: run the call that waits, if there is one. */
bool ndd_shard_serve(struct ndd_shard *s, uint64_t now_ns);

#endif
