/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndverbs/cm/cm.h"
#include "ndverbs/errors.h"

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, cm_session) sessions; /* guarded by cm_lock */

static struct cm_session *
find_session(const struct ndv_device *device)
{
	struct cm_session *s;

	pthread_mutex_lock(&cm_lock);
	LIST_FOREACH (s, &sessions, next)
		if (s->device == device && !s->gone)
			break;
	pthread_mutex_unlock(&cm_lock);
	return s;
}

static int
open_session(struct ndv_device *device, struct cm_session **out)
{
	const struct sockaddr *at = (const struct sockaddr *)&device->address;
	struct cm_session *s = calloc(1, sizeof(*s));
	nd_status st;

	if (s == NULL)
		return ENOMEM;
	s->base.on_event = cm_session_event;
	s->base.on_time = cm_timewait_over;
	s->device = device;
	LIST_INIT(&s->ports);
	LIST_INIT(&s->ids);
	TAILQ_INIT(&s->resting);
	st = nd_adapter_open(at, sizeof(device->address), NULL, &s->adapter);
	if (st == ND_SUCCESS) {
		st = nd_cm_start(s->adapter, &s->base);
		if (st != ND_SUCCESS)
			(void)nd_adapter_close(s->adapter);
	}
	if (st != ND_SUCCESS) {
		free(s);
		(void)ndv_no_daemon(st);
		return ENODEV;
	}
	pthread_mutex_lock(&cm_lock);
	LIST_INSERT_HEAD(&sessions, s, next);
	pthread_mutex_unlock(&cm_lock);
	*out = s;
	return 0;
}

/* They live as long as the process, as librdmacm's devices do. */
int
cm_session_get(struct ndv_device *device, struct cm_session **out)
{
	int err = 0;

	pthread_mutex_lock(&opening);
	*out = find_session(device);
	if (*out == NULL)
		err = open_session(device, out);
	pthread_mutex_unlock(&opening);
	return err;
}

void
cm_session_enter(struct cm_session *s, struct cm_id *id, uint32_t conn)
{
	id->session = s;
	id->conn = conn;
	LIST_INSERT_HEAD(&s->ids, id, in_session);
}

/* ---- events: in the control thread -------------------------------------------------------- */

static struct cm_id *
find_listener(const struct cm_session *s, uint32_t listener)
{
	const struct cm_port *p;

	LIST_FOREACH (p, &s->ports, in_session)
		if (p->listener == listener)
			return p->id;
	return NULL;
}

static struct cm_id *
find_connection(const struct cm_session *s, uint32_t conn)
{
	struct cm_id *id;

	LIST_FOREACH (id, &s->ids, in_session)
		if (id->conn == conn)
			return id;
	return NULL;
}

static void
keep_peer(struct cm_id *id, const struct ndsh_ev_cm *ev)
{
	id->peer = *ev;
	id->has_peer = true;
}

/* False: the listener is gone, or there is no memory, or no number, for it. */
static bool
take_request(struct cm_session *s, const struct ndsh_ev_cm *ev)
{
	struct cm_id *listener = find_listener(s, ev->listener), *id;

	if (listener == NULL || cm_state(listener) != CM_LISTENING || listener->destroyed)
		return false;
	id = cm_id_new(listener->file);
	if (id == NULL)
		return false;
	if (!cm_event_request(listener, id, ev)) {
		cm_id_undo(id);
		return false;
	}
	cm_set_state(id, CM_REQUESTED);
	id->datagrams = listener->datagrams;
	id->device = s->device;
	id->local = ev->local;
	id->remote = ev->remote;
	id->tos = ev->tos;
	keep_peer(id, ev);
	cm_session_enter(s, id, ev->conn);
	return true;
}

/* A request that the program will not hear of is the daemon's to reject. If the daemon can't be
 * told now, the peer waits until its own time is up. */
static void
on_request(struct cm_session *s, const struct ndsh_ev_cm *ev)
{
	const struct ndsh_id_msg m = {.h.type = NDSH_MSG_CONN_DESTROY, .id = ev->conn};

	if (!take_request(s, ev))
		(void)nd_control_tell(s->adapter, &m.h);
}

/* As errnos of the kernel; the peer's own word comes first. For a service that is refused the
 * kernel has no event of its own: it is not reached, with the status of the SIDR reply. */
static void
raise_failure(struct cm_id *id, const struct ndsh_ev_cm *ev)
{
	int status;

	cm_set_state(id, CM_OVER);
	if (ev->reject_reason != 0) {
		cm_event_raise(id, id->datagrams ? CM_EV_UNREACHABLE : CM_EV_REJECTED,
			(int)ev->reject_reason, ev);
		return;
	}
	switch (ev->h.status) {
	case NDSH_ERR_HOST_UNREACHABLE:
		status = -EHOSTUNREACH;
		break;
	case NDSH_ERR_NETWORK_UNREACHABLE:
		status = -ENETUNREACH;
		break;
	case NDSH_ERR_REFUSED:
		status = -ECONNREFUSED;
		break;
	case NDSH_ERR_NO_RESOURCES:
		status = -ENOMEM;
		break;
	default:
		status = -ETIMEDOUT;
	}
	cm_event_raise(id, CM_EV_UNREACHABLE, status, ev);
}

static void
on_reply(struct cm_id *id, const struct ndsh_ev_cm *ev)
{
	if (ev->h.status != NDSH_OK) {
		raise_failure(id, ev);
		return;
	}
	keep_peer(id, ev);
	cm_set_state(id, id->datagrams ? CM_ESTABLISHED : CM_REPLIED);
	cm_event_raise(id, id->datagrams ? CM_EV_ESTABLISHED : CM_EV_CONNECT_RESPONSE, 0, ev);
}

static void
on_established(struct cm_id *id, const struct ndsh_ev_cm *ev)
{
	if (ev->h.status != NDSH_OK) {
		raise_failure(id, ev);
		return;
	}
	cm_set_state(id, CM_ESTABLISHED);
	cm_event_raise(id, CM_EV_ESTABLISHED, 0, ev);
}

static void
on_disconnected(struct cm_id *id, const struct ndsh_ev_cm *ev)
{
	const enum cm_state before = cm_state(id);

	cm_set_state(id, CM_OVER);
	if (before == CM_REPLIED && ev->h.status == NDSH_ERR_ABORTED) {
		cm_event_raise(id, CM_EV_REJECTED, -ECONNABORTED, ev);
		return;
	}
	cm_event_raise(
		id, CM_EV_DISCONNECTED, ev->h.status == NDSH_UNANSWERED ? -ETIMEDOUT : 0, ev);
	cm_timewait_begin(id, ev->ack_timeout);
}

static void
dispatch_event(struct cm_session *s, const struct ndsh_ev_cm *ev)
{
	struct cm_id *id;

	if (ev->kind == NDSH_EV_CONN_REQUEST) {
		on_request(s, ev);
		return;
	}
	id = find_connection(s, ev->conn);
	if (id == NULL)
		return;
	switch (ev->kind) {
	case NDSH_EV_CONN_REPLY:
		on_reply(id, ev);
		break;
	case NDSH_EV_CONN_ESTABLISHED:
		on_established(id, ev);
		break;
	case NDSH_EV_CONN_DISCONNECTED:
		on_disconnected(id, ev);
		break;
	default:
		break;
	}
}

/* The daemon is gone, and with it the device. */
static void
tell_removal(struct cm_session *s)
{
	struct cm_port *p;
	struct cm_id *id;

	s->gone = true;
	LIST_FOREACH (p, &s->ports, in_session)
		cm_event_raise(p->id, CM_EV_DEVICE_REMOVAL, 0, NULL);
	LIST_FOREACH (id, &s->ids, in_session)
		if (LIST_EMPTY(&id->ports)) /* else it was told */
			cm_event_raise(id, CM_EV_DEVICE_REMOVAL, 0, NULL);
}

void
cm_session_event(struct nd_cm *cm, const struct ndsh_ev_cm *ev)
{
	struct cm_session *s = (struct cm_session *)cm;

	pthread_mutex_lock(&cm_lock);
	if (ev != NULL)
		dispatch_event(s, ev);
	else
		tell_removal(s);
	pthread_mutex_unlock(&cm_lock);
}
