/* SPDX-License-Identifier: BSD-3-Clause */
/* Events for the host. Those that end a connection come last and once. */
#include <string.h>

#include "cm/event.h"
#include "cm/manager.h"

static void
event_queue(struct roce_cm *cm, struct roce_cm_conn *c, uint32_t events)
{
	if (c->events == 0 && events != 0)
		TAILQ_INSERT_TAIL(&cm->ev_queue, c, ev_entry);
	if (c->events != 0 && events == 0)
		TAILQ_REMOVE(&cm->ev_queue, c, ev_entry);
	c->events = (uint16_t)events;
}

void
cm_event_request(struct roce_cm *cm, struct roce_cm_conn *c, enum roce_cm_event_type type)
{
	event_queue(cm, c, CM_EVENT_BIT(type));
}

void
cm_event_forget(struct roce_cm *cm, struct roce_cm_conn *c)
{
	event_queue(cm, c, 0);
}

void
cm_event_raise(struct roce_cm *cm, struct roce_cm_conn *c, enum roce_cm_event_type type)
{
	if (!c->host_holds) {
		/* Destroyed, or a request that ended before the host saw it: the host knows no
		 * handle. */
		cm_event_forget(cm, c);
		return;
	}
	/* Whatever follows a REPLY that was not taken is an end: too late to complete. */
	event_queue(cm, c, (c->events & ~CM_EVENT_BIT(ROCE_CM_EV_REPLY)) | CM_EVENT_BIT(type));
}

static bool
event_is_request(enum roce_cm_event_type type)
{
	return type == ROCE_CM_EV_REQUEST || type == ROCE_CM_EV_SIDR_REQUEST;
}

static void
event_fill(struct roce_cm_event *ev, enum roce_cm_event_type type, struct roce_cm_conn *c)
{
	memset(ev, 0, sizeof(*ev));
	ev->type = type;
	ev->conn = c;
	ev->owner = event_is_request(type) ? c->listener->owner : c->owner;
	ev->local = c->local;
	ev->remote = c->remote;
	ev->port = c->port;
	ev->tos = c->tos;
	ev->hop_limit = c->hop_limit;
	ev->flow_label = c->flow_label;
	ev->mtu_code = c->mtu_code;
	ev->peer = c->peer;
	ev->ack_timeout = type == ROCE_CM_EV_REPLY ? c->reply_ack_timeout : c->ack_timeout;
	ev->q_key = c->q_key;
	if (type == ROCE_CM_EV_REJECTED || type == ROCE_CM_EV_SIDR_REPLY)
		ev->reason = c->ev_reason;
	if (type == ROCE_CM_EV_DISCONNECTED || type == ROCE_CM_EV_SIDR_REPLY) {
		ev->by_peer = c->ev_by_peer;
		ev->timed_out = c->ev_timed_out;
	}
	if (type == ROCE_CM_EV_UNREACHABLE || type == ROCE_CM_EV_SIDR_REPLY)
		ev->undelivered = c->ev_undelivered;
	if (event_is_request(type) || type == ROCE_CM_EV_REPLY || type == ROCE_CM_EV_REJECTED ||
		type == ROCE_CM_EV_SIDR_REPLY) {
		memcpy(ev->priv, c->in_priv, c->in_priv_bytes);
		ev->priv_bytes = c->in_priv_bytes;
	}
}

bool
roce_cm_event(struct roce_cm *cm, struct roce_cm_event *ev)
{
	struct roce_cm_conn *c = TAILQ_FIRST(&cm->ev_queue);
	enum roce_cm_event_type type = ROCE_CM_EV_REQUEST;

	if (c == NULL)
		return false;
	/* A connection's events in the order in which they can happen. */
	while ((c->events & CM_EVENT_BIT(type)) == 0)
		type++;
	event_fill(ev, type, c);
	event_queue(cm, c, c->events & ~CM_EVENT_BIT(type));
	if (event_is_request(type))
		c->host_holds = true;
	return true;
}

void
roce_cm_set_owner(struct roce_cm_conn *conn, void *owner)
{
	conn->owner = owner;
}
