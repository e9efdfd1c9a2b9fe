/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ends of a connection, or of a datagram service and its user, by librdmacm, in one process and
 * on one device. */
#ifndef VERBS_CM_RIG_H
#define VERBS_CM_RIG_H

#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

#include "rig.h"

struct cm_rig {
	enum rdma_port_space space;
	struct rdma_event_channel *channel;
	struct sockaddr_storage address; /* of the device; port: the listener's */
	struct rdma_cm_id *listener;
	struct rdma_cm_id *here, *there; /* that connects; that was asked */
};

/* The device's address; at which a listener listens, at a port of its own. */
void cm_rig_open(struct cm_rig *r);
/* The same in that port space; cm_rig_open(): RDMA_PS_TCP. */
void cm_rig_open_in(struct cm_rig *r, enum rdma_port_space space);
void cm_rig_close(struct cm_rig *r);
struct rdma_cm_id *cm_rig_id(struct cm_rig *r);
/* Bind it there and listen. */
void cm_rig_listen(struct cm_rig *r, struct rdma_cm_id *id);
void cm_rig_set_port(struct cm_rig *r, uint16_t port);
/* The next event, which is of that type; acknowledge it later. */
struct rdma_cm_event *cm_rig_event(struct cm_rig *r, enum rdma_cm_event_type type);
/* The same, acknowledged at once. Returns its status. */
int cm_rig_expect(struct cm_rig *r, enum rdma_cm_event_type type);
/* The request that the listener gets becomes there. */
void cm_rig_asked(struct cm_rig *r);
/* here has a route to the address and a queue pair. */
void cm_rig_resolve(struct cm_rig *r);
void cm_rig_make_qp(struct rdma_cm_id *id);
/* Both ends are connected. */
void cm_rig_connect(struct cm_rig *r);
void cm_rig_disconnect(struct cm_rig *r);
/* Destroy here and there. */
void cm_rig_forget(struct cm_rig *r);

#endif
