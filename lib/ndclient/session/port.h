/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion ports, as the requests that complete to them see them. */
#ifndef ND_PORT_H
#define ND_PORT_H

#include "ndclient/ndclient.h"

struct nd_packet;

/* The port is used by one more, or one less, adapter or request under way. */
void nd_port_hold(struct nd_port *port);
void nd_port_release(struct nd_port *port);
/* The packet that comes to the port when the request has its outcome; NULL: no memory. */
struct nd_packet *nd_packet_make(struct nd_port *port, void *key, struct nd_overlapped *ov);
void nd_packet_deliver(struct nd_packet *p, nd_status st);
/* The request has no outcome: the packet is freed instead. */
void nd_packet_drop(struct nd_packet *p);

#endif
