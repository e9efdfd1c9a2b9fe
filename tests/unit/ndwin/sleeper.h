/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that makes a call which is to sleep: the test goes on when it does, as the kernel
 * says.
 */
#ifndef NDWIN_SLEEPER_H
#define NDWIN_SLEEPER_H

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "ndwin/ndwin.h"

struct sleeper {
	DWORD (*call)(void *arg);
	void *arg;
	DWORD result, error; /* of the call; and GetLastError() */
	int tid;	     /* atomic; it is about to make it */
	pthread_t thread;
};

static inline void *
sleeper_main(void *arg)
{
	struct sleeper *s = arg;

	SetLastError(0);
	__atomic_store_n(&s->tid, gettid(), __ATOMIC_RELEASE);
	s->result = s->call(s->arg);
	s->error = GetLastError();
	return NULL;
}

static inline char
sleeper_state(int tid)
{
	char path[64], state = '?';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = fopen(path, "r");
	if (f != NULL) {
		cr_assert(fscanf(f, "%*d (%*[^)]) %c", &state) == 1);
		fclose(f);
	}
	return state;
}

static inline void
sleeper_start(struct sleeper *s, DWORD (*call)(void *), void *arg)
{
	*s = (struct sleeper){.call = call, .arg = arg};
	cr_assert(pthread_create(&s->thread, NULL, sleeper_main, s) == 0);
	while (__atomic_load_n(&s->tid, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	while (sleeper_state(s->tid) != 'S')
		sched_yield();
}

static inline DWORD
sleeper_end(struct sleeper *s)
{
	cr_assert(pthread_join(s->thread, NULL) == 0);
	return s->result;
}

/* ---- calls --------------------------------------------------------------------------- */

static inline DWORD
sleep_for_one(void *handle)
{
	return WaitForSingleObject(handle, INFINITE);
}

struct taken {
	HANDLE port;
	DWORD bytes;
	ULONG_PTR key;
	OVERLAPPED *ov;
};

static inline DWORD
sleep_for_packet(void *arg)
{
	struct taken *t = arg;

	return (DWORD)GetQueuedCompletionStatus(t->port, &t->bytes, &t->key, &t->ov, INFINITE);
}

#endif
