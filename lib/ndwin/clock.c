/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "ndwin/futex.h"

void WINAPI
Sleep(DWORD milliseconds)
{
	const uint64_t until = ndwin_deadline(milliseconds);
	struct timespec ts = {
		.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u)};

	if (milliseconds == 0) {
		sched_yield();
		return;
	}
	if (milliseconds == INFINITE)
		ts = (struct timespec){.tv_sec = INT64_MAX};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

ULONGLONG WINAPI
GetTickCount64(void)
{
	return ndwin_now_ns() / 1000000u;
}

DWORD WINAPI
GetTickCount(void)
{
	return (DWORD)GetTickCount64();
}

BOOL WINAPI
QueryPerformanceCounter(LARGE_INTEGER *count)
{
	count->QuadPart = (LONGLONG)ndwin_now_ns();
	return TRUE;
}

BOOL WINAPI
QueryPerformanceFrequency(LARGE_INTEGER *frequency)
{
	frequency->QuadPart = 1000000000;
	return TRUE;
}
