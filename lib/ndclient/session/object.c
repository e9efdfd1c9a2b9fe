/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects: their holders, and their end. */
#include <stdlib.h>
#include <string.h>

#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndclient/session/object.h"
#include "ndclient/session/overlapped.h"

void
nd_object_open(struct nd_object *o, const struct nd_class *class, struct nd_adapter *a)
{
	*o = (struct nd_object){.class = class, .adapter = a, .holders = 1};
	pthread_mutex_lock(&a->lock);
	LIST_INSERT_HEAD(&a->objects, o, link);
	pthread_mutex_unlock(&a->lock);
}

void
nd_object_hold(struct nd_object *o)
{
	__atomic_fetch_add(&o->holders, 1, __ATOMIC_RELAXED);
}

bool
nd_object_let_go(struct nd_object *o)
{
	return __atomic_sub_fetch(&o->holders, 1, __ATOMIC_ACQ_REL) == 0;
}

void
nd_object_rest(struct nd_object *o, struct nd_object *on)
{
	if (on == NULL)
		return;
	for (int i = 0; i < ND_RESTS_MAX; i++) {
		if (o->rests_on[i] == NULL) {
			nd_object_hold(on);
			o->rests_on[i] = on;
			return;
		}
	}
	abort(); /* a class that rests on more than ND_RESTS_MAX */
}

bool
nd_object_forget(struct nd_adapter *a, enum ndsh_msg_type type, uint32_t id)
{
	return !nd_gone(a) && nd_control_id(a, type, id) == ND_SUCCESS;
}

/* Its nd_close() completes before that of the objects it rested on (R-LIFE-08). */
static void
take_down(struct nd_object *o, struct nd_object *rested_on[ND_RESTS_MAX])
{
	struct nd_adapter *a = o->adapter;
	struct nd_overlapped *close_request = o->close_request;

	memcpy(rested_on, o->rests_on, sizeof(o->rests_on));
	pthread_mutex_lock(&a->lock);
	LIST_REMOVE(o, link);
	pthread_mutex_unlock(&a->lock);
	o->class->destroy(o);
	if (close_request != NULL)
		nd_overlapped_end(close_request, ND_SUCCESS);
}

void
nd_object_end(struct nd_object *o)
{
	struct nd_object *rested_on[ND_RESTS_MAX];

	take_down(o, rested_on);
	for (int i = 0; i < ND_RESTS_MAX; i++)
		if (rested_on[i] != NULL)
			(void)nd_object_drop(rested_on[i]);
}

bool
nd_object_drop(struct nd_object *o)
{
	bool last = nd_object_let_go(o);

	if (last)
		nd_object_end(o);
	return last;
}

nd_status
nd_close(void *object, struct nd_overlapped *ov)
{
	struct nd_object *o = object;
	nd_status st;

	if (o == NULL)
		return ND_SUCCESS;
	if (ov != NULL) {
		st = nd_overlapped_begin(o->adapter, ov, __func__);
		if (st != ND_SUCCESS)
			return st;
	}
	pthread_mutex_lock(&o->adapter->lock);
	o->closed = true;
	o->close_request = ov;
	pthread_mutex_unlock(&o->adapter->lock);
	if (o->class->stop != NULL && o->class->stop(o))
		return ND_PENDING;
	return nd_object_drop(o) && ov == NULL ? ND_SUCCESS : ND_PENDING;
}

void
nd_objects_end(struct nd_adapter *a)
{
	struct nd_object *rested_on[ND_RESTS_MAX], *o;

	while ((o = LIST_FIRST(&a->objects)) != NULL) {
		if (!o->closed && o->class->stop != NULL)
			(void)o->class->stop(o);
		take_down(o, rested_on);
	}
}
