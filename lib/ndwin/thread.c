/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads: the handle is an object that is set when the thread has ended; the thread refers to
 * it.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "ndwin/error.h"
#include "ndwin/waitable.h"

struct ndwin_thread {
	struct ndwin_waitable ended;
	LPTHREAD_START_ROUTINE start;
	LPVOID argument;
};

static void
thread_destroy(struct ndwin_object *o)
{
	struct ndwin_thread *t = (struct ndwin_thread *)o;

	ndwin_waitable_fini(&t->ended);
	free(t);
}

static const struct ndwin_class thread_class = {.kind = NDWIN_THREAD, .destroy = thread_destroy};

static void
thread_end(void *arg)
{
	struct ndwin_thread *t = arg;

	ndwin_waitable_set(&t->ended);
	ndwin_object_put(&t->ended.object);
}

/* It may leave by pthread_exit(), too. */
static void *
thread_main(void *arg)
{
	struct ndwin_thread *t = arg;

	pthread_cleanup_push(thread_end, t);
	t->start(t->argument);
	pthread_cleanup_pop(1);
	return NULL;
}

static int
thread_launch(struct ndwin_thread *t, SIZE_T stack, bool is_limit)
{
	const SIZE_T page = (SIZE_T)sysconf(_SC_PAGESIZE);
	pthread_attr_t attr;
	SIZE_T usual = 0;
	pthread_t id;
	int rc = 0;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_getstacksize(&attr, &usual);
	if (stack != 0 && (is_limit || stack > usual)) {
		stack = stack < (SIZE_T)PTHREAD_STACK_MIN ? (SIZE_T)PTHREAD_STACK_MIN : stack;
		rc = pthread_attr_setstacksize(&attr, (stack + page - 1) / page * page);
	}
	if (rc == 0)
		rc = pthread_create(&id, &attr, thread_main, t);
	pthread_attr_destroy(&attr);
	return rc;
}

HANDLE WINAPI
CreateThread(LPSECURITY_ATTRIBUTES attributes, SIZE_T stack, LPTHREAD_START_ROUTINE start,
	LPVOID argument, DWORD flags, LPDWORD id)
{
	static DWORD last_id; /* atomic */
	struct ndwin_thread *t;
	HANDLE h;

	if (attributes != NULL || start == NULL ||
		(flags & ~STACK_SIZE_PARAM_IS_A_RESERVATION) != 0)
		return ndwin_fail_null(ERROR_INVALID_PARAMETER);
	t = malloc(sizeof(*t));
	if (t == NULL)
		return ndwin_fail_null(ERROR_NOT_ENOUGH_MEMORY);
	ndwin_waitable_init(&t->ended, true, false);
	t->start = start;
	t->argument = argument;
	h = ndwin_handle_open(&t->ended.object, &thread_class);
	if (h == NULL) {
		thread_destroy(&t->ended.object);
		return NULL;
	}
	ndwin_object_hold(&t->ended.object);
	if (id != NULL)
		*id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	if (thread_launch(t, stack, (flags & STACK_SIZE_PARAM_IS_A_RESERVATION) != 0) != 0) {
		CloseHandle(h);
		ndwin_object_put(&t->ended.object);
		return ndwin_fail_null(ERROR_NO_SYSTEM_RESOURCES);
	}
	return h;
}
