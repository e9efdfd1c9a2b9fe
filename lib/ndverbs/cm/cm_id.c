/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndverbs/cm/cm.h"

#define HANDLES	 65536u /* librdmacm's table has no more */
#define PSN_MASK 0xffffffu

static struct cm_id *by_handle[HANDLES];
static uint32_t next_handle; /* not the one that was free last: events may name it */

static bool
take_handle(struct cm_id *id)
{
	for (uint32_t n = 0; n < HANDLES; n++) {
		const uint32_t h = next_handle++ % HANDLES;

		if (by_handle[h] == NULL) {
			by_handle[h] = id;
			id->handle = h;
			return true;
		}
	}
	return false;
}

struct cm_id *
cm_id_new(struct cm_file *f)
{
	struct cm_id *id = calloc(1, sizeof(*id));

	if (id == NULL)
		return NULL;
	if (getrandom(&id->psn, sizeof(id->psn), 0) != sizeof(id->psn) || !take_handle(id)) {
		free(id);
		return NULL;
	}
	id->psn &= PSN_MASK;
	id->refs = 1;
	id->file = f;
	pthread_mutex_init(&id->command, NULL);
	LIST_INIT(&id->ports);
	LIST_INIT(&id->joins);
	LIST_INSERT_HEAD(&f->ids, id, in_file);
	return id;
}

void
cm_id_undo(struct cm_id *id)
{
	by_handle[id->handle] = NULL;
	LIST_REMOVE(id, in_file);
	pthread_mutex_destroy(&id->command);
	free(id);
}

struct cm_id *
cm_id_begin(struct cm_file *f, uint32_t handle)
{
	struct cm_id *id;

	pthread_mutex_lock(&cm_lock);
	id = handle < HANDLES ? by_handle[handle] : NULL;
	if (id != NULL && id->file != f)
		id = NULL;
	if (id != NULL)
		id->refs++;
	pthread_mutex_unlock(&cm_lock);
	if (id == NULL)
		return NULL;
	pthread_mutex_lock(&id->command);
	if (!id->destroyed)
		return id;
	cm_id_end(id);
	return NULL;
}

static void
id_put(struct cm_id *id)
{
	bool last;

	pthread_mutex_lock(&cm_lock);
	last = --id->refs == 0;
	pthread_mutex_unlock(&cm_lock);
	if (!last)
		return;
	pthread_mutex_destroy(&id->command);
	free(id);
}

void
cm_id_end(struct cm_id *id)
{
	pthread_mutex_unlock(&id->command);
	id_put(id);
}

/* ---- its end ------------------------------------------------------------------------------ */

static struct cm_port *
port_take(struct cm_id *id)
{
	struct cm_port *p;

	pthread_mutex_lock(&cm_lock);
	p = LIST_FIRST(&id->ports);
	if (p != NULL) {
		LIST_REMOVE(p, in_id);
		LIST_REMOVE(p, in_session);
	}
	pthread_mutex_unlock(&cm_lock);
	return p;
}

void
cm_id_release(struct cm_id *id)
{
	struct cm_session *s;
	struct cm_port *p;

	while ((p = port_take(id)) != NULL) {
		(void)nd_control_id(p->session->adapter, NDSH_MSG_LISTENER_DESTROY, p->listener);
		free(p);
	}
	pthread_mutex_lock(&cm_lock);
	s = id->session;
	if (s != NULL) {
		LIST_REMOVE(id, in_session);
		cm_timewait_forget(id);
	}
	id->session = NULL;
	pthread_mutex_unlock(&cm_lock);
	if (s != NULL)
		(void)nd_control_id(s->adapter, NDSH_MSG_CONN_DESTROY, id->conn);
}

/* Requests that a listener has and the program was not told of. */
static void
drop_requests(struct cm_id *listener)
{
	struct cm_event *e, *next;
	struct cm_id *requests[64];
	unsigned count;

	do {
		count = 0;
		pthread_mutex_lock(&cm_lock);
		for (e = TAILQ_FIRST(&listener->file->events); e != NULL && count < 64; e = next) {
			next = TAILQ_NEXT(e, next);
			if (e->id != listener || e->request == NULL)
				continue;
			requests[count] = e->request;
			requests[count++]->refs++;
			e->request = NULL;
		}
		pthread_mutex_unlock(&cm_lock);
		for (unsigned i = 0; i < count; i++) {
			pthread_mutex_lock(&requests[i]->command);
			(void)cm_id_destroy(requests[i]);
			cm_id_end(requests[i]);
		}
	} while (count == 64);
}

uint32_t
cm_id_destroy(struct cm_id *id)
{
	uint32_t reported;

	if (id->destroyed)
		return 0;
	pthread_mutex_lock(&cm_lock);
	id->destroyed = true;
	pthread_mutex_unlock(&cm_lock);
	cm_id_release(id);
	drop_requests(id);
	pthread_mutex_lock(&cm_lock);
	cm_events_drop(id, NULL);
	cm_joins_end(id);
	by_handle[id->handle] = NULL;
	LIST_REMOVE(id, in_file);
	reported = id->reported;
	pthread_mutex_unlock(&cm_lock);
	id_put(id);
	return reported;
}
