/* SPDX-License-Identifier: BSD-3-Clause */
/* What listeners of connections and of datagram services have in common. */
#ifndef ND_LISTENING_H
#define ND_LISTENING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_msg.h"

struct nd_listening {  /* guarded by nd_adapter.lock */
	bool busy, on; /* busy: is about to */
	uint32_t id;
	struct ndsh_addr local;
};

/* Listen at addr by a message of that type; outcomes as of nd_listener_listen(). */
nd_status nd_listening_start(struct nd_adapter *a, struct nd_listening *l, enum ndsh_msg_type type,
	const struct sockaddr *addr, socklen_t bytes, uint32_t backlog);
nd_status nd_listening_address(struct nd_adapter *a, const struct nd_listening *l,
	struct sockaddr *addr, socklen_t *bytes);

#endif
