/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients that have connected and have no session yet. All clients of a socket come in one queue of
 * the kernel's, so what is done for each of them before its principal is known is little: it gets a
 * seat, or is refused. Its session, which costs several times as much, is made in the time of its
 * principal; so a principal whose clients connect in a storm makes its own clients wait.
 */
#ifndef NDD_ARRIVAL_H
#define NDD_ARRIVAL_H

#include <stdbool.h>

struct ndd;

/* A client has connected, by the socket with this label: it waits for its session, or is told why
 * it gets none. False: it is refused, but fd is still the caller's: files lie in it, so that
 * closing it may take long, and its principal has its share of such sockets. */
bool ndd_arrival_admit(struct ndd *d, int fd, const char *label);
/* Has ndd_arrivals_begin() nothing to do, but for those that hope in vain for a second? */
bool ndd_arrivals_are_quiet(const struct ndd *d);
/* Make sessions of those that wait, as far as their principals' time goes. */
void ndd_arrivals_begin(struct ndd *d);
/* Refuse those that wait: the daemon ends. */
void ndd_arrivals_end(struct ndd *d);

#endif
