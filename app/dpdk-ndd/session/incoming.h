/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes from clients: their requests, and their ends. */
#ifndef NDD_INCOMING_H
#define NDD_INCOMING_H

#include <stdbool.h>

struct ndd;
struct ndd_session;

/* The control thread is a courier, too, for the clients that it trusts. False: no memory, or no
 * descriptor; errno. */
bool ndd_incoming_start(struct ndd *d);
/* Its line has news, or the time has come for its request: it is served soon. */
void ndd_session_heard(struct ndd_session *s);
/* Hear what couriers tell, and serve one request of each session that has one, as far as their
 * principals' time goes. */
void ndd_incoming_serve(struct ndd *d);
/* Has ndd_incoming_serve() nothing to do? */
bool ndd_incoming_is_quiet(const struct ndd *d);
/* It serves the session no more. */
void ndd_incoming_forget(struct ndd_session *s);
void ndd_incoming_stop(struct ndd *d);

#endif
