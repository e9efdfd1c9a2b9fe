/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous events for the clients that have asked for them (NDSH_MSG_EVENTS). */
#ifndef NDD_ASYNC_H
#define NDD_ASYNC_H

#include "session/reply.h"

struct ndd;
struct ndd_event;
struct ndd_qp;

ndd_handler ndd_async_on;
/* An event of the shard. */
void ndd_async_qp(struct ndd_session *s, const struct ndd_qp *qp, const struct ndd_event *ev);
void ndd_async_cq(struct ndd_session *s, const struct ndd_event *ev);
/* The daemon has brought the queue pair to error. */
void ndd_async_qp_taken(struct ndd_session *s, const struct ndd_qp *qp);
/* The port's link came or went. */
void ndd_async_link(struct ndd *d, uint32_t port, bool up);
/* An address of the port is served from now on, or was until now. */
void ndd_async_addresses(struct ndd *d, uint32_t port);

#endif
