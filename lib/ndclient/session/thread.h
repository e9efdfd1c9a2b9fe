/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of the library's own. */
#ifndef ND_THREAD_H
#define ND_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Start a thread that takes none of the application's signals. False: the system refused. */
bool nd_thread_start(pthread_t *thread, void *(*run)(void *), void *arg);
/* The same for one that runs the application's code: it counts as one of the application's. */
bool nd_thread_start_callbacks(pthread_t *thread, void *(*run)(void *), void *arg);

enum nd_other_threads {	   /* the worse, the greater */
	ND_OTHERS_NONE,	   /* the caller's is the only one of the application's */
	ND_OTHERS_SHARING, /* all have the descriptors that this one has */
	ND_OTHERS_UNKNOWN, /* some may have others */
};
enum nd_other_threads nd_threads_look(void);

#endif
