/* SPDX-License-Identifier: BSD-3-Clause */
/* Adapters: what they are made of, and their end; open.c opens them. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ndclient/face/profile.h"
#include "ndclient/mem/admin.h"
#include "ndclient/mem/adopt.h"
#include "ndclient/mem/arena.h"
#include "ndclient/mem/mover.h"
#include "ndclient/mem/segment.h"
#include "ndclient/mem/window.h"
#include "ndclient/qp/handles.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/address.h"
#include "ndclient/session/callbacks.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/handlers.h"
#include "ndclient/session/object.h"
#include "ndclient/session/port.h"
#include "ndclient/session/socket.h"
#include "ndclient/session/verify.h"

static void
adapter_init(struct nd_adapter *a)
{
	pthread_mutex_init(&a->lock, NULL);
	pthread_mutex_init(&a->arena.lock, NULL);
	pthread_mutex_init(&a->admin.open_lock, NULL);
	pthread_mutex_init(&a->admin.lock, NULL);
	STAILQ_INIT(&a->admin.waiting);
	STAILQ_INIT(&a->admin.asked);
	pthread_mutex_init(&a->mover_lock, NULL);
	nd_adopt_init(a);
	LIST_INIT(&a->calls);
	LIST_INIT(&a->objects);
	TAILQ_INIT(&a->cqs);
	TAILQ_INIT(&a->srqs);
	TAILQ_INIT(&a->connectors);
	TAILQ_INIT(&a->listeners);
	TAILQ_INIT(&a->ahs);
	TAILQ_INIT(&a->ud_listeners);
	TAILQ_INIT(&a->closed_qps);
	TAILQ_INIT(&a->events);
	for (uint32_t i = 0; i < ND_CONN_BUCKETS; i++)
		LIST_INIT(&a->conns[i]);
	for (uint32_t i = 0; i < ND_MW_BUCKETS; i++)
		LIST_INIT(&a->mw_by_slot[i]);
}

struct nd_adapter *
nd_adapter_new(void)
{
	struct nd_adapter *a = aligned_alloc(NDSH_CACHE_LINE, sizeof(*a));

	if (a == NULL)
		return NULL;
	memset(a, 0, sizeof(*a));
	a->qps = calloc(1, sizeof(*a->qps)); /* large: what is not used is no memory */
	if (a->qps == NULL) {
		free(a);
		return NULL;
	}
	adapter_init(a);
	return a;
}

void
nd_adapter_free(struct nd_adapter *a)
{
	pthread_mutex_destroy(&a->mover_lock);
	pthread_mutex_destroy(&a->arena.lock);
	pthread_mutex_destroy(&a->lock);
	free(a->qps);
	free(a);
}

static void
free_arena(struct nd_arena *arena)
{
	struct nd_segment *seg;

	while ((seg = arena->first) != NULL) {
		arena->first = seg->next;
		munmap(seg->base, seg->extents.bytes);
		nd_extents_fini(&seg->extents);
		free(seg);
	}
}

void
nd_adapter_destroy(struct nd_adapter *a)
{
	nd_callbacks_stop(a); /* R-LIFE-10; they may call the daemon until then */
	nd_control_stop(a);
	__atomic_store_n(&a->gone, 1, __ATOMIC_RELEASE);
	nd_mover_stop(a);
	close(a->socket);
	close(a->wake_fd);
	(void)nd_adapter_cancel_events(a);
	nd_admin_end(a, ND_CANCELED);
	nd_mr_end_all(a);
	nd_objects_end(a);
	nd_admin_fini(a);
	nd_adopt_fini(a);
	free_arena(&a->arena);
	if (a->port != NULL)
		nd_port_release(a->port);
	nd_adapter_free(a);
}

nd_status
nd_adapter_query(struct nd_adapter *a, struct nd_adapter_info *info)
{
	if (a == NULL || info == NULL)
		return ND_INVALID_PARAMETER;
	*info = a->info;
	return nd_gone(a) ? ND_DEVICE_REMOVED : ND_SUCCESS;
}

nd_status
nd_adapter_close(struct nd_adapter *a)
{
	if (a == NULL)
		return ND_SUCCESS;
	/* It would wait for its own return, or for a callback that waits for this thread. */
	if (nd_in_callback()) {
		if (nd_verifying())
			nd_breach("R-LIFE-10", "an adapter is closed in a callback");
		return nd_fail(ND_INVALID_DEVICE_STATE, "an adapter can't be closed in a callback");
	}
	nd_adapter_destroy(a);
	return ND_SUCCESS;
}
