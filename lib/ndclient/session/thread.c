/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/session/thread.h"

#include <signal.h>

bool
nd_thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc == 0;
}
