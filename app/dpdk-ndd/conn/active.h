/* SPDX-License-Identifier: BSD-3-Clause */
/* Connect: next hop, REQ, REP, then the client completes and RTU leaves. */
#ifndef NDD_ACTIVE_H
#define NDD_ACTIVE_H

#include "session/reply.h"

struct ndd;
struct ndd_conn;
struct roce_cm_event;

ndd_handler ndd_conn_bind, ndd_conn_connect, ndd_conn_complete;
/* c has its local address, class of traffic and values: a REQ with that private data goes to remote
 * as soon as the next hop is known. */
void ndd_conn_ask(struct ndd_conn *c, const struct ndsh_addr *remote, const uint8_t *priv,
	uint32_t priv_bytes);
/* The next hop is known. */
void ndd_conn_send_request(struct ndd_conn *c, uint64_t now_ns);
/* REP came. */
void ndd_conn_on_reply(struct ndd *d, const struct roce_cm_event *ev);

#endif
