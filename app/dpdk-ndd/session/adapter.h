/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_ADAPTER_H
#define NDD_ADAPTER_H

#include "session/reply.h"

struct ndd_bell;
struct ndsh_session_page;

/* Each port of the daemon is an adapter, as long as the daemon lives. */
static inline uint64_t
ndd_adapter_id(uint32_t port)
{
	return (uint64_t)port + 1;
}

/* OPEN: from now on the session has an address, a port and a shard. */
ndd_handler ndd_adapter_open;
/* The first segment is live, and begins with the session page: its lcore polls it from now on.
 * False: it has no room. */
bool ndd_session_attach(struct ndd_session *s, struct ndsh_session_page *page);
/* A bell for an object of the session, and its file for the client, which is the caller's to close.
 * NULL: no descriptors, or no memory. */
struct ndd_bell *ndd_session_bell(struct ndd_session *s, int *client_end);
/* Its file is paid for again, as the object was until now, until it is closed. b may be NULL. */
void ndd_session_bell_free(struct ndd_session *s, struct ndd_bell *b);
/* The lcore has given the session up, or never had it: free the lcore's part, if there is one. */
void ndd_session_free_lcore(struct ndd_session *s);

#endif
