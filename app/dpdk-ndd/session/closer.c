/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/closer.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct ndd_closer {
	pthread_t thread;
	pthread_mutex_t lock; /* held for some instructions only: the control thread takes it */
	pthread_cond_t given;
	bool stop;
	uint32_t room, first, n; /* of fd[], a ring; the first is being closed */
	int fd[];
};

static void
close_first(struct ndd_closer *c)
{
	int fd = c->fd[c->first];

	pthread_mutex_unlock(&c->lock);
	close(fd);
	pthread_mutex_lock(&c->lock);
	c->first = (c->first + 1) % c->room;
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
ndd_closer_start(uint32_t room)
{
	struct ndd_closer *c = calloc(1, sizeof(*c) + room * sizeof(c->fd[0]));

	if (c == NULL)
		return NULL;
	c->room = room;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->given, NULL);
	if (pthread_create(&c->thread, NULL, closer_main, c) == 0)
		return c;
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
ndd_closer_give(struct ndd_closer *c, int fd)
{
	pthread_mutex_lock(&c->lock);
	c->fd[(c->first + c->n++) % c->room] = fd;
	pthread_cond_signal(&c->given);
	pthread_mutex_unlock(&c->lock);
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
