/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/closer.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "session/seat.h"

struct ndd_closer {
	pthread_t thread;
	pthread_mutex_t lock; /* held for some instructions only: the control thread takes it */
	pthread_cond_t given;
	bool stop;
	uint32_t n;		       /* to be closed */
	struct ndd_seat_list open;     /* these; the first is under way */
	struct ndd_seat_list finished; /* not free yet */
};

static void
close_first(struct ndd_closer *c)
{
	struct ndd_seat *seat = STAILQ_FIRST(&c->open);

	pthread_mutex_unlock(&c->lock);
	close(seat->fd);
	pthread_mutex_lock(&c->lock);
	STAILQ_REMOVE_HEAD(&c->open, next);
	STAILQ_INSERT_TAIL(&c->finished, seat, next);
	c->n--;
}

static void *
closer_main(void *arg)
{
	struct ndd_closer *c = arg;

	pthread_mutex_lock(&c->lock);
	for (;;) {
		while (c->n == 0 && !c->stop)
			pthread_cond_wait(&c->given, &c->lock);
		if (c->stop)
			break;
		close_first(c);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

struct ndd_closer *
ndd_closer_start(void)
{
	struct ndd_closer *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	STAILQ_INIT(&c->open);
	STAILQ_INIT(&c->finished);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->given, NULL);
	errno = pthread_create(&c->thread, NULL, closer_main, c);
	if (errno == 0) {
		(void)pthread_setname_np(c->thread, NDD_CLOSER_NAME);
		return c;
	}
	free(c);
	return NULL;
}

/* A thread that is in close() can't be ended, nor what it uses be freed. */
void
ndd_closer_stop(struct ndd_closer *c)
{
	bool busy;

	if (c == NULL)
		return;
	pthread_mutex_lock(&c->lock);
	busy = c->n > 0;
	c->stop = true;
	pthread_cond_signal(&c->given);
	pthread_mutex_unlock(&c->lock);
	if (busy) {
		pthread_detach(c->thread);
		return;
	}
	pthread_join(c->thread, NULL);
	free(c);
}

void
ndd_closer_give(struct ndd_closer *c, struct ndd_seat *seat)
{
	pthread_mutex_lock(&c->lock);
	STAILQ_INSERT_TAIL(&c->open, seat, next);
	c->n++;
	pthread_cond_signal(&c->given);
	pthread_mutex_unlock(&c->lock);
}

struct ndd_seat *
ndd_closer_closed(struct ndd_closer *c)
{
	struct ndd_seat *seat;

	pthread_mutex_lock(&c->lock);
	seat = STAILQ_FIRST(&c->finished);
	if (seat != NULL)
		STAILQ_REMOVE_HEAD(&c->finished, next);
	pthread_mutex_unlock(&c->lock);
	return seat;
}

uint32_t
ndd_closer_busy(struct ndd_closer *c)
{
	uint32_t n;

	pthread_mutex_lock(&c->lock);
	n = c->n;
	pthread_mutex_unlock(&c->lock);
	return n;
}
