/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ndverbs/async.h"
#include "ndverbs/context.h"
#include "ndverbs/cq.h"
#include "ndverbs/domain.h"
#include "ndverbs/errors.h"
#include "ndverbs/object.h"
#include "ndverbs/permit.h"
#include "ndverbs/post.h"
#include "ndverbs/qp.h"
#include "ndverbs/query.h"
#include "ndverbs/unlisted.h"
#include "ndverbs/windows.h"

/* What programs call through the context, by inline functions of their header. What is NULL fails
 * there with EOPNOTSUPP. */
static void
fill_operations(struct verbs_context *v)
{
	v->sz = sizeof(*v);
	v->query_port = ndv_query_port;
	v->query_device_ex = ndv_query_device_ex;
	v->alloc_td = ndv_alloc_td;
	v->dealloc_td = ndv_dealloc_td;
	v->alloc_parent_domain = ndv_alloc_parent_domain;
	v->create_cq_ex = ndv_create_cq_ex;
	v->create_qp_ex = ndv_create_qp_ex;
	v->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	v->context.ops.alloc_mw = ndv_alloc_mw;
	v->context.ops.bind_mw = ndv_bind_mw;
	v->context.ops.dealloc_mw = ndv_dealloc_mw;
	v->context.ops.poll_cq = ndv_poll_cq;
	v->context.ops.req_notify_cq = ndv_req_notify_cq;
	v->context.ops.post_send = ndv_post_send;
	v->context.ops.post_recv = ndv_post_recv;
	v->context.ops.post_srq_recv = ndv_post_srq_recv;
}

struct ibv_context *
ibv_open_device(struct ibv_device *device)
{
	struct ndv_context *c = calloc(1, sizeof(*c));
	struct ibv_context *context;

	if (c == NULL)
		return ndv_null(ENOMEM);
	context = &c->verbs.context;
	fill_operations(&c->verbs);
	context->device = device;
	context->cmd_fd = -1;
	context->num_comp_vectors = 1;
	context->async_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	if (context->async_fd < 0) {
		free(c);
		return NULL;
	}
	pthread_mutex_init(&context->mutex, NULL);
	pthread_mutex_init(&c->lock, NULL);
	LIST_INIT(&c->cqs);
	LIST_INIT(&c->srqs);
	return context;
}

/* Ends what the program has left there. */
int
ibv_close_device(struct ibv_context *context)
{
	struct ndv_context *c = ndv_context(context);

	if (c->adapter != NULL) {
		ndv_permit_remove(c);
		(void)nd_adapter_close(c->adapter);
	}
	close(context->async_fd);
	pthread_mutex_destroy(&context->mutex);
	pthread_mutex_destroy(&c->lock);
	free(c);
	return 0;
}

static int
open_session(struct ndv_context *c)
{
	const struct sockaddr_storage *at = &ndv_device(c->verbs.context.device)->address;
	struct nd_adapter *adapter;
	nd_status st = nd_adapter_open((const struct sockaddr *)at, sizeof(*at), NULL, &adapter);

	if (st != ND_SUCCESS)
		return ndv_no_daemon(st);
	(void)nd_adapter_query(adapter, &c->info);
	__atomic_store_n(&c->adapter, adapter, __ATOMIC_RELEASE);
	ndv_permit_add(c);
	ndv_async_start(c);
	return 0;
}

int
ndv_session(struct ibv_context *context, struct ndv_context **out)
{
	struct ndv_context *c = ndv_context(context);
	int err = 0;

	*out = c;
	if (__atomic_load_n(&c->adapter, __ATOMIC_ACQUIRE) != NULL)
		return 0;
	pthread_mutex_lock(&c->lock);
	if (c->adapter == NULL)
		err = open_session(c);
	pthread_mutex_unlock(&c->lock);
	return err;
}

/* ---- what events are of --------------------------------------------------------------- */

void
ndv_context_add_cq(struct ndv_context *c, struct ndv_cq *cq)
{
	pthread_mutex_lock(&c->lock);
	LIST_INSERT_HEAD(&c->cqs, cq, in_context);
	pthread_mutex_unlock(&c->lock);
}

void
ndv_context_remove_cq(struct ndv_context *c, struct ndv_cq *cq)
{
	pthread_mutex_lock(&c->lock);
	LIST_REMOVE(cq, in_context);
	pthread_mutex_unlock(&c->lock);
}

void
ndv_context_add_srq(struct ndv_context *c, struct ndv_srq *srq)
{
	pthread_mutex_lock(&c->lock);
	LIST_INSERT_HEAD(&c->srqs, srq, in_context);
	pthread_mutex_unlock(&c->lock);
}

void
ndv_context_remove_srq(struct ndv_context *c, struct ndv_srq *srq)
{
	pthread_mutex_lock(&c->lock);
	LIST_REMOVE(srq, in_context);
	pthread_mutex_unlock(&c->lock);
}

void
ndv_context_forsake(struct ndv_context *c, struct ndv_qp *qp)
{
	pthread_mutex_lock(&c->lock);
	nd_qp_forsake(qp->nd);
	pthread_mutex_unlock(&c->lock);
}

/* ---- fork: a child has nothing of its parent's session, and memory needs no advice --------- */

int
ibv_fork_init(void)
{
	return 0;
}

enum ibv_fork_status
ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

int
ibv_dontfork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return 0;
}

int
ibv_dofork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return 0;
}
