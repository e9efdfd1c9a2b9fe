/* SPDX-License-Identifier: BSD-3-Clause */
/* What listeners of connections and of datagram services have in common. */
#ifndef ND_LISTENING_H
#define ND_LISTENING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_msg.h"

struct nd_listening {	/* guarded by nd_adapter.lock */
	bool busy;	/* is about to be bound, or to listen */
	bool bound, on; /* the daemon knows it, as id; it listens, too */
	uint32_t id;
	struct ndsh_addr local;
};

/* Outcomes as of nd_listener_bind(). */
nd_status nd_listening_bind(
	struct nd_adapter *a, struct nd_listening *l, const struct sockaddr *addr, socklen_t bytes);
/* What is bound listens. */
nd_status nd_listening_listen(struct nd_adapter *a, struct nd_listening *l, uint32_t backlog);
/* Bind to addr and listen, by one message of that type; outcomes as of nd_listener_listen(). */
nd_status nd_listening_start(struct nd_adapter *a, struct nd_listening *l, enum ndsh_msg_type type,
	const struct sockaddr *addr, socklen_t bytes, uint32_t backlog);
/* The daemon forgets it. */
void nd_listening_stop(struct nd_adapter *a, const struct nd_listening *l);
nd_status nd_listening_address(struct nd_adapter *a, const struct nd_listening *l,
	struct sockaddr *addr, socklen_t *bytes);

#endif
