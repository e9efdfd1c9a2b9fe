/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndverbs/permit.h"

#include <errno.h>
#include <pthread.h>

#include "ndclient/conn/numbers.h"
#include "ndverbs/context.h"
#include "ndverbs/errors.h"

/* Held while a session is asked, so that it is not closed meanwhile. */
static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, ndv_context) contexts;

void
ndv_permit_add(struct ndv_context *c)
{
	pthread_mutex_lock(&contexts_lock);
	LIST_INSERT_HEAD(&contexts, c, in_process);
	pthread_mutex_unlock(&contexts_lock);
}

void
ndv_permit_remove(struct ndv_context *c)
{
	pthread_mutex_lock(&contexts_lock);
	LIST_REMOVE(c, in_process);
	pthread_mutex_unlock(&contexts_lock);
}

int
ndv_permit(uint32_t number, struct ndsh_cm_permit *permit)
{
	nd_status st = ND_INVALID_HANDLE;
	const struct ndv_context *c;

	pthread_mutex_lock(&contexts_lock);
	LIST_FOREACH (c, &contexts, in_process) {
		st = nd_cm_permit(c->adapter, number, permit);
		if (st == ND_SUCCESS)
			break;
	}
	pthread_mutex_unlock(&contexts_lock);
	return st == ND_INVALID_HANDLE ? EINVAL : ndv_errno(st);
}
