/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking for outcomes, and waiting for them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ndwin/ndwin_provider.h"
#include "sleeper.h"

static const char owner;

struct rig {
	HANDLE file;
	struct ndwin_request *q;
	OVERLAPPED ov;
	DWORD bytes;
};

static void
rig_begin(struct rig *r, HANDLE event)
{
	struct ndwin_file *f;

	*r = (struct rig){.file = ndwin_file_create(&owner), .bytes = 99};
	r->ov.hEvent = event;
	f = ndwin_file_get(r->file, &owner);
	cr_assert(zero(i32, ndwin_request_begin(f, &r->ov, 0, &r->q)));
	ndwin_file_put(f);
}

static DWORD
sleep_for_outcome(void *arg)
{
	struct rig *r = arg;

	return (DWORD)GetOverlappedResult(r->file, &r->ov, &r->bytes, TRUE);
}

/* checks R-OV-07[1], R-OV-07[3] */
Test(ndwin_outcome, asking_changes_nothing)
{
	struct rig r;

	rig_begin(&r, NULL);
	for (int i = 0; i < 3; i++) {
		cr_expect(zero(int, GetOverlappedResult(r.file, &r.ov, &r.bytes, FALSE)));
		cr_expect(eq(u32, GetLastError(), ERROR_IO_INCOMPLETE));
		cr_expect(eq(u32, r.bytes, 99));
		cr_expect(eq(i32, ndwin_overlapped_status(&r.ov, FALSE), (LONG)STATUS_PENDING));
	}
	ndwin_request_complete(r.q, 0, 12);
	SetLastError(0);
	for (int i = 0; i < 3; i++) {
		r.bytes = 99;
		cr_expect(GetOverlappedResult(r.file, &r.ov, &r.bytes, i % 2));
		cr_expect(eq(u32, r.bytes, 12));
		cr_expect(zero(i32, ndwin_overlapped_status(&r.ov, TRUE)));
	}
	cr_expect(zero(u32, GetLastError()));
	CloseHandle(r.file);
}

Test(ndwin_outcome, a_failure_is_the_last_error)
{
	struct rig r;

	rig_begin(&r, NULL);
	ndwin_request_complete(r.q, (LONG)0xC0000241, 0);
	cr_expect(zero(int, GetOverlappedResult(r.file, &r.ov, &r.bytes, TRUE)));
	cr_expect(eq(u32, GetLastError(), ERROR_CONNECTION_ABORTED));
	cr_expect(zero(u32, r.bytes));
	CloseHandle(r.file);
}

#define SLEEPERS 3

/* checks R-OV-07[2]: also several threads, with and without an event */
Test(ndwin_outcome, waiting_lasts_until_the_end)
{
	struct sleeper s[SLEEPERS];

	for (int with_event = 0; with_event < 2; with_event++) {
		HANDLE event = CreateEvent(NULL, FALSE, FALSE, NULL);
		struct rig r;

		rig_begin(&r, with_event ? event : NULL);
		for (int i = 0; i < SLEEPERS; i++)
			sleeper_start(&s[i], sleep_for_outcome, &r);
		if (with_event) /* the application's doing, not the request's */
			cr_expect(SetEvent(event));
		for (int i = 0; i < SLEEPERS; i++)
			cr_expect(eq(i32, (int32_t)sleeper_state(s[i].tid), 'S'));
		ndwin_request_complete(r.q, 0, 8);
		for (int i = 0; i < SLEEPERS; i++)
			cr_expect(eq(u32, sleeper_end(&s[i]), TRUE));
		cr_expect(eq(u32, r.bytes, 8));
		CloseHandle(event);
		CloseHandle(r.file);
	}
}

Test(ndwin_outcome, a_refusal_ends_waits_too)
{
	struct sleeper s;
	struct rig r;

	rig_begin(&r, NULL);
	sleeper_start(&s, sleep_for_outcome, &r);
	ndwin_request_return(r.q, (LONG)0xC0000001);
	cr_expect(zero(u32, sleeper_end(&s)));
	cr_expect(eq(u32, s.error, ERROR_GEN_FAILURE));
	CloseHandle(r.file);
}

Test(ndwin_outcome, waiting_wants_a_file_and_asking_does_not)
{
	HANDLE event = CreateEvent(NULL, FALSE, FALSE, NULL);
	struct rig r;

	rig_begin(&r, NULL);
	cr_expect(zero(int, GetOverlappedResult(event, &r.ov, &r.bytes, TRUE)));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_HANDLE));
	CloseHandle(r.file);
	cr_expect(zero(int, GetOverlappedResult(r.file, &r.ov, &r.bytes, TRUE)));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_HANDLE));
	ndwin_request_complete(r.q, 0, 1);
	cr_expect(GetOverlappedResult(r.file, &r.ov, &r.bytes, TRUE));
	cr_expect(zero(int, GetOverlappedResult(r.file, NULL, &r.bytes, TRUE)));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_PARAMETER));
	cr_expect(zero(int, GetOverlappedResult(r.file, &r.ov, NULL, TRUE)));
	CloseHandle(event);
}

Test(ndwin_outcome, statuses_have_their_win32_errors)
{
	static const struct {
		uint32_t status;
		DWORD error;
	} known[] = {
		{0x00000000, 0},
		{0x00000102, 0},
		{0x80000005, 234},
		{0x80000011, 170},
		{0xC000000D, 87},
		{0xC00000EF, 87},
		{0xC00000F8, 87},
		{0xC00000B5, 121},
		{0xC0000120, 995},
		{0xC000020C, 64},
		{0xC0000236, 1225},
		{0xC000023D, 1232},
		{0xC0000241, 1236},
		{0xC00002B6, 1617},
		{0xC00000EE, 317},
		{0xCFFFFFFF, 317},
	};

	for (size_t i = 0; i < _countof(known); i++)
		cr_expect(eq(u32, ndwin_error_of_status((LONG)known[i].status), known[i].error));
}
