/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>

#include "ndwin/ndwin.h"

_Static_assert(sizeof(CRITICAL_SECTION) >= sizeof(pthread_mutex_t), "it holds a mutex");

static pthread_mutex_t *
section_mutex(LPCRITICAL_SECTION section)
{
	return (pthread_mutex_t *)section->lock;
}

void WINAPI
InitializeCriticalSection(LPCRITICAL_SECTION section)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(section_mutex(section), &attr);
	pthread_mutexattr_destroy(&attr);
}

BOOL WINAPI
InitializeCriticalSectionAndSpinCount(LPCRITICAL_SECTION section, DWORD spins)
{
	UNREFERENCED_PARAMETER(spins);
	InitializeCriticalSection(section);
	return TRUE;
}

void WINAPI
EnterCriticalSection(LPCRITICAL_SECTION section)
{
	pthread_mutex_lock(section_mutex(section));
}

BOOL WINAPI
TryEnterCriticalSection(LPCRITICAL_SECTION section)
{
	return pthread_mutex_trylock(section_mutex(section)) == 0;
}

void WINAPI
LeaveCriticalSection(LPCRITICAL_SECTION section)
{
	pthread_mutex_unlock(section_mutex(section));
}

void WINAPI
DeleteCriticalSection(LPCRITICAL_SECTION section)
{
	pthread_mutex_destroy(section_mutex(section));
}
