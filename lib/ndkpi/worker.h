/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread of an adapter that does what a call must not wait for, and calls the consumer back. */
#ifndef NDK_WORKER_H
#define NDK_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>

struct ndk_job {
	STAILQ_ENTRY(ndk_job) next;
	void (*run)(struct ndk_job *job); /* in the worker's thread; may free the job */
};
STAILQ_HEAD(ndk_jobs, ndk_job);

struct ndk_worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct ndk_jobs jobs; /* the rest is guarded by lock */
	bool stop;
};

/* False: no thread could be made. */
bool ndk_worker_start(struct ndk_worker *w);
/* Returns when all jobs are done. */
void ndk_worker_stop(struct ndk_worker *w);
/* Behind all that were put before. Any thread, with whatever lock held. */
void ndk_worker_put(struct ndk_worker *w, struct ndk_job *job);

#endif
