/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of the library's own. */
#ifndef ND_THREAD_H
#define ND_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Start a thread that takes none of the application's signals. False: the system refused. */
bool nd_thread_start(pthread_t *thread, void *(*run)(void *), void *arg);

#endif
