/* SPDX-License-Identifier: BSD-3-Clause */
/* The mover: copies between memory that the daemon cannot reach and memory that it can. */
#ifndef ND_MOVER_H
#define ND_MOVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "ndclient/mem/copier.h"
#include "ndclient/ndclient.h"
#include "shm/ndsh_mover.h"

struct nd_mover {
	struct nd_adapter *adapter;
	pthread_mutex_t lock; /* of commands: one thread at a time carries them out */
	struct ndsh_mover commands;
	struct nd_copier copier;
	pthread_t thread;
	int notify_fd, stop_fd;
};

/* May [buf, buf+bytes) be registered, to be written or only read? populate: have its pages made. */
nd_status nd_mover_check(const void *buf, size_t bytes, bool write, bool populate);
/* Make sure that there is one. */
nd_status nd_mover_need(struct nd_adapter *a);
/* Carry out all copy commands that the daemon has given so far. */
void nd_mover_run(struct nd_mover *m);
/* The same, if there is a mover. */
void nd_mover_settle(struct nd_adapter *a);
/* The same for a thread that has nothing better to do: never waits. */
void nd_mover_help(struct nd_mover *m);
void nd_mover_stop(struct nd_adapter *a);

#endif
