/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion channels. The descriptor is a semaphore that counts the queues in the list of those
 * with an event: so poll() says readable exactly while there is one to take, and O_NONBLOCK is the
 * program's to set. A queue has one event at a time: it is armed anew for the next.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ndverbs/cq.h"
#include "ndverbs/errors.h"
#include "ndverbs/counter.h"

struct ibv_comp_channel *
ibv_create_comp_channel(struct ibv_context *context)
{
	struct ndv_channel *channel = calloc(1, sizeof(*channel));

	if (channel == NULL)
		return ndv_null(ENOMEM);
	channel->base.context = context;
	channel->base.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	if (channel->base.fd < 0) {
		free(channel);
		return NULL;
	}
	pthread_mutex_init(&channel->lock, NULL);
	TAILQ_INIT(&channel->due);
	return &channel->base;
}

int
ibv_destroy_comp_channel(struct ibv_comp_channel *base)
{
	struct ndv_channel *channel = ndv_channel(base);

	if (__atomic_load_n(&base->refcnt, __ATOMIC_ACQUIRE) != 0)
		return EBUSY;
	close(base->fd);
	pthread_mutex_destroy(&channel->lock);
	free(channel);
	return 0;
}

void
ndv_channel_put(struct ndv_cq *cq)
{
	struct ndv_channel *channel = ndv_channel(cq->base.channel);

	pthread_mutex_lock(&channel->lock);
	if (!cq->is_due) {
		cq->is_due = true;
		TAILQ_INSERT_TAIL(&channel->due, cq, in_due);
		ndv_counter_up(channel->base.fd);
	}
	pthread_mutex_unlock(&channel->lock);
}

/* A thread may have taken the semaphore and not yet looked: it finds the list empty and waits
 * again. */
void
ndv_channel_forget(struct ndv_cq *cq)
{
	struct ndv_channel *channel = ndv_channel(cq->base.channel);

	pthread_mutex_lock(&channel->lock);
	if (cq->is_due) {
		TAILQ_REMOVE(&channel->due, cq, in_due);
		(void)ndv_counter_try(channel->base.fd);
	}
	pthread_mutex_unlock(&channel->lock);
}

static struct ndv_cq *
channel_take(struct ndv_channel *channel)
{
	struct ndv_cq *cq;

	pthread_mutex_lock(&channel->lock);
	cq = TAILQ_FIRST(&channel->due);
	if (cq != NULL) {
		TAILQ_REMOVE(&channel->due, cq, in_due);
		cq->is_due = false;
		pthread_mutex_lock(&cq->base.mutex);
		cq->told++;
		pthread_mutex_unlock(&cq->base.mutex);
	}
	pthread_mutex_unlock(&channel->lock);
	return cq;
}

int
ibv_get_cq_event(struct ibv_comp_channel *base, struct ibv_cq **out, void **cq_context)
{
	struct ndv_cq *cq;

	do {
		if (!ndv_counter_down(base->fd))
			return -1;
		cq = channel_take(ndv_channel(base));
	} while (cq == NULL);
	*out = &cq->base;
	*cq_context = cq->base.cq_context;
	return 0;
}

void
ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += nevents;
	pthread_cond_signal(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}
