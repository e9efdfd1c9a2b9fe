/* SPDX-License-Identifier: BSD-3-Clause */
/* A REQ for one of the client's listeners: offered to it, then accepted or rejected. */
#ifndef NDD_PASSIVE_H
#define NDD_PASSIVE_H

#include "session/reply.h"

struct ndd;
struct ndd_conn;
struct roce_cm_event;

/* reject: also by the active side instead of completing. */
ndd_handler ndd_conn_accept, ndd_conn_reject;
/* The next hop is known. */
void ndd_conn_send_reply(struct ndd_conn *c, uint64_t now_ns);
/* What a peer asks of a listener, for its client to answer; NULL: the session has ended, or there
 * is no room. */
struct ndd_conn *ndd_conn_offered(const struct roce_cm_event *ev);
/* REQ came; RTU came, or what stands for it. */
void ndd_conn_on_request(struct ndd *d, const struct roce_cm_event *ev);
void ndd_conn_on_established(struct ndd *d, const struct roce_cm_event *ev);
/* The peer's first request came on the data path: it stands for a lost RTU (W-CM-35). */
void ndd_conn_on_first_request(struct ndd_conn *c);

#endif
