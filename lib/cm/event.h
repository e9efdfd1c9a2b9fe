/* SPDX-License-Identifier: BSD-3-Clause */
/* Events for the host: which a connection has raised, and their queue. */
#ifndef CM_EVENT_H
#define CM_EVENT_H

#include "cm/cm.h"

void cm_event_raise(struct roce_cm *cm, struct roce_cm_conn *c, enum roce_cm_event_type type);
/* type: REQUEST or SIDR_REQUEST. The host takes the handle together with the event. */
void cm_event_request(struct roce_cm *cm, struct roce_cm_conn *c, enum roce_cm_event_type type);
void cm_event_forget(struct roce_cm *cm, struct roce_cm_conn *c);
/* The ends among events: 1 << enum roce_cm_event_type. */
#define CM_EVENT_BIT(type) (1u << (type))
#define CM_EVENT_ENDS                                                                              \
	(CM_EVENT_BIT(ROCE_CM_EV_REJECTED) | CM_EVENT_BIT(ROCE_CM_EV_UNREACHABLE) |                \
		CM_EVENT_BIT(ROCE_CM_EV_DISCONNECTED))

#endif
