/* SPDX-License-Identifier: BSD-3-Clause */
/* Types, locks, memory, time, the machine. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <unistd.h>

#include "ndwin/ndwin.h"
#include "sleeper.h"

Test(ndwin_types, have_the_sizes_of_windows)
{
	cr_expect(eq(sz, sizeof(HRESULT), 4));
	cr_expect(eq(sz, sizeof(LONG), 4));
	cr_expect(eq(sz, sizeof(ULONG), 4));
	cr_expect(eq(sz, sizeof(DWORD), 4));
	cr_expect(eq(sz, sizeof(BOOL), 4));
	cr_expect(eq(sz, sizeof(USHORT), 2));
	cr_expect(eq(sz, sizeof(UINT64), 8));
	cr_expect(eq(sz, sizeof(SIZE_T), 8));
	cr_expect(eq(sz, sizeof(ULONG_PTR), 8));
	cr_expect(eq(sz, sizeof(GUID), 16));
	cr_expect(eq(sz, sizeof(LARGE_INTEGER), 8));
	cr_expect(eq(sz, sizeof(FILETIME), 8));
}

Test(ndwin_types, results_have_their_signs)
{
	const HRESULT good[] = {S_OK, S_FALSE, 0x102}, bad[] = {E_FAIL, E_NOINTERFACE, -1};

	for (size_t i = 0; i < 3; i++) {
		cr_expect(eq(int, SUCCEEDED(good[i]), 1));
		cr_expect(eq(int, FAILED(good[i]), 0));
		cr_expect(eq(int, SUCCEEDED(bad[i]), 0));
		cr_expect(eq(int, FAILED(bad[i]), 1));
	}
	cr_expect(eq(i32, HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER), E_INVALIDARG));
	cr_expect(eq(i32, HRESULT_FROM_WIN32(0), S_OK));
}

Test(ndwin_types, identifiers_compare)
{
	GUID a = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}}, b = a;

	cr_expect(eq(int, IsEqualGUID(&a, &b), 1));
	b.Data4[7]++;
	cr_expect(eq(int, IsEqualIID(&a, &b), 0));
}

Test(ndwin_types, interlocked)
{
	LONG n = 5, *at = NULL;
	LONGLONG wide = 1ll << 40;

	cr_expect(eq(i32, InterlockedIncrement(&n), 6));
	cr_expect(eq(i32, InterlockedDecrement(&n), 5));
	cr_expect(eq(i32, InterlockedExchange(&n, 7), 5));
	cr_expect(eq(i32, InterlockedExchangeAdd(&n, 2), 7));
	cr_expect(eq(i32, InterlockedCompareExchange(&n, 1, 8), 9)); /* is not 8 */
	cr_expect(eq(i32, InterlockedCompareExchange(&n, 1, 9), 9));
	cr_expect(eq(i32, n, 1));
	cr_expect(eq(i64, InterlockedExchangeAdd64(&wide, 1), 1ll << 40));
	cr_expect(eq(i64, wide, (1ll << 40) + 1));
	cr_expect(eq(ptr, InterlockedCompareExchangePointer(&at, &n, NULL), NULL));
	cr_expect(eq(ptr, at, &n));
}

static DWORD
enter(void *section)
{
	EnterCriticalSection(section);
	LeaveCriticalSection(section);
	return 1;
}

static void *
try_enter(void *section)
{
	return (void *)(uintptr_t)TryEnterCriticalSection(section);
}

Test(ndwin_section, its_holder_may_take_it_again_and_nobody_else)
{
	CRITICAL_SECTION section;
	void *entered = &section;
	struct sleeper s;
	pthread_t other;

	cr_expect(InitializeCriticalSectionAndSpinCount(&section, 4000));
	EnterCriticalSection(&section);
	cr_expect(TryEnterCriticalSection(&section));
	pthread_create(&other, NULL, try_enter, &section);
	pthread_join(other, &entered);
	cr_expect(eq(ptr, entered, NULL));
	sleeper_start(&s, enter, &section);
	LeaveCriticalSection(&section);
	cr_expect(eq(i32, (int32_t)sleeper_state(s.tid), 'S'));
	LeaveCriticalSection(&section);
	cr_expect(eq(u32, sleeper_end(&s), 1));
	DeleteCriticalSection(&section);
}

Test(ndwin_heap, it_gives_memory)
{
	unsigned char *p = HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, 1000);
	void *none = HeapAlloc(GetProcessHeap(), 0, 0);

	cr_assert(ne(ptr, p, NULL));
	for (int i = 0; i < 1000; i++)
		cr_expect(zero(u8, p[i]));
	cr_expect(ne(ptr, none, NULL));
	cr_expect(HeapFree(GetProcessHeap(), 0, p));
	cr_expect(HeapFree(GetProcessHeap(), 0, none));
	cr_expect(HeapFree(GetProcessHeap(), 0, NULL));
}

Test(ndwin_clock, time_passes_while_it_sleeps)
{
	const DWORD tick = GetTickCount();
	LARGE_INTEGER from, to, per_s;

	cr_expect(QueryPerformanceFrequency(&per_s));
	cr_expect(QueryPerformanceCounter(&from));
	Sleep(20);
	Sleep(0);
	cr_expect(QueryPerformanceCounter(&to));
	cr_expect(ge(i64, (to.QuadPart - from.QuadPart) * 1000 / per_s.QuadPart, 20));
	cr_expect(ge(u32, GetTickCount() - tick, 19));
}

static DWORD
sleep_for_ever(void *arg)
{
	(void)arg;
	Sleep(INFINITE);
	return 0;
}

Test(ndwin_clock, for_ever_is_a_sleep)
{
	struct sleeper s;

	sleeper_start(&s, sleep_for_ever, NULL);
	cr_expect(eq(i32, (int32_t)sleeper_state(s.tid), 'S')); /* it ends with the process */
}

static uint64_t
ticks(FILETIME t)
{
	return ((uint64_t)t.dwHighDateTime << 32) | t.dwLowDateTime;
}

Test(ndwin_machine, it_has_processors_and_they_spend_time)
{
	FILETIME idle, kernel, user, later;
	SYSTEM_INFO info;

	GetSystemInfo(&info);
	cr_expect(eq(u32, info.dwPageSize, (DWORD)sysconf(_SC_PAGESIZE)));
	cr_expect(eq(u32, info.dwNumberOfProcessors, (DWORD)sysconf(_SC_NPROCESSORS_ONLN)));
	cr_expect(ne(ulong, info.dwActiveProcessorMask, 0));
	cr_expect(GetSystemTimes(&idle, &kernel, &user));
	cr_expect(le(u64, ticks(idle), ticks(kernel))); /* idle is in the kernel */
	cr_expect(ne(u64, ticks(user), 0));
	cr_expect(GetSystemTimes(NULL, NULL, &later));
	cr_expect(le(u64, ticks(user), ticks(later)));
}
