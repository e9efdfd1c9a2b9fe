/* SPDX-License-Identifier: BSD-3-Clause */
/* Local addresses that connectors share (R-LSN-07), and what clients say of local addresses. */
#ifndef NDD_ENDPOINT_H
#define NDD_ENDPOINT_H

#include "conn/ports.h"
#include "session/reply.h"

struct ndd_endpoint { /* an address and port that connections share */
	uint32_t id;
	struct ndd_port port;
};

/* The local address that a client names; the wildcard is that of its adapter. Returns the port that
 * has it; -1: it is not of this host, or not for this client. */
int ndd_local_address(struct ndd_session *s, const struct ndsh_addr *from, struct roce_cm_addr *to);
bool ndd_is_destination(const struct ndsh_addr *addr);
void ndd_bind_reply_fill(struct ndsh_bind_reply *r, const struct roce_cm_addr *addr);

#endif
