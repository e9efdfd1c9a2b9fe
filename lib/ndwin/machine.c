/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine, its processors, and the heap. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ndwin/error.h"

#define FILETIME_PER_S 10000000ull

void WINAPI
GetSystemInfo(LPSYSTEM_INFO info)
{
	const long page = sysconf(_SC_PAGESIZE), processors = sysconf(_SC_NPROCESSORS_ONLN);

	*info = (SYSTEM_INFO){.dwPageSize = (DWORD)page,
		.lpMinimumApplicationAddress = (LPVOID)(uintptr_t)page,
		.lpMaximumApplicationAddress = (LPVOID)(UINTPTR_MAX >> 17), /* 2^47 - 1 */
		.dwActiveProcessorMask =
			processors >= 64 ? UINTPTR_MAX : ((uintptr_t)1 << processors) - 1,
		.dwNumberOfProcessors = (DWORD)processors,
		.dwAllocationGranularity = (DWORD)page};
}

static void
filetime_store(LPFILETIME to, unsigned long long ticks)
{
	const uint64_t t = ticks * (FILETIME_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));

	if (to != NULL)
		*to = (FILETIME){(DWORD)t, (DWORD)(t >> 32)};
}

/* The first line of /proc/stat: user, nice, system, idle, I/O wait, interrupts, soft interrupts. */
BOOL WINAPI
GetSystemTimes(LPFILETIME idle, LPFILETIME kernel, LPFILETIME user)
{
	FILE *stat = fopen("/proc/stat", "re");
	unsigned long long n[7] = {0};
	int got = 0;

	if (stat != NULL) {
		got = fscanf(stat, "cpu %llu %llu %llu %llu %llu %llu %llu", &n[0], &n[1], &n[2],
			&n[3], &n[4], &n[5], &n[6]);
		fclose(stat);
	}
	if (got != 7)
		return ndwin_fail(ERROR_NOT_SUPPORTED);
	filetime_store(idle, n[3] + n[4]);
	filetime_store(kernel, n[2] + n[3] + n[4] + n[5] + n[6]);
	filetime_store(user, n[0] + n[1]);
	return TRUE;
}

HANDLE WINAPI
GetProcessHeap(void)
{
	static char heap;

	return &heap;
}

LPVOID WINAPI
HeapAlloc(HANDLE heap, DWORD flags, SIZE_T bytes)
{
	const SIZE_T some = bytes == 0 ? 1 : bytes;

	UNREFERENCED_PARAMETER(heap);
	return (flags & HEAP_ZERO_MEMORY) != 0 ? calloc(1, some) : malloc(some);
}

BOOL WINAPI
HeapFree(HANDLE heap, DWORD flags, LPVOID memory)
{
	UNREFERENCED_PARAMETER(heap);
	UNREFERENCED_PARAMETER(flags);
	free(memory);
	return TRUE;
}
