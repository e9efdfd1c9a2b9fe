/* SPDX-License-Identifier: BSD-3-Clause */
/* What makes a session one of its principal's on its shard. */
#ifndef NDD_SESSION_MEMBERSHIP_H
#define NDD_SESSION_MEMBERSHIP_H

#include <stdbool.h>

struct ndd;
struct ndd_session;

/* The session's shard and lcore are there. False: no memory. */
bool ndd_session_join(struct ndd_session *s);
/* Principals that the configuration names join all shards, and have their reserves from now on.
 * False: the log says which principal could not. */
bool ndd_principals_join(struct ndd *d);

#endif
