/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagram services by numbers (shm/ndsh_msg_cm.h): lookups of a client, and requests of peers for
 * its services. Each is a connection until it is answered.
 */
#ifndef NDD_CONN_SERVICES_H
#define NDD_CONN_SERVICES_H

#include "session/reply.h"
#include "shm/ndsh_msg.h"

struct ndd;
struct ndd_conn;
struct ndd_qp;
struct roce_cm_event;

ndd_handler ndd_service_look_up;
/* The next hop of a lookup is known. */
void ndd_service_query(struct ndd_conn *c, uint64_t now_ns);
/* A SIDR_REQ came for a listener of services by numbers. */
void ndd_service_on_request(struct ndd *d, const struct roce_cm_event *ev);
/* The client's answers to it. qp NULL: the client may not name it. */
enum ndsh_status ndd_service_accept(
	struct ndd_conn *c, const struct ndd_qp *qp, const struct ndsh_cm_accept *m);
enum ndsh_status ndd_service_reject(struct ndd_conn *c, const struct ndsh_reject *m);

#endif
