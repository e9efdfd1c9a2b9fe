/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections that end here: first what the peer has sent in time is received, then the queue pair
 * is flushed, then the peer is told (R-DISC-09, R-DISC-17, W-CM-51). The connection waits for the
 * first of these, and nobody waits for it.
 */
#ifndef NDD_CONN_LEAVE_H
#define NDD_CONN_LEAVE_H

#include <stdint.h>

struct ndd;
struct ndd_conn;

/* It is NDD_CONN_LEAVING from now on, or further already. */
void ndd_conn_leave(struct ndd_conn *c, uint64_t now_ns);
/* Its queue pair is in error all by itself: there is nothing to wait for. */
void ndd_conn_leave_at_once(struct ndd_conn *c);
/* It is over in another way. */
void ndd_conn_leave_no_more(struct ndd_conn *c);
/* Those whose time has come go on, some of each principal's per call, in its time: a crowd that one
 * of them has holds up nobody else's. */
void ndd_conn_leave_tick(struct ndd *d, uint64_t now_ns);

#endif
