/* SPDX-License-Identifier: BSD-3-Clause */
#include "rigs/lone_adapter.h"

#include <stdlib.h>
#include <string.h>

#include "ndclient/session/adapter.h"

struct nd_adapter *
lone_adapter_new(void)
{
	struct nd_adapter *a = aligned_alloc(64, sizeof(*a));

	memset(a, 0, sizeof(*a));
	pthread_mutex_init(&a->lock, NULL);
	a->abi_minor = NDSH_ABI_MINOR;
	TAILQ_INIT(&a->cqs);
	TAILQ_INIT(&a->srqs);
	TAILQ_INIT(&a->connectors);
	TAILQ_INIT(&a->listeners);
	TAILQ_INIT(&a->ahs);
	TAILQ_INIT(&a->ud_listeners);
	TAILQ_INIT(&a->closed_qps);
	TAILQ_INIT(&a->events);
	pthread_mutex_init(&a->admin.lock, NULL);
	STAILQ_INIT(&a->admin.asked);
	STAILQ_INIT(&a->admin.waiting);
	return a;
}
