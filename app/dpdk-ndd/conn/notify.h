/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client is told of its connections. */
#ifndef NDD_CONN_NOTIFY_H
#define NDD_CONN_NOTIFY_H

#include <stdint.h>

#include "shm/ndsh_status.h"

struct ndd_conn;
struct roce_cm_event;

/* Send the client an event, NDSH_EV_CONN_*; of a connection by numbers it is the kind of an EV_CM.
 * ev (may be NULL) has private data and reason. */
void ndd_conn_notify(
	struct ndd_conn *c, uint16_t type, enum ndsh_status status, const struct roce_cm_event *ev);

#endif
