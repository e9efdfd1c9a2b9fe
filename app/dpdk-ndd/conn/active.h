/* SPDX-License-Identifier: BSD-3-Clause */
/* Connect: next hop, REQ, REP, then the client completes and RTU leaves. */
#ifndef NDD_ACTIVE_H
#define NDD_ACTIVE_H

#include "session/reply.h"

struct ndd;
struct ndd_conn;
struct roce_cm_event;

ndd_handler ndd_conn_bind, ndd_conn_connect, ndd_conn_complete;
/* The next hop is known. */
void ndd_conn_send_request(struct ndd_conn *c, uint64_t now_ns);
/* REP came. */
void ndd_conn_on_reply(struct ndd *d, const struct roce_cm_event *ev);

#endif
