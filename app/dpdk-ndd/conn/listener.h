/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_LISTENER_H
#define NDD_LISTENER_H

#include "conn/ports.h"
#include "session/reply.h"

struct roce_cm_listener;

struct ndd_listener {
	uint32_t id;
	struct ndd_session *session;
	struct roce_cm_listener *cm; /* NULL: bound, and does not listen */
	struct ndd_port port;
	bool datagrams;	 /* of datagram services */
	bool by_numbers; /* its connections are (conn/numbers.h), or requests (conn/services.h) */
};

ndd_handler ndd_ud_listener_create, ndd_listener_bind, ndd_listener_listen, ndd_listener_pause,
	ndd_cm_listen, ndd_cm_ud_bind;
/* Connections or lookups may begin there: it is bound to one address, and does not listen. */
bool ndd_listener_is_source(const struct ndd_listener *l);

#endif
