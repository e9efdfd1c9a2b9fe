/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread, one queue, first in, first out. So completions of an object come before that of its
 * close, and closes end in the order in which libndclient tells them (R-LIFE-08).
 */
#include <signal.h>

#include "ndkpi/worker.h"

/* The next job, or NULL: to stop, and there is none. */
static struct ndk_job *
worker_next(struct ndk_worker *w)
{
	struct ndk_job *job;

	pthread_mutex_lock(&w->lock);
	while (STAILQ_EMPTY(&w->jobs) && !w->stop)
		pthread_cond_wait(&w->work, &w->lock);
	job = STAILQ_FIRST(&w->jobs);
	if (job != NULL)
		STAILQ_REMOVE_HEAD(&w->jobs, next);
	pthread_mutex_unlock(&w->lock);
	return job;
}

static void *
worker_main(void *arg)
{
	struct ndk_worker *w = arg;
	struct ndk_job *job;

	while ((job = worker_next(w)) != NULL)
		job->run(job);
	return NULL;
}

bool
ndk_worker_start(struct ndk_worker *w)
{
	sigset_t all, before;
	int error;

	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->work, NULL);
	STAILQ_INIT(&w->jobs);
	w->stop = false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&w->thread, NULL, worker_main, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error != 0) {
		pthread_cond_destroy(&w->work);
		pthread_mutex_destroy(&w->lock);
	}
	return error == 0;
}

void
ndk_worker_stop(struct ndk_worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_signal(&w->work);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->work);
	pthread_mutex_destroy(&w->lock);
}

void
ndk_worker_put(struct ndk_worker *w, struct ndk_job *job)
{
	pthread_mutex_lock(&w->lock);
	STAILQ_INSERT_TAIL(&w->jobs, job, next);
	pthread_cond_signal(&w->work);
	pthread_mutex_unlock(&w->lock);
}
