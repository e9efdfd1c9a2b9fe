/* SPDX-License-Identifier: BSD-3-Clause */
/* The same program at the other end, on a daemon of its own: what both say by TCP. */
#ifndef VERBS_PEER_H
#define VERBS_PEER_H

#include <stddef.h>

/* host: NULL for the one that the other comes to. */
int peer_reach(const char *port, const char *host);
void peer_tell(int peer, const void *what, size_t bytes);
void peer_hear(int peer, void *what, size_t bytes);

#endif
