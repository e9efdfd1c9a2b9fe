/* SPDX-License-Identifier: BSD-3-Clause */
/* The control thread as a host on the ports: frames between shards and IP stack or CM. */
#ifndef NDD_HOST_H
#define NDD_HOST_H

#include <stdbool.h>
#include <stdint.h>

struct ndd;

/* Frames that a shard has sent up. True: there may be more. */
bool ndd_host_rx(struct ndd *d, uint64_t now_ns, uint32_t shard);
/* MADs whose next hop is known by now. */
void ndd_host_retry_mads(struct ndd *d, uint64_t now_ns);
/* What CM and IP stack have to send. */
void ndd_host_tx(struct ndd *d, uint64_t now_ns);

#endif
