/* SPDX-License-Identifier: BSD-3-Clause */
#include "gate.h"

#include <time.h>

void
gate_enter(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	while (g->shut)
		pthread_cond_wait(&g->changed, &g->lock);
	g->inside++;
	pthread_mutex_unlock(&g->lock);
}

void
gate_leave(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->inside--;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

void
gate_open(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->shut = false;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

bool
gate_shut(struct gate *g, unsigned int seconds)
{
	struct timespec end;
	bool empty;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += seconds;
	pthread_mutex_lock(&g->lock);
	g->shut = true;
	while (g->inside > 0 && pthread_cond_timedwait(&g->changed, &g->lock, &end) == 0)
		;
	empty = g->inside == 0;
	pthread_mutex_unlock(&g->lock);
	return empty;
}
