/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion ports, with packets that the application posts. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ndwin/ndwin_provider.h"
#include "sleeper.h"

static const char owner;

static HANDLE
make_port(void)
{
	HANDLE p = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);

	cr_assert(ne(ptr, p, NULL));
	return p;
}

/* Take one at once. */
static BOOL
take(HANDLE port, struct taken *t)
{
	*t = (struct taken){.port = port, .bytes = 99, .key = 99, .ov = (OVERLAPPED *)&owner};
	SetLastError(0);
	return GetQueuedCompletionStatus(port, &t->bytes, &t->key, &t->ov, 0);
}

/* checks R-OV-12[3] */
Test(ndwin_port, what_is_posted_is_taken_in_order)
{
	HANDLE p = make_port();
	OVERLAPPED ov = {0};
	struct taken t;

	cr_expect(PostQueuedCompletionStatus(p, 1, 2, &ov));
	cr_expect(PostQueuedCompletionStatus(p, 3, 4, NULL));
	ov.Internal = 0xC0000001; /* it is not looked at */
	cr_expect(take(p, &t));
	cr_expect(eq(u32, t.bytes, 1));
	cr_expect(eq(ulong, t.key, 2));
	cr_expect(eq(ptr, t.ov, &ov));
	cr_expect(take(p, &t));
	cr_expect(eq(u32, t.bytes, 3));
	cr_expect(eq(ulong, t.key, 4));
	cr_expect(eq(ptr, t.ov, NULL));
	cr_expect(zero(u32, GetLastError()));
	CloseHandle(p);
}

/* checks R-OV-12[2] */
Test(ndwin_port, when_the_time_is_up_there_is_no_request)
{
	HANDLE p = make_port();
	ULONGLONG before;
	struct taken t;

	cr_expect(zero(int, take(p, &t)));
	cr_expect(eq(u32, GetLastError(), WAIT_TIMEOUT));
	cr_expect(eq(ptr, t.ov, NULL));
	cr_expect(eq(u32, t.bytes, 99)); /* untouched */
	cr_expect(eq(ulong, t.key, 99));
	before = GetTickCount64();
	cr_expect(zero(int, GetQueuedCompletionStatus(p, &t.bytes, &t.key, &t.ov, 30)));
	cr_expect(eq(u32, GetLastError(), WAIT_TIMEOUT));
	cr_expect(ge(u64, GetTickCount64() - before, 29));
	/* The taker has gone: a packet waits for the next one. */
	cr_expect(PostQueuedCompletionStatus(p, 0, 0, NULL));
	cr_expect(take(p, &t));
	CloseHandle(p);
}

Test(ndwin_port, bad_arguments)
{
	HANDLE p = make_port();
	OVERLAPPED_ENTRY e;
	struct taken t;
	ULONG n = 7;

	cr_expect(zero(int, GetQueuedCompletionStatus(p, NULL, &t.key, &t.ov, 0)));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_PARAMETER));
	cr_expect(zero(int, GetQueuedCompletionStatus(p, &t.bytes, NULL, &t.ov, 0)));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_PARAMETER));
	cr_expect(zero(int, GetQueuedCompletionStatus(p, &t.bytes, &t.key, NULL, 0)));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_PARAMETER));
	cr_expect(zero(int, GetQueuedCompletionStatusEx(p, &e, 0, &n, 0, FALSE)));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_PARAMETER));
	cr_expect(zero(u32, n));
	cr_expect(zero(int, GetQueuedCompletionStatusEx(p, NULL, 1, &n, 0, FALSE)));
	cr_expect(zero(int, GetQueuedCompletionStatusEx(p, &e, 1, NULL, 0, FALSE)));
	CloseHandle(p);
	cr_expect(zero(int, take(p, &t)));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_HANDLE));
	cr_expect(eq(ptr, t.ov, NULL));
	SetLastError(0);
	cr_expect(zero(int, GetQueuedCompletionStatusEx(p, &e, 1, &n, 0, FALSE)));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_HANDLE));
}

#define SLEEPERS 4

/* Each packet wakes one, the one that came last; which is awake cannot snatch it. */
Test(ndwin_port, a_packet_goes_to_the_latest_taker)
{
	struct taken t[SLEEPERS], mine;
	struct sleeper s[SLEEPERS];
	HANDLE p = make_port();

	for (int i = 0; i < SLEEPERS; i++) {
		t[i] = (struct taken){.port = p};
		sleeper_start(&s[i], sleep_for_packet, &t[i]);
	}
	for (int i = SLEEPERS - 1; i >= 0; i--) {
		cr_expect(PostQueuedCompletionStatus(p, 0, (ULONG_PTR)i, NULL));
		cr_expect(zero(int, take(p, &mine)));
		cr_expect(eq(u32, sleeper_end(&s[i]), TRUE));
		cr_expect(eq(ulong, t[i].key, (ULONG_PTR)i));
		for (int k = 0; k < i; k++)
			cr_expect(eq(i32, (int32_t)sleeper_state(s[k].tid), 'S'));
	}
	CloseHandle(p);
}

Test(ndwin_port, closing_ends_its_takers)
{
	struct taken t[SLEEPERS];
	struct sleeper s[SLEEPERS];
	HANDLE p = make_port();

	for (int i = 0; i < SLEEPERS; i++) {
		t[i] = (struct taken){.port = p, .ov = (OVERLAPPED *)&owner};
		sleeper_start(&s[i], sleep_for_packet, &t[i]);
	}
	cr_expect(CloseHandle(p));
	for (int i = 0; i < SLEEPERS; i++) {
		cr_expect(zero(u32, sleeper_end(&s[i])));
		cr_expect(eq(u32, s[i].error, ERROR_ABANDONED_WAIT_0));
		cr_expect(eq(ptr, t[i].ov, NULL));
	}
}

Test(ndwin_port, closing_drops_its_packets)
{
	HANDLE p = make_port();
	struct taken t;

	for (int i = 0; i < 100; i++)
		cr_expect(PostQueuedCompletionStatus(p, 0, 0, NULL));
	cr_expect(CloseHandle(p));
	cr_expect(zero(int, PostQueuedCompletionStatus(p, 0, 0, NULL)));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_HANDLE));
	cr_expect(zero(int, take(p, &t)));
}

/* ---- several at a time --------------------------------------------------------------- */

Test(ndwin_port, several_are_taken_at_a_time)
{
	HANDLE p = make_port();
	OVERLAPPED_ENTRY e[4];
	OVERLAPPED ov = {0};
	ULONG n = 0;

	for (ULONG i = 0; i < 6; i++)
		cr_expect(PostQueuedCompletionStatus(p, i, 10 + i, i % 2 ? &ov : NULL));
	cr_expect(GetQueuedCompletionStatusEx(p, e, 4, &n, INFINITE, TRUE));
	cr_assert(eq(u32, n, 4));
	for (ULONG i = 0; i < 4; i++) {
		cr_expect(eq(u32, e[i].dwNumberOfBytesTransferred, i));
		cr_expect(eq(ulong, e[i].lpCompletionKey, 10 + i));
		cr_expect(eq(ptr, e[i].lpOverlapped, i % 2 ? &ov : NULL));
		cr_expect(zero(ulong, e[i].Internal));
	}
	/* What is left is still in order, and what comes now behind it. */
	cr_expect(PostQueuedCompletionStatus(p, 6, 0, NULL));
	cr_expect(GetQueuedCompletionStatusEx(p, e, 4, &n, 0, FALSE));
	cr_assert(eq(u32, n, 3));
	for (ULONG i = 0; i < 3; i++)
		cr_expect(eq(u32, e[i].dwNumberOfBytesTransferred, 4 + i));
	cr_expect(zero(int, GetQueuedCompletionStatusEx(p, e, 4, &n, 0, FALSE)));
	cr_expect(eq(u32, GetLastError(), WAIT_TIMEOUT));
	cr_expect(zero(u32, n));
	CloseHandle(p);
}

struct taken_several {
	HANDLE port;
	OVERLAPPED_ENTRY e[2];
	ULONG n;
};

static DWORD
sleep_for_several(void *arg)
{
	struct taken_several *t = arg;

	return (DWORD)GetQueuedCompletionStatusEx(t->port, t->e, 2, &t->n, INFINITE, FALSE);
}

Test(ndwin_port, sleeping_for_several_ends_with_one)
{
	struct taken_several t = {.port = make_port()};
	struct sleeper s;

	sleeper_start(&s, sleep_for_several, &t);
	cr_expect(PostQueuedCompletionStatus(t.port, 5, 0, NULL));
	cr_expect(eq(u32, sleeper_end(&s), TRUE));
	cr_expect(eq(u32, t.n, 1));
	cr_expect(eq(u32, t.e[0].dwNumberOfBytesTransferred, 5));
	sleeper_start(&s, sleep_for_several, &t);
	cr_expect(CloseHandle(t.port));
	cr_expect(zero(u32, sleeper_end(&s)));
	cr_expect(zero(u32, t.n));
	cr_expect(eq(u32, s.error, ERROR_ABANDONED_WAIT_0));
}

/* ---- association --------------------------------------------------------------------- */

Test(ndwin_port, a_file_is_associated_once)
{
	HANDLE f = ndwin_file_create(&owner), g = ndwin_file_create(&owner), p, q = make_port();

	p = CreateIoCompletionPort(f, NULL, 1, 8); /* creates one, too */
	cr_assert(ne(ptr, p, NULL));
	cr_expect(eq(ptr, CreateIoCompletionPort(g, p, 2, 0), p)); /* several to one */
	cr_expect(eq(ptr, CreateIoCompletionPort(f, q, 1, 0), NULL));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_PARAMETER));
	SetLastError(0);
	cr_expect(eq(ptr, CreateIoCompletionPort(f, NULL, 1, 0), NULL));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_PARAMETER));
	SetLastError(0);
	cr_expect(eq(ptr, CreateIoCompletionPort(INVALID_HANDLE_VALUE, q, 1, 0), NULL));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_PARAMETER));
	cr_expect(CloseHandle(p));
	cr_expect(CloseHandle(q));
	cr_expect(CloseHandle(f));
	cr_expect(CloseHandle(g));
}

/* A failed association leaves the file as it was. */
Test(ndwin_port, a_closed_port_is_no_port)
{
	HANDLE f = ndwin_file_create(&owner), p = make_port();

	cr_expect(CloseHandle(p));
	cr_expect(eq(ptr, CreateIoCompletionPort(f, p, 1, 0), NULL));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_HANDLE));
	p = CreateIoCompletionPort(f, NULL, 1, 0);
	cr_expect(ne(ptr, p, NULL));
	cr_expect(CloseHandle(p));
	cr_expect(CloseHandle(f));
}
