/* SPDX-License-Identifier: BSD-3-Clause */
/* Events, threads, and waiting for them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ndwin/ndwin.h"
#include "sleeper.h"

static HANDLE
make_event(BOOL manual, BOOL initial)
{
	HANDLE e = CreateEvent(NULL, manual, initial, NULL);

	cr_assert(ne(ptr, e, NULL));
	return e;
}

static bool
is_set(HANDLE manual_event)
{
	return WaitForSingleObject(manual_event, 0) == WAIT_OBJECT_0;
}

/* ---- one event ----------------------------------------------------------------------- */

Test(ndwin_event, a_manual_one_stays_set)
{
	HANDLE e = make_event(TRUE, FALSE);

	cr_expect(eq(u32, WaitForSingleObject(e, 0), WAIT_TIMEOUT));
	cr_expect(SetEvent(e));
	cr_expect(SetEvent(e));
	for (int i = 0; i < 3; i++)
		cr_expect(eq(u32, WaitForSingleObject(e, INFINITE), WAIT_OBJECT_0));
	cr_expect(ResetEvent(e));
	cr_expect(eq(u32, WaitForSingleObject(e, 0), WAIT_TIMEOUT));
	CloseHandle(e);
}

Test(ndwin_event, an_automatic_one_lets_one_wait_through)
{
	HANDLE e = make_event(FALSE, TRUE);

	cr_expect(eq(u32, WaitForSingleObject(e, INFINITE), WAIT_OBJECT_0));
	cr_expect(eq(u32, WaitForSingleObject(e, 0), WAIT_TIMEOUT));
	cr_expect(SetEvent(e));
	cr_expect(SetEvent(e)); /* set twice is set */
	cr_expect(eq(u32, WaitForSingleObject(e, 0), WAIT_OBJECT_0));
	cr_expect(eq(u32, WaitForSingleObject(e, 0), WAIT_TIMEOUT));
	CloseHandle(e);
}

Test(ndwin_event, names_and_security_are_not_there)
{
	SECURITY_ATTRIBUTES security = {.nLength = sizeof(security)};

	cr_expect(eq(ptr, CreateEvent(NULL, TRUE, FALSE, "name"), NULL));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_PARAMETER));
	SetLastError(0);
	cr_expect(eq(ptr, CreateEvent(&security, TRUE, FALSE, NULL), NULL));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_PARAMETER));
}

Test(ndwin_event, a_wait_that_times_out_takes_its_time)
{
	HANDLE e = make_event(TRUE, FALSE);
	const ULONGLONG before = GetTickCount64();

	cr_expect(eq(u32, WaitForSingleObject(e, 30), WAIT_TIMEOUT));
	cr_expect(ge(u64, GetTickCount64() - before, 29)); /* ticks are whole milliseconds */
	cr_expect(SetEvent(e));
	cr_expect(eq(u32, WaitForSingleObject(e, 30), WAIT_OBJECT_0));
	CloseHandle(e);
}

#define SLEEPERS 5

Test(ndwin_event, a_manual_one_wakes_all_and_an_automatic_one_the_first)
{
	HANDLE manual = make_event(TRUE, FALSE), automatic = make_event(FALSE, FALSE);
	struct sleeper s[SLEEPERS];

	for (int i = 0; i < SLEEPERS; i++)
		sleeper_start(&s[i], sleep_for_one, manual);
	cr_expect(SetEvent(manual));
	for (int i = 0; i < SLEEPERS; i++)
		cr_expect(zero(u32, sleeper_end(&s[i])));
	for (int i = 0; i < SLEEPERS; i++)
		sleeper_start(&s[i], sleep_for_one, automatic);
	for (int i = 0; i < SLEEPERS; i++) {
		cr_expect(SetEvent(automatic));
		/* It was handed over: nothing is left for others. */
		cr_expect(eq(u32, WaitForSingleObject(automatic, 0), WAIT_TIMEOUT));
		cr_expect(zero(u32, sleeper_end(&s[i])));
		for (int k = i + 1; k < SLEEPERS; k++)
			cr_expect(eq(i32, (int32_t)sleeper_state(s[k].tid), 'S'));
	}
	CloseHandle(manual);
	CloseHandle(automatic);
}

/* More than are remembered to be woken at a time. */
Test(ndwin_event, a_crowd_is_woken)
{
	HANDLE e = make_event(TRUE, FALSE);
	struct sleeper s[40];

	for (size_t i = 0; i < _countof(s); i++)
		sleeper_start(&s[i], sleep_for_one, e);
	cr_expect(SetEvent(e));
	for (size_t i = 0; i < _countof(s); i++)
		cr_expect(zero(u32, sleeper_end(&s[i])));
	CloseHandle(e);
}

/* ---- several ------------------------------------------------------------------------- */

struct several {
	HANDLE h[MAXIMUM_WAIT_OBJECTS];
	DWORD count;
	BOOL all;
};

static DWORD
sleep_for_several(void *arg)
{
	struct several *v = arg;

	return WaitForMultipleObjects(v->count, v->h, v->all, INFINITE);
}

Test(ndwin_wait, for_one_of_several_the_lowest_and_only_that)
{
	HANDLE h[3] = {make_event(FALSE, FALSE), make_event(FALSE, TRUE), make_event(FALSE, TRUE)};

	cr_expect(eq(u32, WaitForMultipleObjects(3, h, FALSE, INFINITE), WAIT_OBJECT_0 + 1));
	cr_expect(eq(u32, WaitForMultipleObjects(3, h, FALSE, INFINITE), WAIT_OBJECT_0 + 2));
	cr_expect(eq(u32, WaitForMultipleObjects(3, h, FALSE, 0), WAIT_TIMEOUT));
	cr_expect(SetEvent(h[0]));
	cr_expect(eq(u32, WaitForMultipleObjects(3, h, FALSE, 1), WAIT_OBJECT_0));
}

Test(ndwin_wait, for_one_of_several_sleeping)
{
	struct several v = {.count = MAXIMUM_WAIT_OBJECTS};
	struct sleeper s;

	for (DWORD i = 0; i < v.count; i++)
		v.h[i] = make_event(FALSE, FALSE);
	for (DWORD i = 0; i < v.count; i += 9) {
		sleeper_start(&s, sleep_for_several, &v);
		cr_expect(SetEvent(v.h[i]));
		cr_expect(eq(u32, sleeper_end(&s), WAIT_OBJECT_0 + i));
	}
	/* The wait has left its places: nothing is handed over to it any more. */
	for (DWORD i = 0; i < v.count; i++) {
		cr_expect(SetEvent(v.h[i]));
		cr_expect(zero(u32, WaitForSingleObject(v.h[i], 0)));
	}
}

Test(ndwin_wait, for_all_takes_nothing_before_all_are_set)
{
	struct several v = {.count = 3, .all = TRUE};
	struct sleeper s;

	for (DWORD i = 0; i < v.count; i++)
		v.h[i] = make_event(i == 2, FALSE);
	sleeper_start(&s, sleep_for_several, &v);
	cr_expect(SetEvent(v.h[0]));
	cr_expect(zero(u32, WaitForSingleObject(v.h[0], 0))); /* it can be had still */
	cr_expect(SetEvent(v.h[2]));
	cr_expect(SetEvent(v.h[1]));
	while (sleeper_state(s.tid) != 'S') /* it has looked again, or will */
		sched_yield();
	cr_expect(SetEvent(v.h[0]));
	cr_expect(eq(u32, sleeper_end(&s), WAIT_OBJECT_0));
	cr_expect(eq(u32, WaitForSingleObject(v.h[0], 0), WAIT_TIMEOUT));
	cr_expect(eq(u32, WaitForSingleObject(v.h[1], 0), WAIT_TIMEOUT));
	cr_expect(is_set(v.h[2]));
}

Test(ndwin_wait, for_all_times_out_and_leaves_them)
{
	HANDLE h[2] = {make_event(FALSE, TRUE), make_event(FALSE, FALSE)};

	cr_expect(eq(u32, WaitForMultipleObjects(2, h, TRUE, 0), WAIT_TIMEOUT));
	cr_expect(eq(u32, WaitForMultipleObjects(2, h, TRUE, 5), WAIT_TIMEOUT));
	cr_expect(zero(u32, WaitForSingleObject(h[0], 0)));
	cr_expect(SetEvent(h[0]));
	cr_expect(SetEvent(h[1]));
	cr_expect(eq(u32, WaitForMultipleObjects(2, h, TRUE, 0), WAIT_OBJECT_0));
	cr_expect(eq(u32, WaitForMultipleObjects(2, h, FALSE, 0), WAIT_TIMEOUT));
}

Test(ndwin_wait, bad_counts_and_handles)
{
	HANDLE h[MAXIMUM_WAIT_OBJECTS + 1], twice[2];

	for (size_t i = 0; i < _countof(h); i++)
		h[i] = make_event(TRUE, TRUE);
	cr_expect(eq(u32, WaitForMultipleObjects(0, h, FALSE, 0), WAIT_FAILED));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_PARAMETER));
	cr_expect(eq(u32, WaitForMultipleObjects(1, NULL, FALSE, 0), WAIT_FAILED));
	cr_expect(eq(u32, WaitForMultipleObjects(_countof(h), h, FALSE, 0), WAIT_FAILED));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_PARAMETER));
	cr_expect(zero(u32, WaitForMultipleObjects(MAXIMUM_WAIT_OBJECTS, h, TRUE, 0)));
	twice[0] = twice[1] = h[0];
	cr_expect(zero(u32, WaitForMultipleObjects(2, twice, FALSE, 0)));
	SetLastError(0);
	cr_expect(eq(u32, WaitForMultipleObjects(2, twice, TRUE, 0), WAIT_FAILED));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_PARAMETER));
	CloseHandle(h[1]);
	cr_expect(eq(u32, WaitForMultipleObjects(3, h, FALSE, 0), WAIT_FAILED));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_HANDLE));
}

/* ---- threads ------------------------------------------------------------------------- */

struct job {
	HANDLE go;
	uint32_t done; /* atomic */
};

static DWORD CALLBACK
work(LPVOID arg)
{
	struct job *j = arg;

	WaitForSingleObject(j->go, INFINITE);
	__atomic_store_n(&j->done, 1, __ATOMIC_RELAXED);
	return 5;
}

Test(ndwin_thread, it_can_be_waited_for)
{
	struct job j = {.go = make_event(TRUE, FALSE)};
	DWORD id = 0, other = 0;
	HANDLE t = CreateThread(NULL, 0, work, &j, 0, &id);
	HANDLE u = CreateThread(NULL, 1, work, &j, STACK_SIZE_PARAM_IS_A_RESERVATION, &other);
	HANDLE both[2] = {t, u};

	cr_assert(ne(ptr, t, NULL));
	cr_assert(ne(ptr, u, NULL));
	cr_expect(ne(u32, id, other));
	cr_expect(eq(u32, WaitForMultipleObjects(2, both, FALSE, 0), WAIT_TIMEOUT));
	cr_expect(zero(int, SetEvent(t))); /* it is no event */
	cr_expect(SetEvent(j.go));
	cr_expect(zero(u32, WaitForMultipleObjects(2, both, TRUE, INFINITE)));
	cr_expect(eq(u32, j.done, 1));
	cr_expect(zero(u32, WaitForSingleObject(t, 0))); /* and stays so */
	cr_expect(CloseHandle(t));
	cr_expect(CloseHandle(u));
	CloseHandle(j.go);
}

static DWORD CALLBACK
leave(LPVOID arg)
{
	(void)arg;
	pthread_exit(NULL);
}

Test(ndwin_thread, it_has_ended_however_it_leaves)
{
	HANDLE t = CreateThread(NULL, 0, leave, NULL, 0, NULL);

	cr_expect(zero(u32, WaitForSingleObject(t, INFINITE)));
	cr_expect(CloseHandle(t));
}

Test(ndwin_thread, it_goes_on_without_its_handle)
{
	struct job j = {.go = make_event(FALSE, FALSE)};

	cr_expect(CloseHandle(CreateThread(NULL, 0, work, &j, 0, NULL)));
	cr_expect(SetEvent(j.go));
	while (__atomic_load_n(&j.done, __ATOMIC_RELAXED) == 0)
		sched_yield();
}

Test(ndwin_thread, what_is_not_there_is_refused)
{
	cr_expect(eq(ptr, CreateThread(NULL, 0, NULL, NULL, 0, NULL), NULL));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_PARAMETER));
	SetLastError(0);
	cr_expect(eq(ptr, CreateThread(NULL, 0, leave, NULL, 4, NULL), NULL)); /* suspended */
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_PARAMETER));
	cr_expect(eq(ptr, CreateThread(NULL, SIZE_MAX / 2, leave, NULL, 0, NULL), NULL));
	cr_expect(eq(u32, GetLastError(), ERROR_NO_SYSTEM_RESOURCES));
}
