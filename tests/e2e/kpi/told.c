/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <time.h>

#include "kpi.h"

#define PATIENCE_S 30

static void
told_note(struct told *t, NTSTATUS status, NDK_OBJECT_HEADER *object)
{
	pthread_mutex_lock(&t->lock);
	t->count++;
	t->status = status;
	t->object = object;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

void
told_done(PVOID told, NTSTATUS status)
{
	told_note(told, status, NULL);
}

void
told_created(PVOID told, NTSTATUS status, NDK_OBJECT_HEADER *object)
{
	told_note(told, status, object);
}

void
told_closed(PVOID told)
{
	told_note(told, STATUS_SUCCESS, NULL);
}

void
told_asked(PVOID told, NDK_CONNECTOR *connector)
{
	told_note(told, STATUS_SUCCESS, &connector->Header);
}

unsigned
told_count(struct told *t)
{
	unsigned count;

	pthread_mutex_lock(&t->lock);
	count = t->count;
	pthread_mutex_unlock(&t->lock);
	return count;
}

NTSTATUS
told_wait(struct told *t, unsigned count)
{
	struct timespec until;
	NTSTATUS status;
	int error = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&t->lock);
	while (t->count < count && error == 0)
		error = pthread_cond_clockwait(&t->changed, &t->lock, CLOCK_MONOTONIC, &until);
	CHECK(error == 0);
	status = t->status;
	pthread_mutex_unlock(&t->lock);
	return status;
}
