/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens to connectors by itself. nd_adapter.lock held. */
#ifndef ND_CONNECTOR_EVENT_H
#define ND_CONNECTOR_EVENT_H

#include "ndclient/ndclient.h"
#include "shm/ndsh_msg.h"

struct nd_conn_request;

/* The daemon tells of a connection; by the control thread. */
void nd_conn_event(struct nd_adapter *a, const struct ndsh_ev_conn *ev);
/* Put a request of the listener into an idle or queued connector, which keeps the listener until it
 * is closed (R-LSN-08). */
void nd_conn_take_request(
	struct nd_listener *l, struct nd_connector *c, const struct nd_conn_request *r);

#endif
