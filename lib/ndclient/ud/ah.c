/* SPDX-License-Identifier: BSD-3-Clause */
/* Address handles: where datagrams go, and which service is there. */
#include <stdlib.h>
#include <string.h>

#include "ndclient/face/status.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/address.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/futex.h"
#include "ndclient/session/object.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/session/private_data.h"
#include "ndclient/ud/ah.h"
#include "ndclient/ud/group.h"
#include "ndclient/ud/ud.h"

nd_status
nd_ah_create(struct nd_adapter *a, struct nd_ah **out)
{
	struct nd_ah *ah;
	nd_status st;

	if (a == NULL || out == NULL)
		return ND_INVALID_PARAMETER;
	*out = ah = nd_ud_new(a, sizeof(*ah), __func__, &st);
	if (ah == NULL)
		return st;
	ah->adapter = a;
	nd_object_open(&ah->obj, &nd_ah_class, a);
	pthread_mutex_lock(&a->lock);
	TAILQ_INSERT_TAIL(&a->ahs, ah, link);
	pthread_mutex_unlock(&a->lock);
	return ND_SUCCESS;
}

static void
ah_set_state(struct nd_ah *ah, enum nd_ah_state state)
{
	__atomic_store_n(&ah->state, state, __ATOMIC_RELEASE);
}

/* The request under way is over; lock held. */
static void
ah_conclude(struct nd_ah *ah, nd_status st)
{
	struct nd_overlapped *op = ah->op;

	ah->op = NULL;
	if (op != NULL)
		nd_overlapped_end(op, st);
}

/* Forget the daemon's half, of an attempt that came to nothing. Lock not held. */
static void
ah_drop_id(struct nd_ah *ah)
{
	struct nd_adapter *a = ah->adapter;
	bool had;

	pthread_mutex_lock(&a->lock);
	had = ah->has_id;
	ah->has_id = false;
	pthread_mutex_unlock(&a->lock);
	if (had)
		(void)nd_object_forget(a, NDSH_MSG_AH_DESTROY, ah->token);
}

/* ---- asking -------------------------------------------------------------------------- */

struct pending {
	struct nd_ah *ah;
	struct nd_overlapped *ov;
};

/* In the control thread, so that the event finds the id. */
static nd_status
create_hook(void *arg, nd_status st, const void *reply)
{
	struct pending *p = arg;
	struct nd_ah *ah = p->ah;

	if (st == ND_SUCCESS) {
		ah->token = ((const struct ndsh_id_msg *)reply)->id;
		ah->has_id = true;
		ah->op = p->ov;
	} else {
		ah_set_state(ah, ND_AH_IDLE);
	}
	ah->calls--;
	nd_futex_wake(&ah->calls);
	return st;
}

static nd_status
ah_begin(struct nd_ah *ah, struct ndsh_ah_create *m, const struct sockaddr *remote, socklen_t bytes,
	struct nd_overlapped *ov, const char *call)
{
	struct nd_adapter *a = ah->adapter;
	struct pending p = {.ah = ah, .ov = ov};
	nd_status st;
	bool idle;

	if (ov == NULL)
		return ND_INVALID_PARAMETER;
	m->h.type = NDSH_MSG_AH_CREATE;
	if (!nd_address_from(&m->remote, remote, bytes))
		return nd_fail(ND_INVALID_ADDRESS, "not an IPv4 or IPv6 address");
	if (nd_address_is_any(&m->remote))
		return nd_fail(ND_BAD_NETWORK_NAME, "the wildcard address is no destination");
	if (m->look_up != 0 && nd_is_group(&m->remote))
		return nd_fail(ND_BAD_NETWORK_NAME, "a multicast group has no services");
	st = nd_overlapped_begin(a, ov, call);
	if (st != ND_SUCCESS)
		return st;
	pthread_mutex_lock(&a->lock);
	idle = ah->state == ND_AH_IDLE;
	if (idle) {
		ah->group = nd_is_group(&m->remote);
		ah_set_state(ah, ND_AH_BUSY);
		ah->has_service = false;
		ah->calls++;
	}
	pthread_mutex_unlock(&a->lock);
	if (!idle)
		return nd_overlapped_issued(ov, ND_ADDRESS_ALREADY_ASSOCIATED);
	ah_drop_id(ah);
	st = nd_control_call(a, &(struct nd_request){.h = &m->h, .hook = create_hook, .arg = &p});
	return nd_overlapped_issued(ov, st == ND_SUCCESS ? ND_PENDING : st);
}

nd_status
nd_ah_resolve(
	struct nd_ah *ah, const struct sockaddr *remote, socklen_t bytes, struct nd_overlapped *ov)
{
	struct ndsh_ah_create m = {.look_up = 0};

	return ah_begin(ah, &m, remote, bytes, ov, __func__);
}

nd_status
nd_ah_look_up(struct nd_ah *ah, const struct sockaddr *remote, socklen_t bytes, const void *priv,
	uint32_t priv_bytes, struct nd_overlapped *ov)
{
	struct ndsh_ah_create m = {.look_up = 1};
	nd_status st;

	static_assert(NDSH_LOOKUP_DATA_MAX == ND_UD_LOOKUP_DATA, "the public header's");
	st = nd_private_data_put(priv, priv_bytes, ND_UD_LOOKUP_DATA, m.priv, &m.priv_bytes);
	if (st != ND_SUCCESS)
		return st;
	return ah_begin(ah, &m, remote, bytes, ov, __func__);
}

static void
ah_keep_service(struct nd_ah *ah, const struct ndsh_ev_ah *ev)
{
	struct nd_ud_service *s = &ah->service;

	static_assert(sizeof(s->private_data) == sizeof(ev->priv), "the public header's");
	s->qp = ev->qpn;
	s->q_key = ev->q_key;
	s->status = ev->sidr_status;
	s->private_bytes =
		ev->priv_bytes < sizeof(s->private_data) ? ev->priv_bytes : sizeof(s->private_data);
	memcpy(s->private_data, ev->priv, sizeof(s->private_data));
	ah->has_service = s->qp != 0 || s->status != 0;
}

void
nd_ah_event(struct nd_adapter *a, const struct ndsh_ev_ah *ev)
{
	nd_status st = nd_status_of_daemon(ev->h.status);
	struct nd_ah *ah;

	TAILQ_FOREACH (ah, &a->ahs, link)
		if (ah->has_id && ah->token == ev->ah)
			break;
	if (ah == NULL || ah->state == ND_AH_IDLE) /* canceled while the event was on its way */
		return;
	if (ah->state == ND_AH_READY) { /* its way was taken away */
		if (st != ND_SUCCESS)
			ah_set_state(ah, ND_AH_IDLE);
		return;
	}
	ah_keep_service(ah, ev);
	ah_set_state(ah, st == ND_SUCCESS ? ND_AH_READY : ND_AH_IDLE);
	ah_conclude(ah, st);
}

nd_status
nd_ah_service(struct nd_ah *ah, struct nd_ud_service *service)
{
	nd_status st = ND_ADDRESS_NOT_ASSOCIATED;

	pthread_mutex_lock(&ah->adapter->lock);
	if (ah->has_service) {
		*service = ah->service;
		st = ND_SUCCESS;
	}
	pthread_mutex_unlock(&ah->adapter->lock);
	return st;
}

/* ---- ends ---------------------------------------------------------------------------- */

nd_status
nd_ah_cancel(struct nd_ah *ah)
{
	struct nd_adapter *a = ah->adapter;
	uint32_t calls;
	bool abandon;

	pthread_mutex_lock(&a->lock);
	while ((calls = ah->calls) != 0) { /* also requests that have not been answered yet */
		pthread_mutex_unlock(&a->lock);
		(void)nd_futex_wait(&ah->calls, calls, UINT64_MAX);
		pthread_mutex_lock(&a->lock);
	}
	abandon = ah->state == ND_AH_BUSY;
	if (abandon)
		ah_set_state(ah, ND_AH_IDLE);
	ah_conclude(ah, ND_CANCELED);
	pthread_mutex_unlock(&a->lock);
	if (abandon)
		ah_drop_id(ah);
	return ND_SUCCESS;
}

static bool
ah_stop(struct nd_object *o)
{
	struct nd_ah *ah = (struct nd_ah *)o;

	(void)nd_ah_cancel(ah);
	pthread_mutex_lock(&o->adapter->lock);
	TAILQ_REMOVE(&o->adapter->ahs, ah, link);
	pthread_mutex_unlock(&o->adapter->lock);
	return false;
}

static void
ah_destroy(struct nd_object *o)
{
	struct nd_ah *ah = (struct nd_ah *)o;

	ah_drop_id(ah);
	free(ah);
}

const struct nd_class nd_ah_class = {.stop = ah_stop, .destroy = ah_destroy};

nd_status
nd_ah_close(struct nd_ah *ah)
{
	return nd_close(ah, NULL);
}

void
nd_ah_end_waiters(struct nd_adapter *a, nd_status st)
{
	struct nd_ah *ah;

	TAILQ_FOREACH (ah, &a->ahs, link)
		ah_conclude(ah, st);
}
