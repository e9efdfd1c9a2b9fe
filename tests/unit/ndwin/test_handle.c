/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles: values, kinds, and what is said of those that are no more. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ndwin/ndwin_provider.h"
#include "sleeper.h"

#define MANY 1000

static const char owner;

static HANDLE
make_port(void)
{
	return CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
}

static void
expect_invalid(BOOL result)
{
	cr_expect(zero(int, result));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_HANDLE));
	SetLastError(0);
}

Test(ndwin_handle, low_bits_are_zero_and_ignored)
{
	HANDLE e = CreateEvent(NULL, TRUE, FALSE, NULL);
	const uintptr_t value = (uintptr_t)e;

	cr_assert(ne(ptr, e, NULL));
	cr_expect(zero(ulong, value & 3));
	cr_expect(SetEvent((HANDLE)(value | 1)));
	cr_expect(zero(u32, WaitForSingleObject((HANDLE)(value | 3), 0)));
	cr_expect(CloseHandle((HANDLE)(value | 1)));
	expect_invalid(CloseHandle(e));
}

Test(ndwin_handle, what_was_never_a_handle_is_refused)
{
	int on_stack = 0;
	const HANDLE wrong[] = {NULL, INVALID_HANDLE_VALUE, (HANDLE)4,
		(HANDLE)(uintptr_t)0xFFFFFFFC, &on_stack, GetProcessHeap()};

	for (size_t i = 0; i < _countof(wrong); i++) {
		expect_invalid(CloseHandle(wrong[i]));
		expect_invalid(SetEvent(wrong[i]));
		expect_invalid(ResetEvent(wrong[i]));
		expect_invalid(PostQueuedCompletionStatus(wrong[i], 0, 0, NULL));
		cr_expect(eq(u32, WaitForSingleObject(wrong[i], 0), WAIT_FAILED));
		expect_invalid(FALSE);
		cr_expect(eq(ptr, ndwin_file_get(wrong[i], &owner), NULL));
		expect_invalid(FALSE);
	}
}

Test(ndwin_handle, a_handle_of_another_kind_is_refused)
{
	HANDLE e = CreateEvent(NULL, FALSE, TRUE, NULL), p = make_port();
	HANDLE f = ndwin_file_create(&owner);

	expect_invalid(SetEvent(p));
	expect_invalid(SetEvent(f));
	expect_invalid(PostQueuedCompletionStatus(e, 0, 0, NULL));
	expect_invalid(PostQueuedCompletionStatus(f, 0, 0, NULL));
	cr_expect(eq(ptr, CreateIoCompletionPort(e, p, 0, 0), NULL));
	expect_invalid(FALSE);
	cr_expect(eq(ptr, CreateIoCompletionPort(f, e, 0, 0), NULL));
	expect_invalid(FALSE);
	cr_expect(eq(u32, WaitForSingleObject(p, 0), WAIT_FAILED));
	expect_invalid(FALSE);
	cr_expect(eq(ptr, ndwin_file_get(p, &owner), NULL));
	expect_invalid(FALSE);
	/* The refusals have left nothing behind: */
	cr_expect(CloseHandle(e));
	cr_expect(CloseHandle(p));
	cr_expect(CloseHandle(f));
}

/* Places are used again, values are not. */
Test(ndwin_handle, a_closed_handle_stays_invalid)
{
	HANDLE old[MANY], now;

	for (int i = 0; i < MANY; i++) {
		old[i] = CreateEvent(NULL, TRUE, TRUE, NULL);
		cr_assert(CloseHandle(old[i]));
	}
	now = CreateEvent(NULL, TRUE, FALSE, NULL);
	cr_expect(eq(u32, (uint32_t)(uintptr_t)now, (uint32_t)(uintptr_t)old[0]));
	for (int i = 0; i < MANY; i++) {
		expect_invalid(SetEvent(old[i]));
		expect_invalid(CloseHandle(old[i]));
	}
	cr_expect(eq(u32, WaitForSingleObject(now, 0), WAIT_TIMEOUT));
	CloseHandle(now);
}

Test(ndwin_handle, there_may_be_many)
{
	static HANDLE all[MANY];

	for (int i = 0; i < MANY; i++) {
		all[i] = CreateEvent(NULL, TRUE, i % 2, NULL);
		cr_assert(ne(ptr, all[i], NULL));
	}
	for (int i = 0; i < MANY; i++)
		cr_expect(eq(
			u32, WaitForSingleObject(all[i], 0), i % 2 ? WAIT_OBJECT_0 : WAIT_TIMEOUT));
	for (int i = 0; i < MANY; i++)
		cr_expect(CloseHandle(all[i]));
}

static DWORD
sleep_for_two(void *handles)
{
	return WaitForMultipleObjects(2, handles, FALSE, INFINITE);
}

/* Its place is not used again while the wait goes on. */
Test(ndwin_handle, a_wait_outlives_the_handle)
{
	HANDLE h[2] = {
		CreateEvent(NULL, FALSE, FALSE, NULL), CreateEvent(NULL, FALSE, FALSE, NULL)};
	HANDLE other;
	struct sleeper s;

	sleeper_start(&s, sleep_for_two, h);
	cr_expect(CloseHandle(h[0]));
	expect_invalid(SetEvent(h[0]));
	other = CreateEvent(NULL, TRUE, TRUE, NULL);
	cr_expect(ne(u32, (uint32_t)(uintptr_t)other, (uint32_t)(uintptr_t)h[0]));
	cr_expect(eq(u32, WaitForMultipleObjects(2, h, FALSE, 0), WAIT_FAILED));
	expect_invalid(FALSE);
	cr_expect(SetEvent(h[1]));
	cr_expect(eq(u32, sleeper_end(&s), WAIT_OBJECT_0 + 1));
	CloseHandle(other);
	other = CreateEvent(NULL, TRUE, TRUE, NULL);
	cr_expect(CloseHandle(other));
	cr_expect(CloseHandle(h[1]));
}

Test(ndwin_handle, the_last_error_is_of_the_thread)
{
	HANDLE e = CreateEvent(NULL, FALSE, FALSE, NULL);
	struct sleeper s;

	SetLastError(77);
	sleeper_start(&s, sleep_for_one, e);
	cr_expect(SetEvent(e)); /* success leaves it */
	cr_expect(zero(u32, sleeper_end(&s)));
	cr_expect(zero(u32, s.error));
	cr_expect(eq(u32, GetLastError(), 77));
	CloseHandle(e);
}
