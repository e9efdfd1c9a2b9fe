/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections as followers of their next hops (hostnet/follower.h). */
#ifndef NDD_CONN_FOLLOW_H
#define NDD_CONN_FOLLOW_H

struct ndd_conn;

/* It is one from now on. */
void ndd_conn_follow(struct ndd_conn *c);

#endif
