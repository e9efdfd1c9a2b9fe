/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections go on when they have something to do, each in the time of its principal. Those that
 * have nothing to do are never looked at, since a client can have thousands of them.
 */
#ifndef NDD_CONN_TICK_H
#define NDD_CONN_TICK_H

#include <stdint.h>

struct ndd;
struct ndd_conn;
struct ndd_conn_list;

/* It is one of the daemon's connections, and follows its next hop when these change from now on. */
void ndd_conn_enlist(struct ndd_conn *c);
/* It goes on at this time at the latest, which is no earlier than that of any in the list. */
void ndd_conn_wait(struct ndd_conn *c, struct ndd_conn_list *list, uint64_t deadline_ns);
void ndd_conn_wait_no_more(struct ndd_conn *c);
/* It goes on in the next turn that its principal has time in. */
void ndd_conn_is_due(struct ndd_conn *c);
void ndd_conn_is_not_due(struct ndd_conn *c);
/* Connections that are due, or whose next hop may have changed; some of those per call. */
void ndd_conn_tick(struct ndd *d, uint64_t now_ns);

#endif
