/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm/listener.h"
#include "cm/codec.h"
#include "cm/manager.h"
#include "cm/message.h"

static bool
gid_is_any(const struct roce_gid *gid)
{
	static const struct roce_gid any;

	return roce_gid_equal(gid, &any);
}

/* The wildcard never spans the host's ports: each is an adapter (R-LSN-01). */
static bool
listener_has(const struct roce_cm_listener *l, const struct roce_gid *gid, uint32_t nic)
{
	return l->nic == nic &&
	       (gid_is_any(&l->addr.gid) || gid_is_any(gid) || roce_gid_equal(&l->addr.gid, gid));
}

/* There are as many as listeners: whichever ports a client chooses, few of them meet in one. */
static struct cm_listener_list *
listener_bucket(struct roce_cm *cm, uint16_t port)
{
	return &cm->listeners[port & cm->listener_mask];
}

struct roce_cm_listener *
cm_listen_at(struct roce_cm *cm, uint64_t service, const struct roce_cm_addr *addr, uint32_t nic,
	uint32_t backlog, void *owner, const char **why)
{
	struct cm_listener_list *bucket = listener_bucket(cm, addr->port);
	struct roce_cm_listener *l;
	const char *dummy;

	if (why == NULL)
		why = &dummy;
	LIST_FOREACH (l, bucket, entry) {
		if (l->service == service && listener_has(l, &addr->gid, nic)) {
			*why = "address in use";
			return NULL;
		}
	}
	l = LIST_FIRST(&cm->free_listeners);
	if (l == NULL) {
		*why = "no room for one more listener";
		return NULL;
	}
	LIST_REMOVE(l, entry);
	*l = (struct roce_cm_listener){
		.service = service,
		.addr = *addr,
		.nic = nic,
		.backlog = backlog != 0 ? backlog : ROCE_CM_BACKLOG,
		.serial = ++cm->next_listener,
		.owner = owner,
	};
	LIST_INSERT_HEAD(bucket, l, entry);
	cm->usage.listeners++;
	return l;
}

struct roce_cm_listener *
roce_cm_listen(struct roce_cm *cm, const struct roce_cm_addr *addr, uint32_t nic, uint32_t backlog,
	void *owner, const char **why)
{
	return cm_listen_at(cm, cm_service_id(addr->port), addr, nic, backlog, owner, why);
}

void
roce_cm_listener_of(struct roce_cm_listener *l, uint32_t user)
{
	l->user = (uint16_t)(user % CM_USERS);
}

void
roce_cm_listener_pause(struct roce_cm_listener *l, bool pause)
{
	l->paused = pause;
}

struct roce_cm_listener *
cm_find_listener(struct roce_cm *cm, const struct cm_in *in)
{
	const uint16_t port = (uint16_t)in->mad.service_id;
	struct roce_cm_listener *l;

	LIST_FOREACH (l, listener_bucket(cm, port), entry) {
		if (l->service == in->mad.service_id && listener_has(l, &in->local, in->port))
			return l;
	}
	return NULL;
}

void
cm_listener_add(struct roce_cm_listener *l, struct roce_cm_conn *c)
{
	c->listener = l;
	l->pending++;
	LIST_INSERT_HEAD(&l->requests, c, list_entry);
}

bool
cm_listener_is_full(const struct roce_cm_listener *l)
{
	return l->pending >= l->backlog;
}

void
cm_listener_put(struct roce_cm *cm, struct roce_cm_listener *l)
{
	LIST_REMOVE(l, entry);
	LIST_INSERT_HEAD(&cm->free_listeners, l, entry);
	cm->usage.listeners--;
}
