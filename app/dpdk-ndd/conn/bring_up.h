/* SPDX-License-Identifier: BSD-3-Clause */
/* From a connection's values to its queue pair: next hop, path, states. */
#ifndef NDD_BRING_UP_H
#define NDD_BRING_UP_H

#include <stdbool.h>
#include <stdint.h>

#include "cm/cm.h"
#include "shm/ndsh_status.h"

struct ndd_conn;

/* Resolve the next hop. NDSH_PENDING: not known yet. */
enum ndsh_status ndd_conn_resolve(struct ndd_conn *c, uint64_t now_ns);
/* What REQ and REP say of this side's queue pair. */
struct roce_cm_qp_params ndd_conn_own_values(const struct ndd_conn *c);
/* The queue pair to RTR and RTS, acknowledged by its shard. ERR_REFUSED: its protection domain is
 * closed to the peer. */
enum ndsh_status ndd_conn_bring_up(struct ndd_conn *c);
/* Passive: the active side is ready. */
void ndd_conn_start_keepalive(struct ndd_conn *c);
/* Next hops have changed, perhaps this one. */
void ndd_conn_refresh(struct ndd_conn *c, uint64_t now_ns);

#endif
